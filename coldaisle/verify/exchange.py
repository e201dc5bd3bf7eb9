"""
From wrong links to the fewest plugs to move.

Planned and seen links form chains and rings of ends. In a ring every plug has a place and each exchange of two plugs
mends one cable, so a ring of n cables takes n - 1 exchanges, in their order. In a chain a plug moves to the free end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coldaisle.plan.model import End

MANY = 200
"""Wrong ends among which the nearest plugs are looked for; with more, those at the first ends are mended first."""

Distance = Callable[[End, End], int]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two plugs to exchange: the one at `one`, whose cable's other end is `one_far`, and the one at `two`."""

    one: End
    one_far: End
    two: End
    two_far: End


@dataclass(frozen=True, slots=True)
class Move:
    """A plug to move from one port to another; its cable's other end stays."""

    at: End
    to: End
    far: End


@dataclass(frozen=True, slots=True)
class Removal:
    """A cable that no move brings to its place."""

    one: End
    two: End


Step = Exchange | Move | Removal


def key(end: End) -> tuple[str, str]:
    """Return what ends are sorted by."""
    return end.device, end.port


def components(planned: Mapping[End, End], seen: Mapping[End, End]) -> list[list[End]]:
    """Return the ends that wrong links join, each group sorted, and the groups by their first end."""
    wrong = {end for end, peer in seen.items() if planned.get(end) != peer}
    found: list[list[End]] = []
    done: set[End] = set()
    for start in sorted(wrong, key=key):
        if start not in done:
            group = _reach(start, planned, seen)
            done |= group
            found.append(sorted(group, key=key))
    return found


def _reach(start: End, planned: Mapping[End, End], seen: Mapping[End, End]) -> set[End]:
    group, rest = {start}, [start]
    while rest:
        end = rest.pop()
        new = {peer for links in (planned, seen) if (peer := links.get(end)) and peer not in group}
        group |= new
        rest.extend(new)
    return group


def steps(
    group: list[End], planned: Mapping[End, End], seen: Mapping[End, End], distance: Distance
) -> tuple[list[Step], dict[End, End]]:
    """Return what to do, in order, so that ends are joined as planned as far as cables are there; and what is then."""
    now = {end: seen[end] for end in group if end in seen}
    done: list[Step] = []
    while step := _next(group, planned, now, distance):
        done.append(step)
        _apply(step, now)
    return done, now


def _next(group: list[End], planned: Mapping[End, End], now: Mapping[End, End], distance: Distance) -> Step | None:
    wrong = [end for end in group if end in now and planned.get(end) not in {None, now[end]}][:MANY]
    moves = [Move(now[end], planned[end], end) for end in wrong if planned[end] not in now]
    if moves:
        return min(moves, key=lambda move: (distance(move.at, move.to), key(move.at), key(move.to)))
    swaps = [Exchange(now[end], end, planned[end], now[planned[end]]) for end in wrong]
    whole = [swap for swap in swaps if planned.get(swap.one) in now]
    if whole:
        return min(
            (_sorted(swap) for swap in whole),
            key=lambda swap: (distance(swap.one, swap.two), key(swap.one), key(swap.two)),
        )
    extra = next((end for end in group if end in now and planned.get(end) != now[end]), None)
    return Removal(*sorted((extra, now[extra]), key=key)) if extra else None


def _sorted(swap: Exchange) -> Exchange:
    if key(swap.one) <= key(swap.two):
        return swap
    return Exchange(swap.two, swap.two_far, swap.one, swap.one_far)


def _apply(step: Step, now: dict[End, End]) -> None:
    if isinstance(step, Exchange):
        now |= {step.one: step.two_far, step.two_far: step.one, step.two: step.one_far, step.one_far: step.two}
    elif isinstance(step, Move):
        del now[step.at]
        now |= {step.to: step.far, step.far: step.to}
    else:
        del now[step.one], now[step.two]
