"""Checks of power: feeds and the chain above them, in full and after a loss, and supplies that stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from coldaisle.check.finding import Finding, Severity, finding
from coldaisle.check.places import (
    catalog_line,
    catalog_place,
    circuit,
    draws,
    feeds_of,
    grouped_by,
    named,
    rack_finding,
    racks_of,
)
from coldaisle.plan.model import DevicePlacement, FeedPlan, RackPlan, SitePlan, UpstreamPlan
from coldaisle.plan.power import shelf_supplies, spread_psus
from coldaisle.plan.power_chain import ancestors
from coldaisle.spec.catalog import Psus
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, percent, watts

Feed = tuple[RackPlan, int, FeedPlan]

MOST_FEEDS = 4
"""Feeds that a rack may be asked to have: more are not built."""


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
    move = f"move {servers}, or " if servers else ""
    return rack_finding(
        spec,
        racks_of(spec)[rack.name],
        check,
        what=what,
        have=draws(spec, rack),
        fix=f"{move}raise breaker_{feed.name} to {amps}",
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


# -- supplies ---------------------------------------------------------------------------------------------------
def check_psu_redundancy(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After the loss of one feed, each device keeps the supplies that it needs."""
    placed = [
        (rack, device, psus)
        for rack in plan.facility.racks
        for device in rack.devices
        for psus in (_psus(spec, device),)
        if psus is not None and _kept(psus, len(rack.feeds)) < psus.needed
    ]
    racks = racks_of(spec)
    for group in grouped_by(placed, lambda item: (racks[item[0].name].path, item[1].model)).values():
        rack, device, psus = group[0]
        names = list(dict.fromkeys(item[0].name for item in group))
        yield _supplies_finding(spec, rack, device, psus, names)


def _psus(spec: SiteSpec, device: DevicePlacement) -> Psus | None:
    if device.kind == "switch":
        return spec.catalog.switches[device.model].psus
    system = spec.catalog.systems[device.model]
    return system.psus or shelf_supplies(system, device.max_power_w)


def _kept(psus: Psus, feeds: int) -> int:
    """Return how many supplies are left after the worst loss of one feed."""
    return psus.count - max(spread_psus(psus.count, feeds))


def _supplies_finding(spec: SiteSpec, rack: RackPlan, device: DevicePlacement, psus: Psus, names: list[str]) -> Finding:
    kept, feeds = _kept(psus, len(rack.feeds)), len(rack.feeds)
    dark = kept == 0 or (psus.needed_to_boot is not None and kept < psus.needed_to_boot)
    state = "it runs below full performance"
    if dark:
        state = "it goes dark"
    elif psus.needed_to_boot is None:
        state = "no document says whether it goes on"
    what = (
        f"after the loss of one of {feeds} feeds of {named(names)}, {device.model} keeps {kept} of "
        f"{counted(psus.count, 'supply', 'supplies')} and needs {psus.needed}: {state}"
    )
    if feeds == 1:
        what = f"{named(names)} ha{'s' if len(names) == 1 else 've'} one feed: its loss takes {device.model} down"
    boot = "" if psus.needed_to_boot is None else f", {psus.needed_to_boot} to boot"
    source = catalog_line(spec, "switches" if device.kind == "switch" else "systems", device.model, "psus")
    enough = next((count for count in range(feeds + 1, MOST_FEEDS + 1) if _kept(psus, count) >= psus.needed), None)
    fix = (
        f"feed the rack from {enough} feeds" if enough else "take a system with more spare supplies, or accept the loss"
    )
    # One feed is a choice that darkens the rack whatever hangs on it; with several, going dark defeats their purpose.
    severity: Severity = "error" if dark and feeds > 1 else "warning"
    have = f"{counted(psus.count, 'supply', 'supplies')}, {psus.needed} needed{boot} ({source})"
    rack_spec = racks_of(spec)[rack.name]
    return rack_finding(
        spec, rack_spec, "psu-redundancy", what=what, have=have, fix=fix, below=("power_feeds",), severity=severity
    )


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


def check_upstream_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Utility, UPS and panels carry what hangs below them, in full and after the loss of a part beside them."""
    for part in plan.facility.upstream:
        if (part.load_w or 0) > part.capacity_w:
            yield _at_part(spec, part, "upstream-over-budget", f"{part.name} carries {watts(part.load_w)}", part.load_w)
        elif (part.load_after_loss_w or 0) > part.capacity_w:
            load_w = part.load_after_loss_w
            what = f"if a part of the chain beside {part.name} fails, {part.name} carries {watts(load_w)}"
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
    if len(rack.feeds) > 1 and _psus(spec, device) is None:
        yield "psus"
    if device.kind != "switch":
        system = spec.catalog.systems[device.model]
        yield from (name for name in ("height_u", "air_share") if getattr(system, name) is None)


POWER_CHECKS = (
    check_feed_capacity,
    check_feed_loss,
    check_psu_redundancy,
    check_upstream_names,
    check_upstream_capacity,
    check_missing_figures,
)
