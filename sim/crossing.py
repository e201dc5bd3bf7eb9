"""Two cables whose plugs at the switch were exchanged, and the same two as they are planned: the classic of a hall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.errors import SimError
from sim.network import Link, Wiring, connect
from sim.shell import find, run

Plug = tuple[str, str]
"""A device, and its port."""


def cross(prefix: str, wires: Wiring, ours: Plug, other: Plug) -> None:
    """Exchange the far plugs of two cables, named by their near ends. `wires` are those of the whole site."""
    a, b = _found(wires, ours), _found(wires, other)
    _lay(prefix, wires, (a, b), (replace(a, b=b.b), replace(b, b=a.b)))


def uncross(prefix: str, wires: Wiring, ours: Plug, other: Plug) -> None:
    """Lay both cables as they are planned."""
    planned = _found(wires, ours), _found(wires, other)
    _lay(prefix, wires, planned, planned)


def neighbour(wires: Wiring, ours: Plug) -> Plug:
    """Return the near end of another cable to the same switch; SimError when there is none."""
    switch = _found(wires, ours).b.device
    for link in wires.links:
        if link.b.device == switch and link.a.name == ours[1] and link.a.device != ours[0]:
            return link.a.device, link.a.name
    raise SimError(ours[0], f"no other cable from {ours[1]} goes to {switch}", "one cable", "set other=NODE:PORT")


def _found(wires: Wiring, plug: Plug) -> Link:
    for link in wires.links:
        if (link.a.device, link.a.name) == plug:
            return link
    ports = sorted(link.a.name for link in wires.links if link.a.device == plug[0])
    raise SimError(
        plug[0], f"it has no cable at {plug[1]}", f"ports: {', '.join(ports) or 'none'}", "name another port"
    )


def _lay(prefix: str, wires: Wiring, old: Sequence[Link], wanted: Sequence[Link]) -> None:
    """Take cables out, and lay others in their place; the rest of the site is left as it is."""
    for link in old:
        run([find("ip", "iproute2"), "-n", f"{prefix}{link.a.device}", "link", "delete", link.a.name])
    kept = tuple(link for link in wires.links if link not in old)
    connect(prefix, replace(wires, links=(*kept, *wanted)))
