"""
Which switches make a fabric, and in which tiers: from cables alone.

Switches that cables join are one fabric; those that hosts hang on are its leaves. A cable to a switch's management
port belongs to the fabric of its other end. Switches without a tier above them are a fabric where their names begin
alike.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coldaisle.adopt.estate import Estate
from coldaisle.adopt.facts import PortRef
from coldaisle.plan.connected import connected

_NUMBERED = re.compile(r"(.*?)(\d+)")


@dataclass(frozen=True, slots=True)
class Hung:
    """A cable from a host's port, or from a switch's management port, to a switch: `role` is that of the lower port."""

    lower: PortRef
    upper: PortRef
    role: str


@dataclass(frozen=True, slots=True)
class Shape:
    """The switches of a fabric by tier, each tier by number; cables that hang on it, and those within it."""

    tiers: Mapping[str, tuple[str, ...]]
    hung: tuple[Hung, ...]
    inner: tuple[tuple[PortRef, PortRef], ...]

    @property
    def lowest(self) -> tuple[str, ...]:
        """Return the switches that hosts hang on."""
        return self.tiers.get("leaf") or self.tiers.get("switch", ())


def prefix_of(name: str) -> tuple[str, int]:
    """Return the beginning of a switch's name and its number, -1 where it has none."""
    found = _NUMBERED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, -1)


def shapes(estate: Estate) -> tuple[Shape, ...]:
    """Return the fabrics of a site, the one with the most switches first."""
    switches = estate.of("switch")
    inner, hung = _sorted_out(estate)
    parts = connected((one.device, other.device) for one, other in inner)
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for name in switches:
        groups[parts.get(name, f"single {prefix_of(name)[0]} {switches[name].entry}")].add(name)
    found = [_shape(members, inner, hung) for members in _planes(groups.values())]
    return tuple(sorted(found, key=lambda shape: (-sum(map(len, shape.tiers.values())), shape.lowest)))


def _sorted_out(estate: Estate) -> tuple[list[tuple[PortRef, PortRef]], list[Hung]]:
    """Return cables between switches, and cables of hosts and of management ports to a switch."""
    switches = estate.of("switch")
    inner, hung = [], []
    for cable in estate.merged.cables:
        roles = [_role(estate, end) for end in cable.ends]
        there = [end.device in switches for end in cable.ends]
        if all(there) and roles == ["", ""]:
            inner.append(cable.ends)
        elif there[1] and roles[1] == "":
            hung.append(Hung(cable.ends[0], cable.ends[1], roles[0]))
        elif there[0] and roles[0] == "":
            hung.append(Hung(cable.ends[1], cable.ends[0], roles[1]))
    return inner, hung


def _role(estate: Estate, end: PortRef) -> str:
    """Return what a port is for: a role of the catalog, `switch` of a management port, none of a switch's others."""
    device = estate.devices.get(end.device)
    if device is None:
        return "other"
    if device.kind == "switch":
        model = estate.catalog.switches[device.entry]
        return "switch" if model.management_port == end.port else ""
    system = estate.catalog.systems.get(device.entry)
    nic = system.nics.get(end.port) if system else None
    return nic.role if nic else "other"


def _planes(groups: Iterable[set[str]]) -> list[set[str]]:
    """Return groups, those together whose switches have the same beginnings of names: the planes of one fabric."""
    found: dict[frozenset[str], set[str]] = {}
    for members in groups:
        found.setdefault(frozenset(prefix_of(name)[0] for name in members), set()).update(members)
    return list(found.values())


def _shape(members: set[str], inner: list[tuple[PortRef, PortRef]], hung: list[Hung]) -> Shape:
    mine = tuple(each for each in hung if each.upper.device in members)
    within = tuple(ends for ends in inner if ends[0].device in members)
    if not within:
        return Shape({"switch": _numbered(members)}, mine, ())
    above: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in within:
        above[one.device].add(other.device)
        above[other.device].add(one.device)
    leaves = {each.upper.device for each in mine}
    names = {prefix_of(name)[0] for name in leaves}
    # A leaf that nothing hangs on yet is one by its name, and meets no other leaf.
    leaves |= {name for name in members if prefix_of(name)[0] in names and not above[name] & leaves}
    spines = {other for leaf in leaves for other in above[leaf]} - leaves
    cores = members - leaves - spines
    tiers = {"leaf": leaves, "spine": spines, "core": cores}
    return Shape({tier: _numbered(names) for tier, names in tiers.items() if names}, mine, within)


def _numbered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (prefix_of(name)[0], prefix_of(name)[1], name)))
