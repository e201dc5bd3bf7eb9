"""Facts of the operating system: name, clock, user, kernel settings."""

from __future__ import annotations

import pwd
import socket
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    read_text,
    run,
    write_text,
)

ZONES = Path("/usr/share/zoneinfo")
LOCALTIME = Path("/etc/localtime")
HUGEPAGES_2MI = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
TIME_SERVICES = ("chrony", "chronyd", "systemd-timesyncd", "ntpsec")
"""Units that keep the clock, in the order in which one is chosen where none is on."""


def _set_hostname(_name: str, planned: Value, _context: Context) -> None:
    Path("/etc/hostname").write_text(f"{planned}\n", encoding="utf-8")
    socket.sethostname(str(planned))


def _read_timezone(_name: str) -> str:
    target = LOCALTIME.resolve()
    return str(target.relative_to(ZONES)) if target.is_relative_to(ZONES) else "not set"


def _set_timezone(_name: str, planned: Value, _context: Context) -> None:
    if not (ZONES / str(planned)).is_file():
        raise FactError(f"{ZONES / str(planned)} does not exist: is tzdata installed, and the zone's name right?")
    fresh = LOCALTIME.with_suffix(".coldaisle")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(ZONES / str(planned))
    fresh.rename(LOCALTIME)
    Path("/etc/timezone").write_text(f"{planned}\n", encoding="utf-8")


def unit_state(unit: str) -> str:
    """Return what `systemctl is-enabled` says of a unit; it exits with an error for every state but enabled."""
    return run("systemctl", "show", "--property=UnitFileState", "--value", unit).strip()


def _read_time_sync(_name: str) -> str:
    on = [unit for unit in TIME_SERVICES if unit_state(unit) == "enabled"]
    return "enabled" if on else "disabled"


def _set_time_sync(_name: str, _planned: Value, _context: Context) -> None:
    there = [unit for unit in TIME_SERVICES if unit_state(unit)]
    if not there:
        raise FactError(f"none of {', '.join(TIME_SERVICES)} is installed in the image")
    run("systemctl", "enable", "--now", there[0])


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
    "hostname": Fact(lambda _name: socket.gethostname(), _set_hostname),
    "timezone": Fact(_read_timezone, _set_timezone),
    "time_sync": Fact(_read_time_sync, _set_time_sync),
    "user": Fact(_read_user, _set_user),
    "sysctl": Fact(_read_sysctl, _set_sysctl, "whether this kernel, or the container's limits, let the value be set"),
    "hugepages_2mi": Fact(
        lambda _name: int(read_text(HUGEPAGES_2MI)),
        lambda _name, planned, _context: write_text(HUGEPAGES_2MI, f"{planned}\n"),
        "free memory: after a long uptime it is too fragmented for huge pages, and a reboot gives them",
    ),
}
