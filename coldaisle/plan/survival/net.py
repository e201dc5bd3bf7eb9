"""
A fabric as what carries traffic: which leaves a node hangs on, and what each tier has to the tier above.

Planners make fabrics that are whole: each leaf meets every spine of its pod, and each pod every core. Of such a one it
is known without a walk that no single part divides it; any other is walked through after each loss.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from coldaisle.plan.model import CablePlan, FabricPlan

Rates = Mapping[str, Mapping[str, float]]
"""Gb/s from a lower switch to each upper one, all parallel links together."""


@dataclass(frozen=True, slots=True)
class Net:
    """
    What a fabric carries.

    `planes` has the plane of each leaf, and `roles` that of each switch. `below` are the rates of leaves to spines,
    `above` those of spines to cores, and `met_by` the switches below each. `links` are the cables of each node's ports,
    and `on` the nodes of each leaf.
    """

    planes: Mapping[str, int | None]
    roles: Mapping[str, str]
    below: Rates
    above: Rates
    met_by: Mapping[str, tuple[str, ...]]
    links: Mapping[str, tuple[CablePlan, ...]]
    on: Mapping[str, frozenset[str]]
    whole: bool


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost at once: devices with all of their ports, and cables."""

    part: str
    devices: frozenset[str] = frozenset()
    cables: tuple[CablePlan, ...] = ()


def net_of(fabric: FabricPlan, nodes: Collection[str]) -> Net:
    """Return what a fabric carries between some nodes."""
    below: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    above: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    links: defaultdict[str, list[CablePlan]] = defaultdict(list)
    on: defaultdict[str, set[str]] = defaultdict(set)
    for cable in fabric.cables:
        device = cable.a.device
        if cable.kind == "leaf-spine":
            below[device][cable.b.device] += cable.rate_gbps
        elif cable.kind == "spine-core":
            above[device][cable.b.device] += cable.rate_gbps
        elif device in nodes:
            links[device].append(cable)
            on[cable.b.device].add(device)
    roles = {switch.name: "leaf" if switch.role == "oob" else switch.role for switch in fabric.switches}
    planes = {switch.name: switch.plane for switch in fabric.switches if roles[switch.name] == "leaf"}
    return Net(
        planes,
        roles,
        below,
        above,
        _met_by(below, above),
        {node: tuple(found) for node, found in links.items()},
        {leaf: frozenset(found) for leaf, found in on.items()},
        _is_whole(planes, below, above),
    )


def _met_by(*tiers: Rates) -> dict[str, tuple[str, ...]]:
    met: defaultdict[str, list[str]] = defaultdict(list)
    for rates in tiers:
        for lower, uppers in rates.items():
            for upper in uppers:
                met[upper].append(lower)
    return {upper: tuple(lowers) for upper, lowers in met.items()}


def _is_whole(planes: Mapping[str, int | None], below: Rates, above: Rates) -> bool:
    """Tell whether each pod is complete with two spines or more, and each two pods meet at two cores or more."""
    pods: defaultdict[frozenset[str], set[int | None]] = defaultdict(set)
    for leaf, plane in planes.items():
        pods[frozenset(below.get(leaf, ()))].add(plane)
    if not _apart_from_each_other(pods) or any(len(pod) < 2 or len(of) > 1 for pod, of in pods.items()):  # noqa: PLR2004
        return False
    if not above:
        return len(pods) == len(set(planes.values()))
    cores: defaultdict[int | None, set[frozenset[str]]] = defaultdict(set)
    for pod, of in pods.items():
        cores[next(iter(of))].add(frozenset(core for spine in pod for core in above.get(spine, ())))
    groups = {frozenset(each) for each in above.values()}
    one_set = all(len(each) == 1 and len(next(iter(each))) > 1 for each in cores.values())
    return one_set and _apart_from_each_other(groups)


def _apart_from_each_other(sets: Collection[frozenset[str]]) -> bool:
    """Tell whether sets share nothing, and none is empty."""
    return all(sets) and sum(len(each) for each in sets) == len({name for each in sets for name in each})
