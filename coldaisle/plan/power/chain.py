"""
The power chain above the racks: what each part carries through any depth, and who feeds whom when a part is lost.

Losses are tried one by one at every part, so what a loss changes is followed upwards from the racks that it touches,
and the rest of the chain stays as it was: ten thousand racks cost ten times as much as a thousand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coldaisle.spec.power import UpstreamPower

_DECIMALS = 6
"""Loads are rounded to a millionth of a watt, so that the order of a sum does not show."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Watts that are known, and how many addends are not: a sum with any of these is not known."""

    known_w: float = 0.0
    unknown: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of two tallies."""
        return Tally(self.known_w + other.known_w, self.unknown + other.unknown)

    def times(self, factor: float) -> Tally:
        """Return the tally with its watts multiplied; what is not known stays so."""
        return Tally(self.known_w * factor, self.unknown)

    def of(self, count: int) -> Tally:
        """Return the tally of so many alike; a negative count takes them away."""
        return Tally(self.known_w * count, self.unknown * count)

    @property
    def load_w(self) -> float | None:
        """Return the sum in watts, or None where an addend is not known."""
        return None if self.unknown else round(self.known_w, _DECIMALS)


def tally(load_w: float | None) -> Tally:
    """Return one load as a tally."""
    return Tally(0.0, 1) if load_w is None else Tally(load_w)


def ancestors(name: str | None, chain: Mapping[str, UpstreamPower]) -> tuple[str, ...]:
    """Return a part of the chain and everything above it; a loop or an unknown name ends the walk."""
    found: dict[str, None] = {}
    while name is not None and name in chain and name not in found:
        found[name] = None
        name = chain[name].fed_by
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Outage:
    """The chain with a part lost: parts that are dark, and those whose load another part has taken over."""

    dark: frozenset[str] = frozenset()
    moved: Mapping[str, str] | None = None

    def feeds(self, name: str | None) -> bool:
        """Return whether what hangs on a part has power: from it, or from what took it over."""
        return name not in self.dark or (self.moved is not None and name in self.moved)

    def caught_by(self, name: str) -> str | None:
        """Return what took over for a part."""
        return self.moved.get(name) if self.moved else None


NO_OUTAGE = Outage()


class Chain:
    """The parts of a power chain by name, with what each feeds and what takes over for it."""

    def __init__(self, parts: Iterable[UpstreamPower]) -> None:
        """Take the parts; of two with one name the last counts, and a check tells of it."""
        self.parts = {part.name: part for part in parts}
        self._outages: dict[str, Outage] = {}
        self._above: dict[str | None, tuple[str, ...]] = {}

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the parts that each part feeds."""
        children: defaultdict[str, list[str]] = defaultdict(list)
        for part in self.parts.values():
            if part.fed_by is not None:
                children[part.fed_by].append(part.name)
        return {name: tuple(names) for name, names in children.items()}

    @cached_property
    def catchers(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the parts that take over for each part."""
        catchers: defaultdict[str, list[str]] = defaultdict(list)
        for part in self.parts.values():
            for name in part.catcher_for:
                catchers[name].append(part.name)
        return {name: tuple(names) for name, names in catchers.items()}

    def above(self, name: str | None) -> tuple[str, ...]:
        """Return a part and everything above it."""
        if name not in self._above:
            self._above[name] = ancestors(name, self.parts)
        return self._above[name]

    def below(self, name: str) -> tuple[str, ...]:
        """Return a part and everything below it."""
        found = {name: None}
        waiting = [name]
        while waiting:
            new = [child for child in self.children.get(waiting.pop(), ()) if child not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return tuple(found)

    def outage(self, lost: str) -> Outage:
        """Return what is dark, and what is taken over, when a part is lost."""
        if lost not in self._outages:
            self._outages[lost] = _outage(self, lost)
        return self._outages[lost]


def _outage(chain: Chain, lost: str) -> Outage:
    """
    Return the state of a chain without one of its parts.

    A part lives when it is not lost and what feeds it has power; what hangs on a part has power when the part lives, or
    one that takes over for it does. What has power first keeps that source, so that nothing feeds itself in the end.
    """
    below = chain.below(lost)
    if not chain.catchers:
        return Outage(frozenset(below), {})
    dark, without = set(below), set(below)
    moved: dict[str, str] = {}
    before = len(without) + 1
    while len(without) < before:
        before = len(without)
        for name in (part for part in below if part in without):
            if name != lost and chain.parts[name].fed_by not in without:
                dark.discard(name)
                without.discard(name)
            elif catcher := next((c for c in chain.catchers.get(name, ()) if c not in dark), None):
                moved[name] = catcher
                without.discard(name)
    return Outage(frozenset(dark), dict(sorted(moved.items())))


# -- loads ----------------------------------------------------------------------------------------------------------
def chain_loads_w(
    parts: Sequence[UpstreamPower], leaf_loads: Mapping[str, Sequence[float | None]]
) -> dict[str, float | None]:
    """
    Return what each part of the chain gives to what hangs below it, through any depth, in watts.

    Args:
        parts: Utility, UPS, panels …
        leaf_loads: Loads of the circuits that hang on a part directly, by its name.

    A part draws more than it gives by its losses. A draw that an operator allocated to a part replaces the sum of what
    hangs below it.
    """
    hanging = {name: sum((tally(load) for load in loads), Tally()) for name, loads in leaf_loads.items()}
    return {name: found.load_w for name, found in chain_loads(Chain(parts), hanging).items()}


def chain_loads(chain: Chain, hanging: Mapping[str, Tally]) -> dict[str, Tally]:
    """Return what each part gives, when all of the chain stands, from what hangs on each part directly."""
    loads: dict[str, Tally] = {
        name: Tally() if part.allocated_w is None else Tally(part.allocated_w) for name, part in chain.parts.items()
    }
    for name, found in hanging.items():
        _climb(chain, NO_OUTAGE, name, found, loads)
    for part in chain.parts.values():
        if part.allocated_w is not None and part.fed_by != part.name:
            _climb(chain, NO_OUTAGE, part.fed_by, drawn(part, loads[part.name]), loads)
    return loads


def chain_loads_after(
    chain: Chain, lost: str, full: Mapping[str, Tally], changes: Mapping[str, Tally]
) -> dict[str, Tally]:
    """
    Return what each part gives whose load a loss changes; what is dark and that nothing takes over for is left out.

    Args:
        chain: The power chain.
        lost: The part that is lost.
        full: What each part gives when all of the chain stands.
        changes: How the loads of circuits that still have power change, by the part that they hang on.
    """
    outage = chain.outage(lost)
    moved = outage.moved or {}
    added: dict[str, Tally] = {}
    for name, change in changes.items():
        _climb(chain, outage, name, change, added)
    for name, catcher in moved.items():
        _climb(chain, outage, catcher, full[name], added)
    for part in (chain.parts[name] for name in dict.fromkeys([lost, *moved])):
        if part.fed_by != part.name:
            _climb(chain, outage, part.fed_by, drawn(part, full[part.name]).of(-1), added)
    return {name: full[name] + found for name, found in added.items() if outage.feeds(name)}


def _climb(chain: Chain, outage: Outage, name: str | None, load: Tally, loads: dict[str, Tally]) -> None:
    """Add a load to a part and, with the losses on the way, to all above it; allocations and dark parts end the way."""
    seen: set[str] = set()
    while name is not None and name in chain.parts and name not in seen:
        part, caught = chain.parts[name], outage.caught_by(name)
        if part.allocated_w is not None or (name in outage.dark and caught is None):
            return
        seen.add(name)
        loads[name] = loads.get(name, Tally()) + load
        # What took over feeds the part's own bars, so the part's losses are not on the way.
        load, name = (load, caught) if caught else (drawn(part, load), part.fed_by)


def drawn(part: UpstreamPower, given: Tally) -> Tally:
    """Return what a part draws to give a load."""
    return given if part.efficiency is None else given.times(1 / part.efficiency)


def loss_w(part: UpstreamPower, given_w: float | None) -> float | None:
    """Return what a part loses while it gives a load, in watts; None where either is not known."""
    if given_w is None or part.efficiency is None:
        return None
    return given_w / part.efficiency - given_w
