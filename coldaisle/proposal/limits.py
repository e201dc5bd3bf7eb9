"""What stops the next node: the rack's own limits where its racks are full, else what racks share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from coldaisle.proposal.floor import Floor
from coldaisle.proposal.patterns import Filling, Pattern, Rules, filling
from coldaisle.proposal.records import NO_SPACE, Limit, Relaxation, Want
from coldaisle.proposal.shared import Key, Shared, SharedLimit
from coldaisle.proposal.solver import Problem, solve

_FEWEST = 1e-9
"""Part of a capacity below which a difference is rounding."""


@dataclass(frozen=True, slots=True)
class Model:
    """A floor with its shared limits, the wants, and every filling of each group with each of them."""

    floor: Floor
    shared: Shared
    wants: Sequence[Want]
    fillings: Mapping[tuple[int, int], Filling]
    limits: Mapping[Key, SharedLimit]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return every way to fill a rack."""
        return tuple(pattern for each in self.fillings.values() for pattern in each.patterns)

    def problem(self, *, without: str | None = None, margin: float = 0.0) -> Problem:
        """
        Return what the solver is asked.

        Args:
            without: A part of the chain, or cooling, whose limits do not count.
            margin: Part of each shared capacity that is left free.
        """
        patterns = self.patterns
        if without is not None:
            patterns = tuple(replace(pattern, adds=_less(pattern.adds, without)) for pattern in patterns)
        slack = {key: (1 - margin) * limit.capacity - (limit.load or 0.0) for key, limit in self.limits.items()}
        racks = [len(alike.racks) for alike in self.floor.alike]
        return Problem(patterns, racks, [want.count for want in self.wants], slack)


def _less(adds: Mapping[Key, float], name: str) -> dict[Key, float]:
    return {key: value for key, value in adds.items() if key[0] != name}


def model_of(floor: Floor, shared: Shared, wants: Sequence[Want], rules: Rules) -> Model:
    """Return every way to fill the floor with what is wanted."""
    fillings = {
        (group, pool): filling(floor, shared, (group, pool), want, rules)
        for pool, want in enumerate(wants)
        for group in range(len(floor.alike))
    }
    keys = {key for each in fillings.values() for pattern in each.patterns for key in pattern.adds}
    keys |= set(shared.losses())
    fillings = {place: replace(found, patterns=_completed(found, keys)) for place, found in fillings.items()}
    touched = {key for each in fillings.values() for pattern in each.patterns for key in pattern.adds}
    limits = {key: shared.limit(key) for key in sorted(touched, key=lambda key: (key[0], key[1] or ""))}
    return Model(floor, shared, wants, fillings, limits)


def _completed(found: Filling, keys: Collection[Key]) -> tuple[Pattern, ...]:
    """Return patterns with what they add after losses that do not concern their racks: the same as without a loss."""
    return tuple(
        replace(
            pattern,
            adds={
                **{
                    key: pattern.adds[key[0], None]
                    for key in keys
                    if key[1] is not None and key[1] not in pattern.above and (key[0], None) in pattern.adds
                },
                **pattern.adds,
            },
        )
        for pattern in found.patterns
    )


def fits(patterns: Sequence[Pattern], solution: Sequence[int], pool: int) -> int:
    """Return how many nodes of a pool a solution places."""
    pairs = zip(patterns, solution, strict=True)
    return sum(count * len(pattern.units) for pattern, count in pairs if pattern.pool == pool)


def limits(model: Model, solution: Sequence[int], pool: int) -> tuple[Limit, ...]:
    """Return what stops one more node of a pool, that of most racks first; nothing where there is room."""
    loads = _loads(model, solution)
    stops = [_of_group(model, solution, (group, pool), loads) for group in range(len(model.floor.alike))]
    if any(found is None for found in stops):
        return ()
    merged: dict[tuple[str, str], Limit] = {}
    for alike, found in zip(model.floor.alike, stops, strict=True):
        for limit in found or ():
            # Of racks that have the same trouble in several rows, the first is named.
            key = (limit.check, re.sub(rf"\b{re.escape(alike.names[0])}\b", "", limit.what))
            before = merged.get(key)
            merged[key] = replace(before, racks=(*before.racks, *limit.racks)) if before else limit
    return tuple(sorted(merged.values(), key=lambda limit: (-len(limit.racks), limit.check, limit.what)))


