"""
Ways to fill a rack: how many new nodes of a pool, at which rack units, and what they add to what racks share.

A way counts only when the rack alone passes every check with it; why the next larger one does not is kept, since that
is what limits the rack.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coldaisle.check import Finding
from coldaisle.proposal.floor import Alike, Floor, Trial
from coldaisle.proposal.records import NO_SPACE, UNKNOWN, Limit, Want
from coldaisle.proposal.shared import Adds, Key, Shared

_FIGURE_MISSING = "missing-figure"


@dataclass(frozen=True, slots=True)
class Pattern:
    """
    One way to fill a rack of a group.

    `group` and `pool` are indexes. `noise` is how many warnings it brings, and `foreign` that the
    rack is meant for something else. `rank` orders groups: lower is better.
    `above` is the chain above the rack, and `weightless` are the models whose weight would have to be known.
    """

    group: int
    pool: int
    units: tuple[int, ...]
    noise: int
    foreign: bool
    rank: int
    adds: Mapping[Key, float]
    above: frozenset[str]
    weightless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filling:
    """All ways to fill the racks of one group with one pool, and what stops the next node."""

    patterns: tuple[Pattern, ...]
    stops: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """How fillings are judged: warnings count as errors where `strict`; the checks of `ignored` do not count."""

    strict: bool = False
    ignored: Collection[str] = ()

    def bad(self, found: Finding) -> bool:
        """Return whether a finding rules a place out."""
        if found.check in self.ignored:
            return False
        return self.strict or found.severity == "error"


def filling(floor: Floor, shared: Shared, place: tuple[int, int], want: Want, rules: Rules) -> Filling:
    """
    Return how a group of racks can be filled with a pool.

    Args:
        floor: The floor.
        shared: What its racks share.
        place: Indexes of the group, and of the pool among those that are wanted.
        want: The pool's system, and at most how many of it.
        rules: What rules a place out.
    """
    group, pool = place
    alike = floor.alike[group]
    trials = _Trials(floor, shared, alike, want, rules)
    most = trials.most()
    rank = preference(floor, want).index(group)
    above = shared.above(alike.racks[0])
    tried = [trials.of(count) for count in range(1, most + 1)]
    patterns = tuple(
        Pattern(group, pool, each.units, each.noise, alike.of_others, rank, each.adds, above, each.weightless)
        for each in tried
    )
    return Filling(patterns, trials.of(most + 1).stops if most < want.count else ())


@dataclass(frozen=True, slots=True)
class _Tried:
    """What became of some new nodes in a rack: `stops` is empty where they fit."""

    units: tuple[int, ...] = ()
    noise: int = 0
    adds: Mapping[Key, float] = field(default_factory=dict)
    weightless: tuple[str, ...] = ()
    stops: tuple[Limit, ...] = ()


_TRIED_EACH = 12
"""Up to so many nodes a rack, each number is tried; above, what lies between two numbers is taken as between them."""


class _Trials:
    """Trials of a rack with more and more nodes; each number is tried once."""

    def __init__(self, floor: Floor, shared: Shared, alike: Alike, want: Want, rules: Rules) -> None:
        self._floor, self._shared, self._alike, self._want, self._rules = floor, shared, alike, want, rules
        self._height_u = floor.spec.catalog.systems[want.system].height_u or 1
        self._tried: dict[int, _Tried] = {0: _Tried()}

    def most(self) -> int:
        """Return how many nodes the rack takes: with one more, a rule breaks, and then with every further one."""
        space = sum(length // self._height_u for _, length in self._alike.free_runs)
        least, most = 0, min(space, self._want.count)
        while least < most:
            count = least + 1 if least < _TRIED_EACH else (least + most + 1) // 2
            if self._try(count).stops:
                most = count - 1
            else:
                least = count
        return least

    def of(self, count: int) -> _Tried:
        """Return what becomes of so many nodes, from the numbers beside it where it was not tried."""
        if count in self._tried or count > max(self._tried):
            return self._try(count)
        below = max(tried for tried in self._tried if tried < count)
        beyond = min(tried for tried in self._tried if tried > count and not self._tried[tried].stops)
        return self._between(count, below, beyond)

    def _between(self, count: int, below: int, beyond: int) -> _Tried:
        low, high = self._tried[below], self._tried[beyond]
        part = (count - below) / (beyond - below)
        adds = {
            key: low.adds.get(key, 0.0) + part * (value - low.adds.get(key, 0.0)) for key, value in high.adds.items()
        }
        units = rack_units(self._floor, self._alike, self._want.pool, self._height_u, count)
        return replace(high, units=units or (), adds=adds)

    def _try(self, count: int) -> _Tried:
        if count not in self._tried:
            self._tried[count] = self._trial(count)
        return self._tried[count]

    def _trial(self, count: int) -> _Tried:
        floor, alike, want = self._floor, self._alike, self._want
        units = rack_units(floor, alike, want.pool, self._height_u, count)
        if units is None:
            return _Tried(stops=(_no_space(alike, want, self._height_u, count),))
        before, after = floor.as_is(alike), floor.trial(alike, want.pool, want.system, units)
        new = after.findings - before.findings
        adds = self._shared.added(before, after)
        bad = [found for found in new if self._rules.bad(found)]
        if self._rules.strict and after.weightless:
            bad += [found for found in after.findings if found.check == "weight-unknown" and found not in bad]
        stops = _stops(alike, after, bad, self._shared, adds)
        known = {key: value for key, value in adds.items() if value is not None}
        return _Tried(units, len(new) + len(after.weightless), known, after.weightless, stops)


def preference(floor: Floor, want: Want) -> list[int]:
    """Return groups by how gladly a pool goes there: beside its own nodes, beside others, then the emptiest first."""

    def key(at: int) -> tuple[bool, bool, int, int]:
        alike = floor.alike[at]
        return want.pool not in alike.pools, not alike.has_nodes, len(alike.devices), at

    return sorted(range(len(floor.alike)), key=key)


def rack_units(floor: Floor, alike: Alike, pool: str, height_u: int, count: int) -> tuple[int, ...] | None:
    """
    Return the lowest rack unit of each of some new nodes, or None where there is no room for all.

    They stand where the pool's nodes stand in other racks, if that is free, and else one on the other from below.
    """
    free = {unit for first, length in alike.free_runs for unit in range(first, first + length)}
    usual = sorted({node.rack_unit for node in floor.spec.nodes if node.pool == pool})
    like_others: list[int] = []
    for unit in usual:
        needed = range(unit, unit + height_u)
        if free.issuperset(needed):
            like_others.append(unit)
            free.difference_update(needed)
    if len(like_others) >= count:
        return tuple(like_others[:count])
    stacked = [first + height_u * at for first, length in alike.free_runs for at in range(length // height_u)]
    return tuple(stacked[:count]) if len(stacked) >= count else None


def _no_space(alike: Alike, want: Want, height_u: int, count: int) -> Limit:
    longest = max((length for _, length in alike.free_runs), default=0)
    more = "" if count == 1 else f" for {count} of them"
    return Limit(
        check=NO_SPACE,
        what=f"{want.system} needs {height_u} rack units in a row, and {alike.names[0]} has none left{more}"
        f" (its longest free row is {longest})",
        fix="free rack units, or add racks",
        racks=alike.names,
    )


def _stops(alike: Alike, after: Trial, bad: Sequence[Finding], shared: Shared, adds: Adds) -> tuple[Limit, ...]:
    """Return what rules a filling out: what the checks find, and every ledger that cannot be computed."""
    if bad:
        found = [_limit(alike, finding) for finding in sorted(bad, key=lambda each: (each.check, each.what))]
        # The other feed of a pair fails alike: one of them says it. Figures that are missing are all told.
        return tuple({limit.what if limit.unknown else limit.check: limit for limit in reversed(found)}.values())
    missing = [found for found in after.findings if found.check == _FIGURE_MISSING]
    if after.unknown and missing:
        return tuple(_limit(alike, found) for found in sorted(missing, key=lambda each: each.what))
    names = [f"{name} of {after.rack.name}" for name in after.unknown]
    names += sorted(
        {f"the load of {key[0]}" for key, value in adds.items() if value is None or shared.limit(key).load is None}
    )
    return tuple(
        Limit(
            check=UNKNOWN,
            what=f"{name} is not known, so nobody can tell whether more fits",
            fix="coldaisle explain names the figure that is missing: add it with its source",
            racks=alike.names,
            unknown=True,
        )
        for name in names
    )


def _limit(alike: Alike, found: Finding) -> Limit:
    unknown = found.check == _FIGURE_MISSING
    return Limit(check=found.check, what=found.what, fix=found.fix, racks=alike.names, unknown=unknown)
