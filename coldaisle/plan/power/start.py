"""
The order of start after a blackout: groups of devices, so that no circuit and no part of the chain is overloaded.

While a group starts, it draws its start-up power, and all groups before it may draw their maximum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coldaisle.plan.model import RackPlan, StartGroupPlan
from coldaisle.plan.placement import Placed, loads_of
from coldaisle.plan.power.arithmetic import Load, feed_loads_w
from coldaisle.plan.power.chain import Chain

_TOLERANCE = 1e-9
"""Part of a capacity that rounding may add to a sum."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Devices of one rack that start together, and what each circuit and part carries while they start and run."""

    rack: str
    stage: int
    upstreams: tuple[str | None, ...]
    devices: tuple[Placed, ...]
    carried: Mapping[str, tuple[float, float]]


@dataclass(slots=True)
class _Limit:
    """A circuit or a part of the chain while groups start: what runs on it, and its latest group with its draws."""

    capacity_w: float
    running_w: float = 0.0
    group: int = 0
    starting_w: float = 0.0
    next_w: float = 0.0

    def takes(self, group: int, startup_w: float) -> bool:
        """Tell whether it carries one more start in its latest group, or in a later one."""
        others = self.next_w if group > self.group else self.starting_w
        return self.running_w + others + startup_w <= self.capacity_w * (1 + _TOLERANCE)

    def add(self, group: int, startup_w: float, running_w: float) -> None:
        """Start something in a group; what started in groups before then runs."""
        if group > self.group:
            self.running_w, self.group = self.running_w + self.next_w, group
            self.starting_w = self.next_w = 0.0
        self.starting_w += startup_w
        self.next_w += running_w


@dataclass(slots=True)
class _Group:
    starts: list[_Start] = field(default_factory=list)
    over: dict[str, None] = field(default_factory=dict)


def start_order(
    racks: Sequence[RackPlan],
    devices: Mapping[str, Sequence[Placed]],
    chain: Chain,
    pools: Mapping[str, str],
    start_first: Sequence[str],
) -> tuple[StartGroupPlan, ...] | None:
    """
    Return the groups in which a site starts after a blackout; None where a draw that it needs is not known.

    Args:
        racks: The planned racks with their feeds.
        devices: What stands in each rack.
        chain: The power chain; what a generator takes over for has the generator's capacity.
        pools: The pool of each node.
        start_first: Pools that start before the others.

    Switches and service hosts come first, since nodes boot from them; then the pools of `start_first`, one
    after another, and then all others, the racks of all parts of the chain in turn.
    """
    if any(_unknown(device, len(rack.feeds)) for rack in racks for device in devices.get(rack.name, ())):
        return None
    ranks = {pool: at for at, pool in enumerate(dict.fromkeys(start_first), start=1)}
    cut = _Cut(chain, {node: ranks.get(pool, len(ranks) + 1) for node, pool in pools.items()})
    starts = [start for rack in racks for start in cut.starts(rack, devices.get(rack.name, ()))]
    return tuple(_plans(_groups(_in_turn(starts), cut.limits)))


def _unknown(device: Placed, feeds: int) -> bool:
    placed = device.placement
    return placed.max_power_w is None or placed.draws.startup_w is None or (feeds > 1 and device.psus is None)


