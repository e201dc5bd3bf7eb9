"""Checks of supplies: what each device keeps after the loss of one feed, and of one part of the chain above."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coldaisle.check.finding import Finding, Severity, finding
from coldaisle.check.places import catalog_line, grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import DevicePlacement, RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import shelf_power_w, shelf_supplies, spread_psus
from coldaisle.plan.power.chain import Chain
from coldaisle.plan.power.racks import RackPower, RackPowers
from coldaisle.spec.catalog import Psus
from coldaisle.spec.power import ShelfRedundancy
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, watts

MOST_FEEDS = 4
"""Feeds that a rack may be asked to have: more are not built."""


def check_psu_redundancy(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After the loss of one feed, each device keeps the supplies that it needs."""
    placed = [
        (rack, device, psus)
        for rack in plan.facility.racks
        for device in rack.devices
        for psus in (psus_of(spec, device),)
        if psus is not None and _kept(psus, len(rack.feeds)) < psus.needed
    ]
    racks = racks_of(spec)
    for group in grouped_by(placed, lambda item: (racks[item[0].name].path, item[1].model)).values():
        rack, device, psus = group[0]
        names = list(dict.fromkeys(item[0].name for item in group))
        yield _supplies_finding(spec, rack, device, psus, names)


def psus_of(spec: SiteSpec, device: DevicePlacement) -> Psus | None:
    """Return the supplies of a device, as its catalog entry or its power shelves give them."""
    if device.kind == "switch":
        return spec.catalog.switches[device.model].psus
    system = spec.catalog.systems[device.model]
    return system.psus or shelf_supplies(system, device.max_power_w)


def _kept(psus: Psus, feeds: int) -> int:
    """Return how many supplies are left after the worst loss of one feed."""
    return psus.count - max(spread_psus(psus.count, feeds))


