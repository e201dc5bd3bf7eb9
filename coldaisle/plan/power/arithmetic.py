"""
Power arithmetic: what a feed may carry, how a device loads its feeds, and what is left after a loss.

A figure that is not known stays unknown through every sum: a missing draw must never count as zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from typing import Literal

from coldaisle.plan.model import NO_DRAWS, DrawsPlan
from coldaisle.spec.catalog import PowerShelves, Psus, System
from coldaisle.spec.power import ShelfRedundancy, VoltageReference

Watts = float | None
"""Watts, or None where a figure is not known."""


def total(values: Iterable[float | None]) -> float | None:
    """Return a sum, or None when any addend is not known."""
    result = 0.0
    for value in values:
        if value is None:
            return None
        result += value
    return result


def total_draws(draws: Iterable[DrawsPlan]) -> DrawsPlan:
    """Return the sums of draws, each kind by itself; None for a kind of which any addend is not known."""
    every = tuple(draws)
    return DrawsPlan(
        typical_w=total(each.typical_w for each in every),
        transient_w=total(each.transient_w for each in every),
        startup_w=total(each.startup_w for each in every),
    )


def worst(values: Iterable[float | None]) -> float | None:
    """Return the largest value, or None when any is not known: the unknown one may be the largest."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return max(known, default=0.0)


def feed_capacity_w(  # noqa: PLR0913 - the six figures of a circuit
    *,
    voltage_v: float,
    voltage_reference: VoltageReference,
    phases: Literal[1, 3],
    breaker_a: float,
    derating: float,
    power_factor: float = 1.0,
) -> float:
    """
    Return the power that one feed may carry continuously, in watts.

    Three phases carry sqrt(3) x V x A where the volts are line to line, and 3 x V x A where they are line to neutral;
    one phase carries V x A. Example: 415 V line to line, 60 A, derating 0.8 gives 34 502 W.
    """
    factor = 1.0
    if phases == 3:  # noqa: PLR2004 - three phases
        factor = sqrt(3) if voltage_reference == "line-to-line" else 3.0
    return factor * voltage_v * breaker_a * derating * power_factor


def shelf_power_w(shelves: PowerShelves, *, redundancy: ShelfRedundancy) -> float:
    """
    Return what the power shelves of a rack-scale system give, in watts.

    Args:
        shelves: How many shelves of how many supplies.
        redundancy: What may fail without loss: nothing, one whole shelf, or one supply of each shelf. It is a choice
            of the site and has no default: 8 shelves of 6 x 5.5 kW are 264 kW on the nameplate, 231 kW with a spare
            shelf and 220 kW with a spare supply in each.
    """
    count = shelves.count - (redundancy == "shelf")
    supplies = shelves.psus_each - (redundancy == "supply")
    return count * supplies * shelves.psu_w


def shelf_supplies(system: System, draw_w: float | None) -> Psus | None:
    """
    Return the power shelves of a rack-scale system as supplies, each with its own inlets: how many it has and needs.

    None for a system without shelves, or with a draw that is not known. How many supplies of a shelf may fail is a
    choice of the site that a check asks for; here a shelf gives all that it can.
    """
    shelves = system.power_shelves
    if shelves is None or draw_w is None:
        return None
    needed = min(shelves.count, max(1, ceil(draw_w / (shelves.psus_each * shelves.psu_w))))
    return Psus(count=shelves.count, needed=needed)


@dataclass(frozen=True, slots=True)
class Load:
    """A device's largest draw, what it draws otherwise, and how many power supplies it has; None is not known."""

    draw_w: float | None
    psus: int | None
    draws: DrawsPlan = NO_DRAWS

    def of_kind(self, kind: str) -> Load:
        """Return the load with another kind of draw in place of the largest, by its name in DrawsPlan."""
        return Load(getattr(self.draws, kind), self.psus)


@cache
def spread_psus(psus: int, feeds: int) -> tuple[int, ...]:
    """Return how many of a device's supplies hang on each feed: dealt out in turn, as racks are cabled."""
    return tuple(psus // feeds + (1 if feed < psus % feeds else 0) for feed in range(feeds))


@cache
def feed_shares(psus: int, feeds: int, lost: frozenset[int]) -> tuple[float, ...]:
    """
    Return the part of a device's draw that each feed carries.

    Supplies share the draw evenly. A device whose supplies all hung on lost feeds counts on the others, since somebody
    will plug it over: so a loss never makes the total smaller.
    """
    spread = spread_psus(psus, feeds)
    live = [0 if feed in lost else spread[feed] for feed in range(feeds)]
    if not any(live):
        live = [0 if feed in lost else 1 for feed in range(feeds)]
    return tuple(count / sum(live) for count in live) if any(live) else (0.0,) * feeds


def feed_loads_w(loads: Iterable[Load], feeds: int, lost: frozenset[int] = frozenset()) -> tuple[float | None, ...]:
    """
    Return what each feed of a rack carries, in watts, with some feeds lost.

    A device with one feed loads it wholly; how one with an unknown number of supplies loads several is not known.
    """
    sums: list[float | None] = [0.0] * feeds
    for load in loads:
        psus = load.psus if feeds > 1 else 1
        if load.draw_w is None or psus is None:
            return tuple(0.0 if feed in lost else None for feed in range(feeds))
        for feed, share in enumerate(feed_shares(psus, feeds, lost)):
            sums[feed] = (sums[feed] or 0.0) + share * load.draw_w
    return tuple(sums)
