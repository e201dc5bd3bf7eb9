"""
What many racks share: the power chain above them, in full and after each loss, and cooling.

The loads of a shared part are sums over its racks, so each way to fill a rack adds a number of its own to each of them.
Those numbers come from the functions that plan the facility, with the rack as it is and with the new nodes in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coldaisle.plan.model import CoolingPlan, FacilityPlan
from coldaisle.plan.placement import Placed, loads_of
from coldaisle.plan.power.chain import Chain
from coldaisle.plan.power.racks import RackPowers
from coldaisle.plan.power.upstream import ChainPower
from coldaisle.proposal.floor import Floor, Trial
from coldaisle.spec.facility import PlacedRack
from coldaisle.units import grouped, kilowatts

Key = tuple[str, str | None]
"""A part of the chain and the part that is lost, or None; for cooling, the figure of it in place of the loss."""
_Loads = dict[str, float | None]
Adds = Mapping[Key, float | None]
"""What new nodes add to each limit; None is not known."""


@dataclass(frozen=True, slots=True)
class SharedLimit:
    """What something that many racks share carries now, and what it may carry, in its unit. None is not known."""

    name: str
    check: str
    when: str
    load: float | None
    capacity: float
    unit: str = "W"

    def exceeded(self, added: float) -> str:
        """Return in words what more would bring."""
        load = self._said((self.load or 0.0) + added)
        return f"{self.name} would carry {load} of {self._said(self.capacity)}{self.when}"

    def _said(self, value: float) -> str:
        return kilowatts(value) if self.unit == "W" else f"{grouped(value)} {self.unit}"


class Shared:
    """The limits of everything that racks share."""

    def __init__(self, floor: Floor) -> None:
        """Take the floor as it is, with the switches that are to come."""
        self._chain = Chain(floor.spec.facility.power.upstream)
        self._racks = RackPowers(self._chain)
        self._now = self._power((rack, floor.devices.get(rack.name, ())) for rack in floor.racks)
        self._capacities = {part.name: part.capacity_w for part in floor.plan.facility.upstream}
        self._limits = {key: limit for plan in floor.cooling for key, limit in _cooling_limits(plan)}
        self._before: dict[tuple[str, str | None], _Loads] = {}

    def _power(self, racks: Iterable[tuple[PlacedRack, tuple[Placed, ...]]]) -> ChainPower:
        powers = (self._racks.of(rack.spec.power_feeds, loads_of(devices)) for rack, devices in racks)
        return ChainPower(self._chain, powers)

    def limit(self, key: Key) -> SharedLimit:
        """Return one limit."""
        if key not in self._limits:
            name, lost = key
            load_w = _loads(self._now, lost).get(name, 0.0)
            check = "upstream-over-budget" if lost is None else "upstream-loss-overload"
            when = "" if lost is None else f" if {lost} fails"
            self._limits[key] = SharedLimit(name, check, when, load_w, self._capacities[name])
        return self._limits[key]

    def losses(self) -> Iterator[Key]:
        """Yield the parts of the chain whose load another's loss changes, with that other."""
        for lost in self._chain.parts:
            yield from ((name, lost) for name in _loads(self._now, lost) if name in self._now.after(lost))

    def above(self, rack: PlacedRack) -> frozenset[str]:
        """Return everything that is above a rack in the power chain."""
        return frozenset(part for feed in rack.spec.power_feeds for part in self._chain.above(feed.upstream))

    def added(self, before: Trial, after: Trial) -> dict[Key, float | None]:
        """
        Return what the new nodes of a rack add to each limit; what they do not touch is absent.

        The loss of a part that is not above the rack leaves what it adds as it is; such limits are absent too.
        """
        new = self._power([(after.rack, after.devices)])
        found: dict[Key, float | None] = {}
        for lost in (None, *sorted(self.above(before.rack))):
            was, now = self._loads_before(before, lost), _loads(new, lost)
            found |= {(name, lost): _difference(now[name], was[name]) for name in now}
        found |= _cooling_added(before.facility, after.facility)
        return {key: value for key, value in found.items() if value != 0}

    def _loads_before(self, before: Trial, lost: str | None) -> _Loads:
        key = before.rack.name, lost
        if key not in self._before:
            self._before[key] = _loads(self._power([(before.rack, before.devices)]), lost)
        return self._before[key]


def _loads(power: ChainPower, lost: str | None) -> _Loads:
    """Return what each part of a chain gives that is not dark with one part lost."""
    if lost is None:
        return {name: found.load_w for name, found in power.full.items()}
    dark = power.chain.outage(lost).dark
    return {name: found.load_w for name, found in {**power.full, **power.after(lost)}.items() if name not in dark}


def _cooling_limits(plan: CoolingPlan) -> Iterator[tuple[Key, SharedLimit]]:
    """Yield the limits of a loop that have a capacity: heat, air and coolant, each with the spare units out."""
    figures = (
        ("heat", "W", " with its spare units out", plan.load_w, plan.capacity_after_loss_w),
        ("heat after a loss", "W", " if another loop fails", plan.load_after_loss_w, plan.capacity_after_loss_w),
        ("air", "CFM", " of air", plan.supply_airflow_cfm, plan.airflow_capacity_cfm),
        ("coolant", "L/min", " of coolant", plan.coolant_after_loss_l_min, plan.coolant_capacity_l_min),
    )
    for figure, unit, when, load, capacity in figures:
        if capacity is not None:
            limit = SharedLimit(plan.name, "cooling-over-capacity", when, load, capacity, unit)
            yield (plan.name, figure), limit


def _cooling_added(before: FacilityPlan, after: FacilityPlan) -> dict[Key, float | None]:
    return {
        key: _difference(new.load, old.load)
        for was, now in zip(before.cooling, after.cooling, strict=True)
        for (key, old), (_, new) in zip(_cooling_limits(was), _cooling_limits(now), strict=True)
    }


def _difference(now: float | None, was: float | None) -> float | None:
    return None if now is None or was is None else now - was