def check_psu_upstream(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After the loss of a part of the chain that takes several feeds of a rack, each device keeps what it needs."""
    power, racks = _powers(spec), racks_of(spec)
    items = [
        (rack, device, psus, part)
        for rack in plan.facility.racks
        for part, lost in power[rack.name].lost_parts.items()
        if len(lost) > 1
        for device in rack.devices
        for psus in (psus_of(spec, device),)
        if psus is not None and _kept_without(psus, len(rack.feeds), lost) < psus.needed <= _kept(psus, len(rack.feeds))
    ]
    for group in grouped_by(items, lambda item: (racks[item[0].name].path, item[1].model, item[3])).values():
        rack, device, psus, part = group[0]
        lost = power[rack.name].lost_parts[part]
        names = list(dict.fromkeys(item[0].name for item in group))
        feeds = " and ".join(feed.name for at, feed in enumerate(rack.feeds) if at in lost)
        kept = _kept_without(psus, len(rack.feeds), lost)
        cause = f"after the loss of {part}, which takes feeds {feeds} of {named(names)}"
        fix = f"hang feed {feeds.rpartition(' and ')[2]} on a part that does not fail with {part}"
        yield _finding(spec, rack, device, psus, kept, cause, fix)


def check_shared_upstream(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No part of the chain but the utility darkens a rack that has several feeds."""
    power, racks, chain = _powers(spec), racks_of(spec), Chain(spec.facility.power.upstream)
    kinds = {part.name: part.kind for part in spec.facility.power.upstream}
    items = [
        (rack, part)
        for rack in plan.facility.racks
        if len(rack.feeds) > 1
        for part in _lowest(power[rack.name], chain)
        if kinds[part] != "utility"
    ]
    for group in grouped_by(items, lambda item: (racks[item[0].name].path, item[1])).values():
        rack, part = group[0]
        names = [item[0].name for item in group]
        what = f"all {len(rack.feeds)} feeds of {named(names)} hang on {kinds[part]} {part}: its loss darkens them"
        fix = f"hang one feed on a part that does not fail with {part}, or name a catcher_for it"
        yield rack_finding(spec, racks[rack.name], "shared-upstream", what=what, fix=fix, below=("power_feeds",))


def _lowest(power: RackPower, chain: Chain) -> list[str]:
    """Return of the parts that darken a rack the one nearest to it, which is what must be changed first."""
    above = [part for part in chain.above(power.upstreams[0]) if part in power.darkened_by]
    return above[:1]


def _powers(spec: SiteSpec) -> dict[str, RackPower]:
    """Return what the loss of each part takes of each rack; loads do not matter here."""
    powers = RackPowers(Chain(spec.facility.power.upstream))
    return {name: powers.of(rack.spec.power_feeds, ()) for name, rack in racks_of(spec).items()}


def _kept_without(psus: Psus, feeds: int, lost: Iterable[int]) -> int:
    """Return how many supplies are left without some feeds."""
    spread = spread_psus(psus.count, feeds)
    return psus.count - sum(spread[at] for at in lost)


def _supplies_finding(spec: SiteSpec, rack: RackPlan, device: DevicePlacement, psus: Psus, names: list[str]) -> Finding:
    kept, feeds = _kept(psus, len(rack.feeds)), len(rack.feeds)
    enough = next((count for count in range(feeds + 1, MOST_FEEDS + 1) if _kept(psus, count) >= psus.needed), None)
    fix = (
        f"feed the rack from {enough} feeds" if enough else "take a system with more spare supplies, or accept the loss"
    )
    return _finding(
        spec, rack, device, psus, kept, f"after the loss of one of {feeds} feeds of {named(names)}", fix, names
    )


def _finding(  # noqa: PLR0913, PLR0917 - the parts of a finding
    spec: SiteSpec,
    rack: RackPlan,
    device: DevicePlacement,
    psus: Psus,
    kept: int,
    cause: str,
    fix: str,
    single: list[str] | None = None,
) -> Finding:
    """Return what a device keeps after a loss; `single` names the racks where that is the loss of a feed."""
    feeds, dark = len(rack.feeds), kept == 0 or (psus.needed_to_boot is not None and kept < psus.needed_to_boot)
    state = "it runs below full performance"
    if dark:
        state = "it goes dark"
    elif psus.needed_to_boot is None:
        state = "no document says whether it goes on"
    supplies = counted(psus.count, "supply", "supplies")
    what = f"{cause}, {device.model} keeps {kept} of {supplies} and needs {psus.needed}: {state}"
    if feeds == 1 and single:
        what = f"{named(single)} ha{'s' if len(single) == 1 else 've'} one feed: its loss takes {device.model} down"
    boot = "" if psus.needed_to_boot is None else f", {psus.needed_to_boot} to boot"
    entry = ("switches" if device.kind == "switch" else "systems", device.model)
    source = catalog_line(spec, *entry, "psus") or catalog_line(spec, *entry, "power_shelves")
    # One feed is a choice that darkens the rack whatever hangs on it; with several, going dark defeats their purpose.
    severity: Severity = "error" if dark and feeds > 1 else "warning"
    have = f"{supplies}, {psus.needed} needed{boot} ({source})"
    rack_spec = racks_of(spec)[rack.name]
    return rack_finding(
        spec, rack_spec, "psu-redundancy", what=what, have=have, fix=fix, below=("power_feeds",), severity=severity
    )


def check_shelves(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The power shelves of a rack-scale system give what it draws, with that spare which the site asks for."""
    draws = {device.model: device.max_power_w for rack in plan.facility.racks for device in rack.devices}
    for name, pool in spec.node_pools.items():
        shelves = spec.catalog.systems[pool.system].power_shelves
        if shelves is None:
            continue
        have = "; ".join(f"{words}: {watts(shelf_power_w(shelves, redundancy=r))}" for r, words in _SPARE.items())
        line = catalog_line(spec, "systems", pool.system, "power_shelves")
        have = f"{shelves.count} shelves of {shelves.psus_each} x {watts(shelves.psu_w)}; {have} ({line})"
        if pool.shelf_redundancy is None:
            what = f"pool {name} does not say what may fail of the power shelves of {pool.system}"
            fix = "add shelf_redundancy: none, shelf or supply"
            yield finding(spec, ("node_pools", name, "system"), "shelf-redundancy", what=what, have=have, fix=fix)
            continue
        gives_w, draw_w = shelf_power_w(shelves, redundancy=pool.shelf_redundancy), draws.get(pool.system)
        if (draw_w or 0) > gives_w:
            spare = _SPARE[pool.shelf_redundancy]
            what = f"{pool.system} draws {watts(draw_w)}, and its power shelves give {watts(gives_w)} with {spare}"
            fix = "ask for less spare, or cap the pool"
            loc = ("node_pools", name, "shelf_redundancy")
            yield finding(spec, loc, "shelf-over-budget", what=what, have=have, fix=fix)


_SPARE: Mapping[ShelfRedundancy, str] = {
    "none": "no spare",
    "shelf": "one shelf spare",
    "supply": "one supply of each shelf spare",
}

SUPPLY_CHECKS = (check_psu_redundancy, check_psu_upstream, check_shared_upstream, check_shelves)
