"""Files of hosts, and the templates that they are rendered from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

from coldaisle.paths import packaged


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """
    A text file of a host: `content`, or `content_file` on the deploy host. `mode` is octal, as chmod writes it.

    `reload` names who reads the file: `networkd`, `systemd`, `udev`, a unit that is restarted if it runs, or
    `enabled:` and a unit that is turned on for every boot.
    """

    path: str
    content: str | None = None
    content_file: str | None = None
    mode: str = "0644"
    owner: str = "root"
    reload: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the file as the `files` module of the collection takes it."""
        source = {"content": self.content} if self.content_file is None else {"content_file": self.content_file}
        return {"path": self.path, **source, "mode": self.mode, "owner": self.owner, "reload": list(self.reload)}


def unit_file(name: str, content: str, *readers: str) -> HostFile:
    """Return a unit of systemd as a file: written, it is turned on for every boot, and then its readers are told."""
    return HostFile(path=f"/etc/systemd/system/{name}", content=content, reload=(f"enabled:{name}", *readers))


def files_digest(files: Iterable[HostFile]) -> str:
    """
    Return the name of a set of files: the first 16 hexadecimal digits of the SHA-256 of what the plan says of them.

    A file that only the deploy host has goes in by its path; the host's own record has its content.
    """
    text = json.dumps([file.as_dict() for file in files], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _environment() -> jinja2.Environment:
    """Return Jinja2 without autoescape, since no HTML is made here, and with an error for every undefined name."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(packaged("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # configuration files, not HTML
    )


def render(template: str, **values: object) -> str:
    """Return a template of the project with its values filled in; a name without a value is an error."""
    return _environment().get_template(template).render(**values)


def bare_address(address: str) -> str:
    """Return an address without its prefix length."""
    return address.split("/", maxsplit=1)[0]
