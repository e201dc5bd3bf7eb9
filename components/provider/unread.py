"""
Which hosts a play could not read when they were last asked.

The engine keeps that a resource is incomplete, but not for which hosts. A run repairs those alone, and without asking
them first: it finds out by itself what they need, and a host that boots meanwhile would only be asked in vain. The file
is no part of any state: without it, all hosts of the play are asked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.provider.kept import keep, kept

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

UNREAD = "unread.json"


def unread(state: Path, resource_id: str) -> set[str]:
    """Return the hosts of a resource that could not be read last time."""
    return set(kept(state / UNREAD).get(resource_id, "").split())


def remember_unread(state: Path, resource_id: str, hosts: Iterable[str]) -> None:
    """Remember them until the resource is read, or run, again."""
    before = kept(state / UNREAD)
    others = {name: each for name, each in before.items() if name != resource_id}
    names = " ".join(sorted(hosts))
    keep(state / UNREAD, before, others | ({resource_id: names} if names else {}))
