"""
A configuration of Arista EOS as sections, each in one spelling, so that a planned and a running one can be compared.

Standard library only, and no module of ours: the plan's side loads the same file.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OPENS = re.compile(
    r"((interface|vrf instance|router|qos profile|ip(v6)? prefix-list|route-map|peer-filter) \S|vlan \d)"
)
"""First words of a section of the fabric's configuration."""

STATEMENTS = re.compile(
    r"(no )?(hostname|service routing|lldp|qos map|vlan internal|ip(v6)? (unicast-)?routing|ip(v6)? route"
    r"|ip virtual-router)( |-|$)"
)
"""First words of the fabric's lines without a section. All others belong to the installation: users, time, logs."""

DEFAULTS = re.compile(r"(lldp run|lldp timer 30|no (ip routing|ipv6 unicast-routing)( vrf \S+)?)$")
"""Lines that say what EOS does anyway, so that it may show them or not (EOS User Manual)."""

BARE = re.compile(r"interface (Ethernet|Management)")
"""Ports that are there whether anything is said of them or not."""

COMMENT = re.compile(r"\s*(!|$|end$)")

Block = tuple[str, list[str]]
"""A line at the left edge, and the lines that belong to it as they stand."""


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a configuration. A banner is one, with the lines up to its EOF."""
    head: str | None = None
    body: list[str] = []
    banner = False
    for line in text.splitlines():
        if banner or (line[:1] == " " and head is not None):
            body.append(line)
            banner = banner and line != "EOF"
            continue
        if head is not None:
            yield head, body
        head, body, banner = line, [], line.startswith("banner ")
        if COMMENT.match(line):
            head = None
    if head is not None:
        yield head, body


def is_fabrics(head: str) -> bool:
    """Tell whether a block is a part of what a fabric's plan says."""
    return bool(OPENS.match(head) or STATEMENTS.match(head))


def sections(text: str) -> dict[str, str]:
    """
    Return the fabric's sections of a configuration by their first line: all lines of each, sorted, one a line.

    A line of a block inside a section has the block's name before it: `address-family ipv4: neighbor 10.0.0.1
    activate`. A section without lines has its name. Statements without a section are in `statements`. EOS numbers what
    has an order, so that sorting loses nothing.
    """
    found: dict[str, set[str]] = {}
    for head, body in blocks(text):
        if DEFAULTS.match(head) or not is_fabrics(head):
            continue
        if not OPENS.match(head):
            found.setdefault("statements", set()).add(head)
            continue
        lines = set(_flat(body))
        for name in names(head) if lines or not BARE.match(head) else ():
            found.setdefault(name, set()).update(lines)
    return {name: "\n".join(sorted(lines)) or name for name, lines in found.items()}


def listed(found: Iterable[str]) -> list[str]:
    """Return the names of sections: all of them are the fabric's alone."""
    return sorted(found)


def names(head: str) -> Iterator[str]:
    """Yield the names of a section: EOS shows VLANs that are alike as one, `vlan 10-12,20`."""
    kind, _, which = head.partition(" ")
    if kind != "vlan":
        yield head
        return
    for part in which.split(","):
        first, _, last = part.partition("-")
        yield from (f"vlan {number}" for number in range(int(first), int(last or first) + 1))


def _flat(body: list[str]) -> Iterator[str]:
    """Yield the lines of a section, each with the blocks before it that it is inside of."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in body if not COMMENT.match(line)]
    inside: list[tuple[int, str]] = []
    for at, (depth, line) in enumerate(lines):
        inside = [block for block in inside if block[0] < depth]
        if at + 1 < len(lines) and lines[at + 1][0] > depth:
            inside.append((depth, line))
        else:
            yield "".join(f"{name}: " for _depth, name in inside) + line
