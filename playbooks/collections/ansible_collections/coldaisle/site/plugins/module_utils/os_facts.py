"""Facts of the operating system: name, user, kernel settings."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    Value,
    read_text,
    run,
    write_text,
)


def _set_hostname(_name: str, planned: Value, _context: Context) -> None:
    import socket  # noqa: PLC0415  # a host that is only read does without

    Path("/etc/hostname").write_text(f"{planned}\n", encoding="utf-8")
    socket.sethostname(str(planned))


def _read_user(name: str) -> str:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return "absent"
    return "present"


def _set_user(name: str, _planned: Value, _context: Context) -> None:
    run("useradd", "--create-home", "--shell", "/bin/bash", "--user-group", name)


def _read_sysctl(key: str) -> str:
    return " ".join(read_text(_sysctl_path(key)).split())


def _set_sysctl(key: str, planned: Value, _context: Context) -> None:
    write_text(_sysctl_path(key), f"{planned}\n")


def _sysctl_path(key: str) -> Path:
    """Return the file of a sysctl; a slash in the key stands for a dot in a port's name, as sysctl.d has it."""
    return Path("/proc/sys") / "/".join(part.replace("/", ".") for part in key.split("."))


FACTS: dict[str, Fact] = {
    "hostname": Fact(lambda _name: os.uname().nodename, _set_hostname),
    "user": Fact(_read_user, _set_user),
    "sysctl": Fact(_read_sysctl, _set_sysctl, "whether this kernel, or the container's limits, let the value be set"),
}
