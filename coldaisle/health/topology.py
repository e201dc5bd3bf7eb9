"""What nodes share: leaves, NVLink domains, power and cooling, racks, pools and halls, from the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from coldaisle.health.events import Event, Kind
from coldaisle.plan.model import RackPlan, SitePlan

PartKind = Literal["leaf", "nvlink-domain", "power", "cooling", "rack", "pool", "hall"]

EXPLAINS: Mapping[Kind, tuple[PartKind, ...]] = {
    "link": ("leaf", "power", "rack"),
    "nvlink": ("nvlink-domain",),
    "thermal": ("cooling", "rack"),
    "sel": ("cooling", "power", "rack"),
}
"""
Shared parts that make many nodes tell of the same, in the order in which they are looked at.

What GPUs tell of themselves no shared part explains: such bursts are named too, and limits alone hold drains back.
"""

OF_LOGS: Mapping[str, tuple[PartKind, ...]] = {
    "power": ("power", "rack"),
    **dict.fromkeys(("fan", "thermal", "leak"), ("cooling", "rack")),
}
"""What explains entries of BMCs' logs that say what they are of, which stands before the dash of their code."""


def explaining(cause: tuple[Kind, str]) -> tuple[PartKind, ...]:
    """Return the kinds of shared parts that make many nodes tell of this at once."""
    kind, code = cause
    general = EXPLAINS.get(kind, ())
    return OF_LOGS.get(code.partition("-")[0], general) if kind == "sel" else general


@dataclass(frozen=True, slots=True, order=True)
class SharedPart:
    """A part that several nodes depend on."""

    kind: PartKind
    name: str
    nodes: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return kind and name."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node stands, and what it belongs to."""

    pool: str
    rack: str
    hall: str
    rack_unit: int
    gpus: int


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes by name, what they share, and the switch's end of each of their ports as `(switch, port)`."""

    nodes: Mapping[str, NodePlace]
    parts: tuple[SharedPart, ...]
    ports: Mapping[tuple[str, str], tuple[str, str]]

    def concerns(self, part: SharedPart, event: Event) -> bool:
        """Tell whether an event can come from a shared part: of a leaf, only those of the ports at it."""
        if part.kind == "leaf":
            end = self.ports.get((event.node, event.part.removeprefix("port ")))
            return end is not None and end[0] == part.name
        return event.node in part.nodes

    def members(self, kind: Literal["pool", "rack"], node: str) -> tuple[str, ...]:
        """Return the nodes of the pool or the rack of a node, itself among them; none of a node without a plan."""
        place = self.nodes.get(node)
        wanted = place and getattr(place, kind)
        return next((part.nodes for part in self.parts if part.kind == kind and part.name == wanted), ())


def topology_of(plan: SitePlan) -> Topology:
    """Return what the nodes of a plan share."""
    racks = {rack.name: rack for rack in plan.facility.racks}
    nodes = {
        node.name: NodePlace(node.pool, node.rack, racks[node.rack].hall, node.rack_unit, node.gpus)
        for node in plan.nodes
    }
    ends = dict(_ports(plan, frozenset(nodes)))
    shared: dict[tuple[PartKind, str], set[str]] = defaultdict(set)
    for (device, _port), (switch, _end) in ends.items():
        shared["leaf", switch].add(device)
    for node in plan.nodes:
        for key in _belongs(racks[node.rack], node.pool, node.nvlink_domain):
            shared[key].add(node.name)
    parts = tuple(sorted(SharedPart(*key, tuple(sorted(members))) for key, members in shared.items()))
    return Topology(nodes, parts, ends)


def _ports(plan: SitePlan, nodes: frozenset[str]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for fabric in plan.fabrics.values():
        for cable in fabric.cables:
            for own, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if own.device in nodes:
                    yield (own.device, own.port), (other.device, other.port)


def _belongs(rack: RackPlan, pool: str, domain: str | None) -> Iterator[tuple[PartKind, str]]:
    yield "pool", pool
    yield "rack", rack.name
    yield "hall", rack.hall
    if domain:
        yield "nvlink-domain", domain
    for loop in (rack.cooling, rack.liquid_cooling, rack.second_liquid_cooling, rack.door_cooling):
        if loop:
            yield "cooling", loop
    for feed in rack.feeds:
        yield "power", feed.upstream or f"{rack.name}/{feed.name}"
