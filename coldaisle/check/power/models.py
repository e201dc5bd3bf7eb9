"""Checks of the models that power names: UPS against their ratings, and circuits against their rack PDUs."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import catalog_line
from coldaisle.check.ratings import known, rated
from coldaisle.plan.model import SitePlan
from coldaisle.spec.plant import RackPdu
from coldaisle.spec.power import PowerFeed
from coldaisle.spec.sections import SiteSpec

Mismatch = tuple[str, str, str, str]
"""Key of the feed, figure of the PDU, what does not fit, and what to do."""

SAME_VOLTAGE = 0.05
"""Part by which nominal voltages of one grid differ in documents: 230 V to neutral and 400 V line to line are one."""


def check_ups_ratings(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A UPS that names its model gives no more, and loses no less, than its units are rated for."""
    del plan
    for at, part in enumerate(spec.facility.power.upstream):
        loc = ("facility", "power", "upstream", at)
        yield from rated(spec, loc, "ups", part.model, ("capacity_w", part.capacity_w, part.units))
        model = spec.catalog.ups.get(part.model or "")
        if model and model.efficiency and part.efficiency and part.efficiency > model.efficiency:
            what = f"an efficiency of {part.efficiency:g} is more than a {part.model} has, {model.efficiency:g}"
            have = catalog_line(spec, "ups", part.model or "", "efficiency")
            fix = f"give efficiency: {model.efficiency:g} or less"
            yield finding(spec, (*loc, "efficiency"), "above-rating", what=what, have=have, fix=fix)


def check_pdus(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A circuit that names its rack PDU has that PDU's phases and volts, and no more amperes, banks and outlets."""
    del plan
    for path, rack in {rack.path: rack.spec for rack in spec.racks}.items():
        for at, feed in enumerate(rack.power_feeds):
            if feed.pdu is None:
                continue
            loc = (*path, "power_feeds", at)
            pdu = spec.catalog.pdus.get(feed.pdu)
            if pdu is None:
                yield from known(spec, (*loc, "pdu"), "pdus", feed.pdu)
                continue
            for key, figure, what, fix in _mismatches(feed, pdu):
                have = catalog_line(spec, "pdus", feed.pdu, figure)
                said = f"feed {feed.name} has {what} of PDU {feed.pdu}"
                yield finding(spec, (*loc, key), "pdu-mismatch", what=said, have=have, fix=fix)


def _mismatches(feed: PowerFeed, pdu: RackPdu) -> Iterator[Mismatch]:
    if feed.phases != pdu.phases:
        phases = f"{feed.phases} and not the {pdu.phases} phases"
        yield "phases", "phases", phases, "correct phases, or choose another PDU"
        return
    asked_v, made_for_v = _to_neutral_v(feed), _to_neutral_v(pdu)
    if abs(asked_v / made_for_v - 1) > SAME_VOLTAGE:
        volts = f"{feed.voltage_v:g} V {feed.voltage_reference} and not the {pdu.voltage_v:g} V {pdu.voltage_reference}"
        yield "voltage_v", "voltage_v", volts, "correct the volts or what they are measured against, or the PDU"
    if feed.breaker_a > pdu.inlet_a:
        amps = f"a breaker of {feed.breaker_a:g} A, above the {pdu.inlet_a:g} A of the inlet"
        yield "breaker_a", "inlet_a", amps, f"lower breaker_a to {pdu.inlet_a:g}, or choose another PDU"
    yield from _bank_mismatches(feed, pdu)


def _bank_mismatches(feed: PowerFeed, pdu: RackPdu) -> Iterator[Mismatch]:
    if pdu.banks is not None and len(feed.banks) > pdu.banks:
        banks = f"{len(feed.banks)} banks, more than the {pdu.banks}"
        yield "banks", "banks", banks, "name the banks that are printed on it"
    above = [bank for bank in feed.banks if pdu.bank_breaker_a is not None and bank.breaker_a > pdu.bank_breaker_a]
    if above:
        first = f"bank {above[0].name} with {above[0].breaker_a:g} A, above the {pdu.bank_breaker_a:g} A of each bank"
        yield "banks", "bank_breaker_a", first, f"lower its breaker_a to {pdu.bank_breaker_a:g}"
    outlets = sum(bank.outlets or 0 for bank in feed.banks)
    if pdu.outlets and outlets > sum(pdu.outlets.values()):
        many = f"{outlets} outlets in its banks, more than the {sum(pdu.outlets.values())}"
        yield "banks", "outlets", many, "count the outlets of each bank again"


def _to_neutral_v(of: PowerFeed | RackPdu) -> float:
    """Return three phases' volts to neutral, and those of one phase as they are."""
    line_to_line = of.phases != 1 and of.voltage_reference == "line-to-line"
    return of.voltage_v / sqrt(3) if line_to_line else of.voltage_v


MODEL_CHECKS = (check_ups_ratings, check_pdus)