def unsure(model: Model, solution: Sequence[int]) -> tuple[str, ...]:
    """Return what could not be judged of the racks that a solution fills."""
    models: dict[tuple[str, ...], None] = {}
    for pattern, count in zip(model.patterns, solution, strict=True):
        if count and pattern.weightless:
            models[pattern.weightless] = None
    names = sorted({name for those in models for name in those})
    return (f"weight: the catalog has no weight_kg of {', '.join(names)}",) if names else ()


def _loads(model: Model, solution: Sequence[int]) -> Counter[Key]:
    """Return what a solution adds to each shared limit."""
    loads: Counter[Key] = Counter()
    for pattern, count in zip(model.patterns, solution, strict=True):
        for key, value in pattern.adds.items():
            loads[key] += count * value  # type: ignore[assignment]  # a counter of watts
    return loads


def _of_group(
    model: Model, solution: Sequence[int], place: tuple[int, int], loads: Counter[Key]
) -> tuple[Limit, ...] | None:
    """
    Return what stops a group's racks: their own limits where all are full, else the shared ones without room.

    None where nothing does.
    """
    group, _ = place
    found = model.fillings[place]
    names = model.floor.alike[group].names
    used = [(p, count) for p, count in zip(model.patterns, solution, strict=True) if p.group == group and count]
    full = sum(count for pattern, count in used if pattern.pool != place[1] or pattern == _largest(found))
    if not found.patterns or full == len(names):
        return found.stops
    return _shared_stops(model, found, used, loads, names) or None


def _largest(found: Filling) -> Pattern | None:
    return found.patterns[-1] if found.patterns else None


def _shared_stops(
    model: Model, found: Filling, used: Sequence[tuple[Pattern, int]], loads: Counter[Key], names: tuple[str, ...]
) -> tuple[Limit, ...]:
    """Return the shared limits that one more node in any of a group's racks would pass."""
    stops: dict[str, Limit] = {}
    for step in _steps(found, used, len(names)):
        for key, more in step.items():
            limit = model.limits[key]
            load = (limit.load or 0.0) + loads[key]
            if load + more > limit.capacity * (1 + _FEWEST) and limit.name not in stops:
                what = limit.exceeded(loads[key] + more)
                fix = f"raise what {limit.name} can carry, or use racks that hang elsewhere"
                stops[limit.name] = Limit(check=limit.check, what=what, fix=fix, racks=names)
    return tuple(stops.values())


def _steps(found: Filling, used: Sequence[tuple[Pattern, int]], racks: int) -> list[dict[Key, float]]:
    """Return what each way to put one more node into a rack of the group adds to the shared limits."""
    steps = []
    by_count = {len(pattern.units): pattern for pattern in found.patterns}
    if sum(count for _, count in used) < racks:
        steps.append(dict(by_count[1].adds))
    for pattern, _ in used:
        larger = by_count.get(len(pattern.units) + 1)
        if larger is not None:
            keys = {**larger.adds, **pattern.adds}
            steps.append({key: larger.adds.get(key, 0.0) - pattern.adds.get(key, 0.0) for key in keys})
    return steps


def relaxations(model: Model, found: Sequence[Limit], placed: int, rules: Rules) -> tuple[Relaxation, ...]:
    """Return what each limit costs: how many nodes fit if it alone were gone. Those that change nothing are absent."""
    names = {limit.name for limit in model.limits.values()}
    by_check = {limit.check: limit for limit in found if not limit.unknown and limit.check != NO_SPACE}
    costs = [_without_part(model, name) for name in sorted(names)]
    costs += [_without_check(model, limit, rules) for limit in by_check.values()]
    helpful = [cost for cost in costs if cost.fits > placed]
    return tuple(sorted(helpful, key=lambda cost: (-cost.fits, cost.check, cost.what)))


def _total(problem: Problem) -> int:
    solution = solve(problem, tidy=False)
    return sum(count * len(pattern.units) for pattern, count in zip(problem.patterns, solution, strict=True))


def _without_part(model: Model, name: str) -> Relaxation:
    check = next(limit.check for limit in model.limits.values() if limit.name == name)
    return Relaxation(check=check, what=f"the limit of {name}", fits=_total(model.problem(without=name)))


def _without_check(model: Model, limit: Limit, rules: Rules) -> Relaxation:
    relaxed = model_of(model.floor, model.shared, model.wants, replace(rules, ignored=(limit.check,)))
    return Relaxation(check=limit.check, what=limit.fix, fits=_total(relaxed.problem()))