class _Cut:
    """Cuts racks into what starts together, with what each circuit and each part of the chain then carries."""

    def __init__(self, chain: Chain, stages: Mapping[str, int]) -> None:
        self.chain, self.stages = chain, stages
        self.limits = {name: _Limit(_black_start_w(chain, name)) for name in chain.parts}
        self._paths: dict[str | None, tuple[tuple[str, float], ...]] = {}
        self._loads: dict[tuple[tuple[Load, ...], int], tuple[tuple[float, float], ...]] = {}
        for part in chain.parts.values():
            if part.allocated_w is not None:
                for name, factor in self._path(part.fed_by):
                    self.limits[name].running_w += part.allocated_w / (part.efficiency or 1) * factor

    def starts(self, rack: RackPlan, devices: Sequence[Placed]) -> Iterator[_Start]:
        """Yield the starts of a rack: what is of one stage at once where its circuits carry that, else one by one."""
        stages: defaultdict[int, list[Placed]] = defaultdict(list)
        for device in devices:
            stages[self.stages.get(device.placement.device, 0)].append(device)
        circuits = {f"{rack.name}.feed_{feed.name}": _Limit(feed.capacity_w) for feed in rack.feeds}
        for group, (stage, members) in enumerate(sorted(stages.items()), start=1):
            whole = self._start(rack, stage, tuple(members))
            fits = all(limit.takes(group, whole.carried[name][0]) for name, limit in circuits.items())
            yield from [whole] if fits else [self._start(rack, stage, (device,)) for device in members]
            for name, limit in circuits.items():
                limit.add(group, *whole.carried[name])
        self.limits |= {f"{rack.name}.feed_{feed.name}": _Limit(feed.capacity_w) for feed in rack.feeds}

    def _start(self, rack: RackPlan, stage: int, devices: tuple[Placed, ...]) -> _Start:
        carried: dict[str, tuple[float, float]] = {}
        for feed, (startup_w, running_w) in zip(rack.feeds, self._feeds(devices, len(rack.feeds)), strict=True):
            carried[f"{rack.name}.feed_{feed.name}"] = startup_w, running_w
            for name, factor in self._path(feed.upstream):
                before = carried.get(name, (0.0, 0.0))
                carried[name] = before[0] + startup_w * factor, before[1] + running_w * factor
        return _Start(rack.name, stage, tuple(feed.upstream for feed in rack.feeds), devices, carried)

    def _feeds(self, devices: tuple[Placed, ...], feeds: int) -> tuple[tuple[float, float], ...]:
        """Return what each feed carries of some devices while they start, and while they run."""
        loads = loads_of(devices)
        if (loads, feeds) not in self._loads:
            startup = feed_loads_w([load.of_kind("startup_w") for load in loads], feeds)
            running = feed_loads_w(loads, feeds)
            pairs = zip(startup, running, strict=True)
            self._loads[loads, feeds] = tuple((starting or 0.0, then or 0.0) for starting, then in pairs)
        return self._loads[loads, feeds]

    def _path(self, upstream: str | None) -> tuple[tuple[str, float], ...]:
        """Return the parts above a circuit, each with the watts that it gives for a watt of the circuit."""
        if upstream not in self._paths:
            path, factor = [], 1.0
            for name in self.chain.above(upstream):
                part = self.chain.parts[name]
                if part.allocated_w is not None:
                    break
                path.append((name, factor))
                factor /= part.efficiency or 1
            self._paths[upstream] = tuple(path)
        return self._paths[upstream]


def _black_start_w(chain: Chain, name: str) -> float:
    """Return what a part gives after a blackout: what the generator gives that takes over for it, or what it gives."""
    catchers = [chain.parts[catcher] for catcher in chain.catchers.get(name, ())]
    generators = [part.usable_w for part in catchers if part.kind == "generator"]
    return generators[0] if generators else chain.parts[name].usable_w


def _in_turn(starts: Iterable[_Start]) -> list[_Start]:
    """Return starts by stage, and of each stage the first of each part of the chain, then the second."""
    counts: defaultdict[tuple[int, tuple[str | None, ...]], int] = defaultdict(int)
    turns: list[tuple[int, int, int]] = []
    every = list(starts)
    for at, start in enumerate(every):
        counts[start.stage, start.upstreams] += 1
        turns.append((start.stage, counts[start.stage, start.upstreams], at))
    return [every[at] for _, _, at in sorted(turns)]


def _groups(starts: Iterable[_Start], limits: Mapping[str, _Limit]) -> list[_Group]:
    """Put each start into the first group that all of its circuits and parts carry, never before one that they know."""
    groups: list[_Group] = []
    first = 0
    for start in starts:
        if start.stage > 0 and groups and groups[-1].starts[0].stage == 0:
            first = len(groups)
        at = max([first, *(limits[name].group for name in start.carried)])
        over: list[str] = []
        if not _fits(start, limits, at):
            at += 1
            over = [name for name, (watts, _) in start.carried.items() if not limits[name].takes(at, watts)]
        for name, draws in start.carried.items():
            limits[name].add(at, *draws)
        groups += [_Group() for _ in range(at + 1 - len(groups))]
        groups[at].starts.append(start)
        groups[at].over |= dict.fromkeys(over)
    return [group for group in groups if group.starts]


def _fits(start: _Start, limits: Mapping[str, _Limit], group: int) -> bool:
    return all(limits[name].takes(group, startup_w) for name, (startup_w, _) in start.carried.items())


def _plans(groups: Iterable[_Group]) -> Iterator[StartGroupPlan]:
    running_w = 0.0
    for group in groups:
        devices = [device.placement for start in group.starts for device in start.devices]
        yield StartGroupPlan(
            devices=tuple(device.device for device in devices),
            racks=tuple(dict.fromkeys(start.rack for start in group.starts)),
            startup_w=sum(device.draws.startup_w or 0.0 for device in devices),
            running_w=running_w,
            over=tuple(group.over),
        )
        running_w += sum(device.max_power_w or 0.0 for device in devices)
