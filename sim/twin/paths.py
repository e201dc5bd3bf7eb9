"""
The paths that a plan promises: how many are equal, and what a single failure leaves. Pure.

Traffic goes up and then down, never up again: switches of one tier share an autonomous system, or would have to take
back what they announced, so that BGP finds no path that goes down and up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from coldaisle.plan.model import CablePlan, FabricPlan
from sim.twin.topology import Endpoint

Kind = Literal["link", "spine", "core", "leaf"]
MOST_PAIRS = 8
"""Pairs of leaves between which traffic is watched, at most: each packet is one of a few thousand a second."""
LINK_PAIRS = 1
"""The same for one link, so that another link can be tried beside it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that fails: its kind, how people call it, and the cables that are dark without it."""

    kind: Kind
    name: str
    device: str | None
    cables: tuple[CablePlan, ...]


class Graph:
    """The switches of a fabric and the cables between them, less what failed."""

    def __init__(self, fabric: FabricPlan, dark: Container[CablePlan] = ()) -> None:
        """Note who is above whom; a cable's end `a` is the lower one."""
        self.up: dict[str, list[str]] = defaultdict(list)
        self.down: dict[str, list[str]] = defaultdict(list)
        switches = {switch.name for switch in fabric.switches}
        for cable in fabric.cables:
            if cable.a.device in switches and cable.b.device in switches and cable not in dark:
                self.up[cable.a.device].append(cable.b.device)
                self.down[cable.b.device].append(cable.a.device)

    def above(self, switch: str) -> frozenset[str]:
        """Return a switch and all that can be reached from it upwards."""
        return _closure(switch, self.up)

    def below(self, switch: str) -> frozenset[str]:
        """Return a switch and all that can be reached from it downwards."""
        return _closure(switch, self.down)

    def equal_paths(self, leaf: str) -> dict[str, int]:
        """Return for every switch how many of its links lead to a leaf on a shortest path; without a path, 0."""
        straight, far = self.above(leaf), self._distances(leaf)
        counts = {}
        for switch in {*self.up, *self.down} - {leaf}:
            falls = [far[peer] for peer in self.down.get(switch, ()) if peer in straight]
            onward = falls or [far[peer] for peer in self.up.get(switch, ()) if peer in far]
            counts[switch] = sum(1 for distance in onward if distance == min(onward))
        return counts

    def _distances(self, leaf: str) -> dict[str, int]:
        """Return how many hops each switch is from a leaf: straight down where it can, else up first."""
        far, ring = {leaf: 0}, [leaf]
        while ring:
            hops = far[ring[0]] + 1
            ring = list(dict.fromkeys(peer for each in ring for peer in self.up.get(each, ()) if peer not in far))
            far |= dict.fromkeys(ring, hops)
        for switch in self._from_the_top():
            known = [far[peer] for peer in self.up.get(switch, ()) if peer in far]
            if switch not in far and known:
                far[switch] = min(known) + 1
        return far

    def _from_the_top(self) -> Iterator[str]:
        """Yield all switches, each after those above it."""
        ring = [switch for switch in self.down if not self.up.get(switch)]
        seen: set[str] = set()
        while ring:
            yield from ring
            seen |= set(ring)
            ring = list(dict.fromkeys(peer for each in ring for peer in self.down.get(each, ()) if peer not in seen))


def _closure(start: str, ways: Mapping[str, list[str]]) -> frozenset[str]:
    seen, ring = {start}, [start]
    while ring:
        ring = [peer for each in ring for peer in ways.get(each, ()) if peer not in seen]
        seen |= set(ring)
    return frozenset(seen)


