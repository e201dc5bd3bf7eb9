"""Readers of topology files, written from their documentation and not from what writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


def hosts(expression: str) -> list[str]:
    """Expand a hostlist of Slurm: names with commas between them, each with ranges and lists in brackets."""
    found = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", expression):
        found += list(_expanded(part))
    return found


def _expanded(part: str) -> Iterator[str]:
    match = re.match(r"^([^\[]*)\[([^\]]+)\](.*)$", part)
    if match is None:
        yield part
        return
    for item in match[2].split(","):
        first, _, last = item.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield from (f"{match[1]}{number:0{len(first)}d}{rest}" for rest in _expanded(match[3]))


@dataclass
class SlurmTopology:
    """What topology.conf says, by the name of a switch or a block."""

    nodes: dict[str, list[str]] = field(default_factory=dict)
    switches: dict[str, list[str]] = field(default_factory=dict)
    blocks: dict[str, list[str]] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


def slurm(text: str) -> SlurmTopology:
    """Read topology.conf(5): keys are not case sensitive, and what stands behind # is a comment."""
    found = SlurmTopology()
    for line in filter(None, (line.partition("#")[0].strip() for line in text.splitlines())):
        pairs = {key.lower(): value for key, value in (word.split("=", 1) for word in line.split())}
        if "blocksizes" in pairs:
            found.sizes = [int(size) for size in pairs["blocksizes"].split(",")]
        elif "blockname" in pairs:
            found.blocks[pairs["blockname"]] = hosts(pairs["nodes"])
        else:
            kind, key = (found.nodes, "nodes") if "nodes" in pairs else (found.switches, "switches")
            assert pairs["switchname"] not in found.nodes | found.switches, "each switch should have a unique name"
            kind[pairs["switchname"]] = hosts(pairs[key])
    return found


def below(tree: SlurmTopology, switch: str) -> set[str]:
    """Return the nodes that hang below a switch."""
    if switch in tree.nodes:
        return set(tree.nodes[switch])
    return set().union(*(below(tree, child) for child in tree.switches[switch]))


LINE = re.compile(r"^\s+(\S+) -(\d+)x-([\d.]+)G-> (\S+) (\S+) (\S+)$")


@dataclass(frozen=True)
class IbdmLink:
    """A line of an IBDM topology file: a port of a system, and the type, name and port at the other end."""

    system: str
    port: str
    rate_gbps: float
    peer_type: str
    peer: str
    peer_port: str


def ibdm(text: str) -> tuple[dict[str, str], list[IbdmLink]]:
    """Read ibdm-topo-file(1): a system's type and name, then a line a port, up to an empty line."""
    types: dict[str, str] = {}
    links: list[IbdmLink] = []
    for block in re.split(r"\n\s*\n", "\n".join(line for line in text.splitlines() if not line.startswith("#"))):
        lines = block.strip("\n").splitlines()
        if not lines:
            continue
        kind, name = lines[0].split()
        types[name] = kind
        for line in lines[1:]:
            match = LINE.match(line)
            assert match, line
            links.append(IbdmLink(name, match[1], int(match[2]) * float(match[3]), match[4], match[5], match[6]))
    return types, links
