"""Checks below a feed: banks and phases against their breakers, outlets, and how evenly the phases are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coldaisle.check.finding import Finding, Severity
from coldaisle.check.places import feeds_of, grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import BankPlan, FeedPlan, PhasePlan, RackPlan, SitePlan
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

_ROUNDING_A = 1e-6


def check_banks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No bank of a rack's PDU carries more than its breaker, in full and after the loss of a feed."""
    items = [(rack, at, feed, bank) for rack, at, feed in feeds_of(plan) for bank in feed.banks]
    yield from _over(spec, items, "bank", "bank-over-breaker", "move a supply to another bank, or raise its breaker_a")


def check_phases(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No phase of a feed carries more than the feed's breaker, in full and after the loss of another feed."""
    items = [(rack, at, feed, phase) for rack, at, feed in feeds_of(plan) for phase in feed.phase_loads]
    yield from _over(spec, items, "phase", "phase-over-breaker", "move a supply to a bank of another phase")


def _over(
    spec: SiteSpec,
    items: Iterable[tuple[RackPlan, int, FeedPlan, BankPlan | PhasePlan]],
    noun: str,
    check: str,
    fix: str,
) -> Iterator[Finding]:
    racks = racks_of(spec)
    over = [item for item in items if _worst_a(item[3]) > item[3].capacity_a + _ROUNDING_A]
    groups = grouped_by(over, lambda item: (racks[item[0].name].path, item[1], item[3].name, item[3].load_a))
    for group in groups.values():
        rack, at, feed, part = group[0]
        now = (part.load_a or 0) > part.capacity_a + _ROUNDING_A
        load_a = part.load_a if now else part.load_after_loss_a
        when = "" if now else "after the loss of another feed, "
        racks_named = named(list(dict.fromkeys(item[0].name for item in group)))
        what = f"{when}{noun} {part.name} of feed {feed.name} of {racks_named} carries {_amperes(load_a, part)}"
        have = f"supplies: {', '.join(part.supplies)}" if isinstance(part, BankPlan) else _by_phase(feed)
        yield _finding(spec, rack, at, check, what, have, fix)


def _worst_a(part: BankPlan | PhasePlan) -> float:
    return max(part.load_a or 0, part.load_after_loss_a or 0)


def _amperes(load_a: float | None, part: BankPlan | PhasePlan) -> str:
    return f"{load_a or 0:.2f} A and may carry {part.capacity_a:.2f} A"


def _by_phase(feed: FeedPlan) -> str:
    said = ("unknown" if phase.load_a is None else f"{phase.load_a:.1f} A" for phase in feed.phase_loads)
    return ", ".join(f"{phase.name} {load}" for phase, load in zip(feed.phase_loads, said, strict=True))


def check_phase_balance(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The phases of a feed differ by no more than the site allows; a feed with an unknown phase is told as such."""
    limit, racks = spec.facility.power.unbalance_limit, racks_of(spec)
    uneven = [item for item in feeds_of(plan) if _unbalance(item[2]) > limit]
    groups = grouped_by(uneven, lambda item: (racks[item[0].name].path, item[1], _by_phase(item[2])))
    for group in groups.values():
        rack, at, feed = group[0]
        what = (
            f"the phases of feed {feed.name} of {named([item[0].name for item in group])} differ by "
            f"{100 * _unbalance(feed):.0f} % of what one may carry, and {100 * limit:g} % is the site's limit"
        )
        fix = "move supplies to banks of the least loaded phase, or raise power.unbalance_limit"
        yield _finding(spec, rack, at, "phase-unbalance", what, _by_phase(feed), fix, "warning")


def _unbalance(feed: FeedPlan) -> float:
    """Return the difference between the most and the least loaded phase, as a part of what one may carry."""
    known = [phase.load_a for phase in feed.phase_loads if phase.load_a is not None]
    if not known or len(known) < len(feed.phase_loads):
        return 0.0
    return (max(known) - min(known)) / feed.phase_loads[0].capacity_a


def check_phases_known(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each bank that carries something says which phase it hangs on, or the phases of its feed are not known."""
    racks = racks_of(spec)
    items = [
        (rack, at, feed, bank)
        for rack, at, feed in feeds_of(plan)
        for bank in feed.banks
        if feed.phase_loads and bank.phase is None and bank.load_w != 0
    ]
    for group in grouped_by(items, lambda item: (racks[item[0].name].path, item[1])).values():
        rack, at, feed, _ = group[0]
        banks = list(dict.fromkeys(bank.name for _, _, _, bank in group))
        who = named(list(dict.fromkeys(item[0].name for item in group)))
        what = f"no phase is given for {named(banks, 'bank')} of feed {feed.name} of {who}, so its phases are unknown"
        yield _finding(
            spec, rack, at, "phase-unknown", what, "", "give the phase that is printed on the PDU", "warning"
        )


def check_outlets(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each supply finds an outlet at a bank."""
    racks = racks_of(spec)
    items = [item for item in feeds_of(plan) if item[2].unplugged]
    for group in grouped_by(items, lambda item: (racks[item[0].name].path, item[1], len(item[2].unplugged))).values():
        rack, at, feed = group[0]
        who, supplies = named([item[0].name for item in group]), counted(len(feed.unplugged), "supply", "supplies")
        what = f"no bank of feed {feed.name} of {who} has an outlet for {supplies}"
        have = f"without an outlet: {', '.join(feed.unplugged)}"
        fix = "add a bank for these rack units or outlets to one, or move a device"
        yield _finding(spec, rack, at, "no-free-outlet", what, have, fix)


def _finding(  # noqa: PLR0913, PLR0917 - the parts of a finding
    spec: SiteSpec, rack: RackPlan, at: int, check: str, what: str, have: str, fix: str, severity: Severity = "error"
) -> Finding:
    return rack_finding(
        spec,
        racks_of(spec)[rack.name],
        check,
        what=what,
        have=have,
        fix=fix,
        below=("power_feeds", at, "banks"),
        path=f".power_feeds[{rack.feeds[at].name}].banks",
        severity=severity,
    )


BANK_CHECKS = (check_banks, check_phases, check_phase_balance, check_phases_known, check_outlets)
