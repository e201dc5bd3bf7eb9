"""Checks of power: feeds and the chain above them, in full and after a loss, and supplies that stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import (
    catalog_place,
    circuit,
    draws,
    feeds_of,
    grouped_by,
    named,
    rack_finding,
    racks_of,
)
from coldaisle.check.power_banks import BANK_CHECKS
from coldaisle.check.power_draws import DRAW_CHECKS
from coldaisle.check.power_supplies import SUPPLY_CHECKS, psus_of
from coldaisle.plan.model import DevicePlacement, FeedPlan, RackPlan, SitePlan, UpstreamPlan
from coldaisle.plan.power_chain import Chain, ancestors
from coldaisle.spec.base import near_miss
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import percent, watts

Feed = tuple[RackPlan, int, FeedPlan]


# -- feeds ------------------------------------------------------------------------------------------------------
def check_feed_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No feed carries more than its breaker may carry continuously."""
    over = [item for item in feeds_of(plan) if (item[2].load_w or 0) > item[2].capacity_w]
    for group in _alike(spec, over):
        _, _, feed = group[0]
        names = [rack.name for rack, _, _ in group]
        what = (
            f"{named(names)} need{'s' if len(names) == 1 else ''} {watts(feed.load_w)} on feed {feed.name}, "
            f"which carries {watts(feed.capacity_w)} ({circuit(feed)})"
        )
        yield _at_feed(spec, group[0], "power-over-budget", what, feed.load_w or 0)


def check_feed_loss(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After the loss of any one feed, and of any one part of the chain above, the other feeds carry the load."""
    over = [
        item
        for item in feeds_of(plan)
        if (item[2].load_w or 0) <= item[2].capacity_w < (item[2].load_after_loss_w or 0)
    ]
    for group in _alike(spec, over):
        rack, at, feed = group[0]
        others = [other for place, other in enumerate(rack.feeds) if place != at]
        # A part of the chain above may take several feeds at once.
        above = ", or what feeds them," if len(others) > 1 and any(other.upstream for other in others) else ""
        names = [rack.name for rack, _, _ in group]
        load_w = feed.load_after_loss_w or 0
        what = (
            f"if feed {' or '.join(other.name for other in others)} of {named(names)}{above} fails, "
            f"feed {feed.name} carries {watts(load_w)}, "
            f"{percent(load_w, feed.capacity_w)} of its {watts(feed.capacity_w)} ({circuit(feed)})"
        )
        yield _at_feed(spec, group[0], "feed-loss-overload", what, load_w)


def _alike(spec: SiteSpec, feeds: Iterable[Feed]) -> list[list[Feed]]:
    """Return feeds of one line of the spec with one load as one group: they have one cause and one fix."""
    racks = racks_of(spec)

    def cause(item: Feed) -> tuple[Loc, int, float | None, float | None]:
        rack, at, feed = item
        return racks[rack.name].path, at, feed.load_w, feed.load_after_loss_w

    return list(grouped_by(feeds, cause).values())


def _at_feed(spec: SiteSpec, item: Feed, check: str, what: str, load_w: float) -> Finding:
    rack, at, feed = item
    amps = ceil(feed.breaker_a * load_w / feed.capacity_w)
    servers = _servers_to_move(rack, feed, load_w)
    cap = _cap_that_helps(rack, feed, load_w)
    move = (f"move {servers}, " if servers else "") + (f"cap each node at {watts(cap)}, " if cap else "")
    return rack_finding(
        spec,
        racks_of(spec)[rack.name],
        check,
        what=what,
        have=draws(spec, rack),
        fix=f"{move}{'or ' if move else ''}raise breaker_{feed.name} to {amps}",
        below=("power_feeds", at),
        path=f".power_feeds[{feed.name}]",
    )


def _servers_to_move(rack: RackPlan, feed: FeedPlan, load_w: float) -> str:
    """Return how many of the largest devices must go, in words, or nothing when their number does not help."""
    largest = max((device.max_power_w or 0.0 for device in rack.devices), default=0.0)
    if not largest or not rack.power_w:
        return ""
    on_this_feed = largest * load_w / rack.power_w
    count = ceil((load_w - feed.capacity_w) / on_this_feed)
    words = {1: "one server", 2: "two servers", 3: "three servers"}
    return words.get(count, f"{count} servers") if count < len(rack.devices) else ""


def _cap_that_helps(rack: RackPlan, feed: FeedPlan, load_w: float) -> float | None:
    """Return the power cap of each node that relieves a feed, in watts; None where it would take more than half."""
    nodes = [device.max_power_w or 0.0 for device in rack.devices if device.kind == "node"]
    if not nodes or not rack.power_w:
        return None
    excess_w = (load_w - feed.capacity_w) * rack.power_w / load_w
    cap_w = floor((sum(nodes) - excess_w) / len(nodes) / 10) * 10.0
    return cap_w if len(set(nodes)) == 1 and cap_w >= nodes[0] / 2 else None


# -- the chain above --------------------------------------------------------------------------------------------
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
    for rack in racks_of(spec).values():
        for at, feed in enumerate(rack.spec.power_feeds):
            yield (*rack.path, "power_feeds", at, "upstream"), feed.upstream
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


# -- figures ----------------------------------------------------------------------------------------------------
def check_missing_figures(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each device that stands in a rack has the figures that the ledgers need."""
    racks: dict[tuple[str, str, str], list[str]] = {}
    for rack in plan.facility.racks:
        for device in rack.devices:
            for figure in _missing(spec, rack, device):
                racks.setdefault((device.kind, device.model, figure), []).append(rack.name)
    for (kind, model, figure), names in racks.items():
        entry = ("switches" if kind == "switch" else "systems", model)
        budget = {"switch": "the fabric's tier", "service": "the device"}.get(kind)
        other = f", or give max_power_w of {budget}" if budget and figure == "max_power_w" else ""
        yield Finding(
            check="missing-figure",
            where=catalog_place(spec, *entry),
            path=f"{entry[0]}.{model}",
            what=f"the catalog has no {figure} of {model}, needed in {named(list(dict.fromkeys(names)))}",
            have="",
            fix=f"add {figure} with its source{other}",
        )


def _missing(spec: SiteSpec, rack: RackPlan, device: DevicePlacement) -> Iterator[str]:
    if device.max_power_w is None:
        yield "max_power_w"
    if len(rack.feeds) > 1 and psus_of(spec, device) is None:
        yield "psus"
    if device.kind != "switch":
        system = spec.catalog.systems[device.model]
        yield from (name for name in ("height_u", "air_share") if getattr(system, name) is None)


POWER_CHECKS = (
    check_feed_capacity,
    check_feed_loss,
    *SUPPLY_CHECKS,
    check_upstream_names,
    check_upstream_capacity,
    check_catchers,
    *BANK_CHECKS,
    *DRAW_CHECKS,
    check_missing_figures,
)
