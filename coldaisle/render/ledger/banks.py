"""Sums below a feed: the supplies of each breaker bank, and how amperes of banks and phases come about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coldaisle.check.places import racks_of
from coldaisle.plan.model import BankPlan, FeedPlan, RackPlan
from coldaisle.plan.placement import Placed
from coldaisle.plan.power.arithmetic import feed_shares
from coldaisle.plan.power.banks import Supply, bank_voltage_v, plug_in
from coldaisle.render.ledger.sums import Addend, Figure, Sum, added
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.power import Bank
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import watts


def bank_sums(spec: SiteSpec, rack: RackPlan, at: int, devices: Sequence[Placed]) -> Iterator[Sum]:
    """Yield the load of each bank of a feed, supply by supply."""
    placed, feeds = racks_of(spec)[rack.name], len(rack.feeds)
    feed = placed.spec.power_feeds[at]
    supplies = plug_in(feed, at, feeds, devices) if feed.banks else ()
    for index, bank in enumerate(feed.banks):
        where = spec.marks.where((*placed.path, "power_feeds", at, "banks", index))
        name = f"load of bank {bank.name} ({bank.phase or 'phase not known'})"
        if supplies is None:
            how = "how many supplies a device has is not known"
            yield added(name, "W", [Addend(item="supplies", how=how, value=None, source=where)])
        else:
            yield added(name, "W", (_supply(s, at, feeds, where) for s in supplies if s.bank == bank.name))


def _supply(supply: Supply, at: int, feeds: int, where: str) -> Addend:
    draw_w, psus = supply.device.placement.max_power_w, supply.device.psus
    share = feed_shares(psus.count, feeds, frozenset())[at] * supply.part if psus else None
    value = None if draw_w is None or share is None else draw_w * share
    how = f"{watts(draw_w)} through one of {psus.count if psus else 'an unknown number of'} supplies"
    return Addend(
        item=supply.label, how=how, value=value, source=f"rack unit {supply.device.placement.rack_unit}, {where}"
    )


def bank_figures(spec: SiteSpec, rack: RackPlan, at: int) -> Iterator[Figure]:
    """Yield amperes of each bank and each phase of a feed, and what each may carry."""
    placed, feed = racks_of(spec)[rack.name], rack.feeds[at]
    where = spec.marks.where((*placed.path, "power_feeds", at))
    for index, bank in enumerate(feed.banks):
        asked = placed.spec.power_feeds[at].banks[index]
        line = spec.marks.where((*placed.path, "power_feeds", at, "banks", index))
        yield from _bank(bank, _formula(placed, at, asked, bank), line)
    for phase in feed.phase_loads:
        on = [bank.name for bank in feed.banks if bank.phase and phase.name in bank.phase.split("-")]
        how = f"{' + '.join(on) or 'no bank'}, added with their angles" + _unknown(feed)
        yield Figure(name=f"phase {phase.name}", unit="A", value=phase.load_a, how=how, source=where)
        after = f"phase {phase.name} after the worst loss of another feed"
        yield Figure(name=after, unit="A", value=phase.load_after_loss_a, how=how, source=where)
        limit = f"{feed.breaker_a:g} A x {100 * feed.derating:g} %"
        yield Figure(name=f"phase {phase.name} may carry", unit="A", value=phase.capacity_a, how=limit, source=where)


def _bank(bank: BankPlan, formula: str, line: str) -> Iterator[Figure]:
    yield Figure(name=f"bank {bank.name}", unit="A", value=bank.load_a, how=formula, source=line)
    after = f"bank {bank.name} after the worst loss of another feed"
    yield Figure(name=after, unit="A", value=bank.load_after_loss_a, how="the same with the load then", source=line)
    limit = f"{bank.breaker_a:g} A x {100 * bank.capacity_a / bank.breaker_a:g} %"
    yield Figure(name=f"bank {bank.name} may carry", unit="A", value=bank.capacity_a, how=limit, source=line)


def _formula(placed: PlacedRack, at: int, asked: Bank, bank: BankPlan) -> str:
    feed = placed.spec.power_feeds[at]
    volts = bank_voltage_v(feed, asked)
    factor = f" / the supplies' power factor (the feed's is {feed.power_factor:g})"
    said = "volts of a phase that is not known" if volts is None else f"{volts:.1f} V"
    return f"{watts(bank.load_w)} / {said}{factor}"


def _unknown(feed: FeedPlan) -> str:
    if feed.unplugged:
        return f"; not known, since {', '.join(feed.unplugged)} have no outlet"
    lacking = [bank.name for bank in feed.banks if bank.phase is None and bank.load_w != 0]
    return f"; not known, since bank {', '.join(lacking)} names no phase" if lacking else ""
