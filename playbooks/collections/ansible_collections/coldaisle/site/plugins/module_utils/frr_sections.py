"""
A configuration of FRR as sections, each in one spelling, so that a planned and a running one can be compared.

Standard library only, and no module of ours: switches run it, and the plan's side loads the same file.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OPENS = re.compile(r"(interface|vrf|router [a-z0-9]+|route-map|bfd|line|key chain|segment-routing|nexthop-group)( |$)")
"""First words of a line that begins a section; every other line at the left edge is a statement of its own."""

HEAD = re.compile(r"(frr |hostname |log |service |Building |Current |(no )?ip(v6)? forwarding$|end$)")
"""What belongs to the installation and not to the fabric: profile, name, log, and the kernel's forwarding."""

PROFILE = {"bgp log-neighbor-changes", "no bgp ebgp-requires-policy", "timers bgp 3 9"}
"""Lines that the profile `datacenter` implies: FRR takes them, and does not show them."""


def sections(text: str) -> dict[str, str]:
    """
    Return the sections of a configuration by their first line: all lines of each, sorted, one a line.

    A line of a block inside a section has the names of its blocks before it: `address-family ipv4 unicast:
    maximum-paths 8`, `address-family l2vpn evpn: vni 10300: rd 192.0.2.1:300`.
    Statements without a section are in `statements`. FRR numbers what has an order, so that sorting loses nothing.
    """
    found: dict[str, list[str]] = {}
    for name, line in _lines(text):
        found.setdefault(name, []).append(line)
    return {name: "\n".join(sorted(filter(None, lines))) for name, lines in found.items() if any(lines)}


def _lines(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    blocks: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("!") or line in PROFILE:
            continue
        if raw[0] != " ":
            section, blocks = (line if OPENS.match(line) else ""), []
            if not section and not line.startswith("exit") and not HEAD.match(line):
                yield "statements", line
        elif line.startswith("exit"):
            blocks = blocks[:-1]
        elif line.startswith("address-family "):
            blocks = [line]
        else:
            yield section, ": ".join([*blocks, line])
            if blocks and line.startswith("vni "):
                blocks = [blocks[0], line]


def listed(found: Iterable[str]) -> list[str]:
    """Return the names of sections: all of them are the fabric's alone."""
    return sorted(found)


def without(text: str, names: set[str]) -> str:
    """Return a configuration's own text of the sections that are not in `names`: what a switch has beyond its plan."""
    kept: list[str] = []
    inside = False
    for raw in text.splitlines():
        line = raw.strip()
        if raw[:1] not in {" ", ""} and not line.startswith("exit"):
            inside = bool(OPENS.match(line)) and line not in names
        if inside:
            kept.append(raw)
    return "".join(f"{line}\n" for line in kept)
