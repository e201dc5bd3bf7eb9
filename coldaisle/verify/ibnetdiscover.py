"""
An InfiniBand subnet as `ibnetdiscover` prints it: a block for each switch and each adapter, with its cabled ports.

Each link stands in the blocks of both its ends, so a peer without a block shows that the output was cut off. Switches
have a port to themselves for in-network reduction; it is no cable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coldaisle.verify.seen import BAD_TEXT, Answer, Neighbour, Told, guid_mac

HEAD = re.compile(r'^(switchguid=|caguid=|vendid=|# Topology file|(Switch|Ca|Rt)\s+\d+\s+")', re.MULTILINE)
_BLOCK = re.compile(r'^(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-f]+)"\s*#\s*"([^"]*)"')
_LINK = re.compile(r'^\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([SHR]-[0-9a-f]+)"\[(\d+)\](?:\(([0-9a-f]+)\))?\s*#?(.*)$')
_MANAGED = re.compile(r"^\w+;([^:;]+):")
_OWN_PORT = "Aggregation Node"


@dataclass(frozen=True, slots=True)
class _Block:
    guid: str
    name: str
    is_switch: bool


def ibnetdiscover(text: str, source: str) -> Answer:
    """Read the subnet. Names are those of node descriptions, or of a node-name map that was given to the program."""
    blocks = {match[2]: _Block(match[2], match[3], match[1] == "Switch") for match in _matches(text)}
    neighbours: list[Neighbour] = []
    missing: set[str] = set()
    block: _Block | None = None
    for line in text.splitlines():
        if head := _BLOCK.match(line):
            block = blocks[head[2]]
        elif block and (link := _LINK.match(line)) and _OWN_PORT not in line + block.name:
            if link[3] not in blocks:
                missing.add(link[3])
            neighbours.append(_neighbour(block, link, blocks.get(link[3])))
    cut = bool(missing) or not text.endswith("\n") or not blocks
    notes = [f"{source}: a name is no UTF-8 and was dropped" for one in blocks.values() if BAD_TEXT in one.name]
    if cut:
        notes.append(f"{source}: the output was cut off: {len(missing)} devices are named and not described")
    speakers = tuple(_told(one, None, None) for one in blocks.values() if _OWN_PORT not in one.name)
    return Answer(source, "ib", speakers, tuple(neighbours), not cut, tuple(notes))


def _matches(text: str) -> list[re.Match[str]]:
    return [match for line in text.splitlines() if (match := _BLOCK.match(line))]


def _neighbour(block: _Block, link: re.Match[str], peer: _Block | None) -> Neighbour:
    """Return a link. A peer whose block is missing is named at the end of the line."""
    quoted = re.findall(r'"([^"]*)"', link[6])
    other = peer or _Block(link[3], quoted[0] if quoted else "", link[3].startswith("S-"))
    return Neighbour(_told(block, link[1], link[2]), _told(other, link[4], link[5]))


def _told(block: _Block, number: str | None, port_guid: str | None) -> Told:
    """Return a switch by its name, or an adapter's port by the host's name, the adapter's name and its GUID."""
    name = None if BAD_TEXT in block.name else block.name
    if block.is_switch:
        managed = _MANAGED.match(name or "")
        own = _guid(block.guid.partition("-")[2])
        return Told(managed[1] if managed else name, number=int(number) if number else None, guid=own)
    host, _, adapter = (name or "").partition(" ")
    digits = port_guid or block.guid.partition("-")[2]
    mac = guid_mac(digits)
    return Told(host or None, (adapter,) if adapter else (), (mac,) if mac else (), guid=_guid(digits))


def _guid(digits: str) -> str:
    """Return a GUID as the delivery list has it; some are printed without the zeros at their front."""
    return f"0x{digits:0>16}"
