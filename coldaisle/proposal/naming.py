"""Names of new nodes: as their pool's other nodes are named, after their rack and a number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from coldaisle.spec.sections import SiteSpec

Style = tuple[str, int]
"""What stands between the rack's name and the number, and how many digits the number has."""


def style_of(spec: SiteSpec, pool: str) -> Style:
    """Return how a pool names its nodes; where it has none, how the site does; else `-n1`."""
    nodes = sorted(spec.nodes, key=lambda node: node.pool != pool)
    for node in nodes:
        found = re.fullmatch(re.escape(node.rack) + r"(.*?)(\d+)", node.name)
        if found:
            return found[1], len(found[2])
    return "-n", 1


def new_names(rack: str, count: int, style: Style, pool: str, taken: Collection[str]) -> tuple[str, ...]:
    """
    Return names for new nodes of a rack, in order, each free and none the beginning of another.

    Args:
        rack: The rack's name.
        count: How many.
        style: How the pool names its nodes.
        pool: The pool, which names that do not fit its style are made of.
        taken: Names of the site's devices.
    """
    for infix, digits in (style, (f"-{pool}-", 2), (f"-{pool}-", 4)):
        last = max((number for number in _numbers(rack, infix, taken)), default=0)
        if len(str(last + count)) <= digits:
            return tuple(f"{rack}{infix}{last + at:0{digits}}" for at in range(1, count + 1))
    raise ArithmeticError(f"no names are left for {count} nodes of pool {pool} in rack {rack}")


def _numbers(rack: str, infix: str, taken: Collection[str]) -> Iterator[int]:
    for name in taken:
        if name.startswith(rack):
            found = re.fullmatch(re.escape(rack + infix) + r"(\d+)", name)
            if found:
                yield int(found[1])


def devices(spec: SiteSpec, switches: Sequence[str]) -> frozenset[str]:
    """Return the names of all devices of a site."""
    names = {node.name for node in spec.nodes} | {device.name for device in spec.facility.devices}
    return frozenset(names | set(switches) | ({spec.provisioning.host} if spec.provisioning else set()))
