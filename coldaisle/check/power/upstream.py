"""Checks of the chain above the racks: its names, its capacities, and the parts that take over for others."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan, UpstreamPlan
from coldaisle.plan.power.chain import Chain, ancestors
from coldaisle.spec.base import near_miss
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import percent, watts


def check_upstream_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each feed and each part of the chain hangs on a part that exists, and the chain ends."""
    del plan
    chain = {part.name: part for part in spec.facility.power.upstream}
    known = f"known: {', '.join(chain)}" if chain else ""
    by_place = {spec.marks.where(loc): (loc, name) for loc, name in reversed(list(_upstream_names(spec)))}
    for loc, name in reversed(by_place.values()):
        if name is not None and name not in chain:
            what, fix = f"there is no power.upstream named {name}", "correct the name, or add it to power.upstream"
            yield finding(spec, loc, "unknown-upstream", what=what, have=known, fix=fix)
        elif name is None and chain:
            what, fix = "the feed has no upstream, so nobody counts its load", "name what feeds the circuit"
            yield finding(spec, loc, "missing-upstream", what=what, have=known, fix=fix)
    for at, part in enumerate(spec.facility.power.upstream):
        path = ancestors(part.name, chain)
        above = chain[path[-1]].fed_by
        # A loop is told once, at the first name that is part of it.
        if above in path and part.name == min(path[path.index(above) :]):
            what = f"{part.name} feeds itself: {' < '.join([*path, above])}"
            loc = ("facility", "power", "upstream", at, "fed_by")
            yield finding(spec, loc, "upstream-loop", what=what, fix="remove fed_by at the top of the chain")


def _upstream_names(spec: SiteSpec) -> Iterator[tuple[Loc, str | None]]:
    for path, rack in {rack.path: rack for rack in spec.racks}.items():
        for at, feed in enumerate(rack.spec.power_feeds):
            yield (*path, "power_feeds", at, "upstream"), feed.upstream
    for at, part in enumerate(spec.facility.power.upstream):
        if part.fed_by is not None:
            yield ("facility", "power", "upstream", at, "fed_by"), part.fed_by
        for place, name in enumerate(part.catcher_for):
            yield ("facility", "power", "upstream", at, "catcher_for", place), name


def check_catchers(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A part that takes over for another does not hang below it, and its losses go to cooling that exists."""
    del plan
    chain = Chain(spec.facility.power.upstream)
    cooling = [unit.name for unit in spec.facility.cooling]
    for at, part in enumerate(spec.facility.power.upstream):
        loc = ("facility", "power", "upstream", at)
        for name in part.catcher_for:
            if name in chain.parts and not chain.outage(name).feeds(name):
                what = f"{part.name} takes over for {name}, and is dark when {name} fails"
                have = f"{part.name} hangs on {' < '.join(chain.above(part.name)[1:]) or 'itself'}"
                fix = f"feed {part.name} from another source"
                yield finding(spec, (*loc, "catcher_for"), "bad-catcher", what=what, have=have, fix=fix)
        if part.heat_to is not None and part.heat_to not in cooling:
            what = f"there is no cooling named {part.heat_to}"
            fix = near_miss(part.heat_to, cooling)
            yield finding(spec, (*loc, "heat_to"), "unknown-cooling", what=what, fix=fix)


def check_upstream_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Utility, UPS and panels carry what hangs below them, in full and after the loss of a part beside them."""
    for part in plan.facility.upstream:
        if (part.load_w or 0) > part.capacity_w:
            yield _at_part(spec, part, "upstream-over-budget", f"{part.name} carries {watts(part.load_w)}", part.load_w)
        elif (part.load_after_loss_w or 0) > part.capacity_w:
            load_w = part.load_after_loss_w
            what = f"if {part.worst_loss} fails, {part.name} carries {watts(load_w)}"
            yield _at_part(spec, part, "upstream-loss-overload", what, load_w)


def _at_part(spec: SiteSpec, part: UpstreamPlan, check: str, what: str, load_w: float | None) -> Finding:
    names = [upstream.name for upstream in spec.facility.power.upstream]
    loc = ("facility", "power", "upstream", names.index(part.name), "capacity_w")
    over = f", {percent(load_w or 0, part.capacity_w)} of its {watts(part.capacity_w)}"
    fix = f"raise its capacity to {watts(load_w)}, or feed some racks from elsewhere"
    return finding(spec, loc, check, what=what + over, fix=fix)
