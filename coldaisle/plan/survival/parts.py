"""
Which losses are tried: of each kind those that can be the worst.

A fabric has tens of thousands of cables and a few kinds of them. What is alike does alike damage, so one of each is
tried: parts are alike when they hang on as many others at the same rates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from coldaisle.plan.model import CablePlan, End, FabricPlan, LossKind
from coldaisle.plan.survival.net import Loss, Net

MOST_TRIED = 8
"""Losses of one kind that are tried at most, those that touch most nodes first."""

Cages = Mapping[str, Mapping[str, int]]
"""Number of the cage of each port of a switch, by its role."""

T = TypeVar("T")


def part_losses(net: Net, fabric: FabricPlan, cages: Cages) -> Iterator[tuple[LossKind, Loss]]:
    """Yield losses of links, transceivers and switches."""
    if net.links:
        cable = min(net.links.values(), key=len)[0]
        yield "link", Loss(_name(cable), cables=(cable,))
    for cable in _uplinks(net, fabric):
        yield "uplink", Loss(_name(cable), cables=(cable,))
    switches = dict(_switches(net))
    yield from ((kind, Loss(name, frozenset({name}))) for name, kind in switches.items())
    yield from (("optic", loss) for loss in _optics(fabric, cages, switches))


def _uplinks(net: Net, fabric: FabricPlan) -> list[CablePlan]:
    """Return a cable of each kind of pair: pairs of a tier, with as many switches above and as much rate."""
    found: dict[Hashable, tuple[str, str]] = {}
    for tier, rates in enumerate((net.below, net.above)):
        for lower, uppers in rates.items():
            for upper, rate in uppers.items():
                found.setdefault((tier, len(uppers), rate), (lower, upper))
    pairs = set(list(found.values())[:MOST_TRIED])
    cables = [cable for cable in fabric.cables if (cable.a.device, cable.b.device) in pairs]
    return _alike(cables, lambda cable: (cable.a.device, cable.b.device))


def _alike(items: Iterable[T], key: Callable[[T], Hashable]) -> list[T]:
    """Return the first of each that are alike."""
    found: dict[Hashable, T] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())[:MOST_TRIED]


def _switches(net: Net) -> Iterator[tuple[str, LossKind]]:
    """Yield switches of each tier, those that most nodes hang on with all of their ports first."""
    leaves = ({cable.b.device for cable in cables} for cables in net.links.values())
    alone = Counter(next(iter(each)) for each in leaves if len(each) == 1)

    def weight(name: str) -> tuple[int, ...]:
        above = len(net.below.get(name, ())) + len(net.above.get(name, ()))
        return -alone[name], -len(net.on.get(name, ())), -len(net.met_by.get(name, ())), above

    kinds: tuple[LossKind, ...] = ("leaf", "spine", "core")
    for kind in kinds:
        names = sorted((name for name, role in net.roles.items() if role == kind), key=weight)
        yield from ((name, kind) for name in _alike(names, weight))


def _optics(fabric: FabricPlan, cages: Cages, switches: Mapping[str, LossKind]) -> Iterator[Loss]:
    """Yield transceivers in some switches: those with most cables towards nodes, and towards other switches."""
    roles = {switch.name: switch.role for switch in fabric.switches if switch.name in switches}
    held: defaultdict[tuple[str, int], list[CablePlan]] = defaultdict(list)
    for cable in fabric.cables:
        for end in (cable.a, cable.b):
            role = roles.get(end.device)
            number = cages[role].get(end.port) if role is not None else None
            if number is not None:
                held[end.device, number].append(cable)
    largest = sorted(held.items(), key=lambda item: -len(item[1]))
    for (device, _), cables in _alike(largest, lambda item: (item[0][0], item[1][0].kind)):
        yield Loss(f"in {_port(_end_at(cables[0], device))}", cables=tuple(cables))


def _end_at(cable: CablePlan, device: str) -> End:
    return cable.a if cable.a.device == device else cable.b


def _name(cable: CablePlan) -> str:
    return f"{_port(cable.a)} to {_port(cable.b)}"


def _port(end: End) -> str:
    return f"{end.device} {end.port}"