def failures(fabric: FabricPlan, endpoints: Iterable[Endpoint]) -> Iterator[Failure]:
    """Yield every link between switches, every spine and core, and the leaves whose hosts have another leaf too."""
    roles = {switch.name: switch.role for switch in fabric.switches}
    for cable in fabric.cables:
        if {cable.a.device, cable.b.device} <= roles.keys():
            name = f"{cable.a.device}:{cable.a.port} - {cable.b.device}:{cable.b.port}"
            yield Failure("link", name, None, (cable,))
    homes: dict[str, set[str]] = defaultdict(set)
    for endpoint in endpoints:
        homes[endpoint.device].add(endpoint.leaf)
    for switch in fabric.switches:
        own = tuple(cable for cable in fabric.cables if switch.name in {cable.a.device, cable.b.device})
        hosts = [leaves for leaves in homes.values() if switch.name in leaves]
        if switch.role in {"spine", "core"}:
            yield Failure(switch.role, switch.name, switch.name, own)
        elif hosts and all(len(leaves) > 1 for leaves in hosts):
            yield Failure("leaf", switch.name, switch.name, own)


def survives(fabric: FabricPlan, failure: Failure) -> bool:
    """Tell whether the plan lets every two leaves that are left talk to each other after a failure."""
    left = [switch.name for switch in fabric.switches if switch.role == "leaf" and switch.name != failure.device]
    graph = Graph(fabric, set(failure.cables))
    above = [graph.above(leaf) for leaf in left]
    return all(one & two for at, one in enumerate(above) for two in above[at + 1 :])


def watched(
    fabric: FabricPlan, failure: Failure, endpoints: Iterable[Endpoint]
) -> tuple[tuple[Endpoint, Endpoint], ...]:
    """
    Return the pairs of addresses whose traffic crosses what fails, and must go on.

    Of a leaf, they are the other addresses of its own hosts. Both of a pair are never on one device, which would talk
    to itself inside the kernel.
    """
    endpoints = tuple(endpoints)
    if failure.kind == "leaf":
        hosts = {endpoint.device for endpoint in endpoints if endpoint.leaf == failure.device}
        left = [each for each in endpoints if each.device in hosts and each.leaf != failure.device]
        pairs = [(one, two) for at, one in enumerate(left) for two in left[at + 1 :] if one.device != two.device]
        return tuple(pairs[:MOST_PAIRS])
    leaves = _sides(fabric, failure)
    found = (_between(endpoints, one, two) for one, two in leaves)
    return tuple(islice((pair for pair in found if pair), LINK_PAIRS if failure.kind == "link" else MOST_PAIRS))


def _sides(fabric: FabricPlan, failure: Failure) -> list[tuple[str, str]]:
    """Return pairs of leaves with the failure between them."""
    graph = Graph(fabric)
    roles = {switch.name: switch.role for switch in fabric.switches}
    if failure.device is not None:
        leaves = sorted(each for each in graph.below(failure.device) if roles[each] == "leaf")
        half = (len(leaves) + 1) // 2
        return list(zip(leaves[:half], leaves[half:], strict=False))
    (cable,) = failure.cables
    near = sorted(each for each in graph.below(cable.a.device) if roles[each] == "leaf")
    far = sorted(each for each in graph.below(cable.b.device) - graph.below(cable.a.device) if roles[each] == "leaf")
    return [(one, two) for one in near for two in _following(one, far)]


def _following(leaf: str, others: list[str]) -> list[str]:
    """Return other leaves, those that come after one first, so that not all links are watched from the same leaf."""
    return [each for each in others if each > leaf] + [each for each in others if each < leaf]


def touched(fabric: FabricPlan, failure: Failure) -> frozenset[str]:
    """Return the leaves whose routes a failure changes: those below a link, a leaf itself, or all below a device."""
    leaves = {switch.name for switch in fabric.switches if switch.role == "leaf"}
    if failure.device is not None:
        return frozenset({failure.device} if failure.kind == "leaf" else leaves)
    return frozenset(leaves & Graph(fabric).below(failure.cables[0].a.device))


def _between(endpoints: Iterable[Endpoint], one: str, two: str) -> tuple[Endpoint, Endpoint] | None:
    """Return an address at each of two leaves, on two devices."""
    near = [each for each in endpoints if each.leaf == one]
    far = [each for each in endpoints if each.leaf == two]
    return next(((a, b) for a in near for b in far if a.device != b.device), None)
