"""Checks of draws beside the usual maximum: power caps, transients, and the start after a blackout."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import catalog_line, catalog_place, feeds_of, grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import DevicePlacement, SitePlan
from coldaisle.spec.catalog import Gpu, System
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.power import PowerCap
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import percent, watts

PLAUSIBLE = 0.25
"""Part of a GPU's maximum that a cap leaves it at least: below, somebody meant the other scope."""


def check_power_caps(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A power cap of a pool is one that its GPUs can run with, in the scope that it names, and that BMCs can set."""
    for name, pool in spec.node_pools.items():
        system = spec.catalog.systems[pool.system]
        gpu = spec.catalog.gpus.get(system.gpus.model) if system.gpus else None
        if pool.power_cap is not None:
            wrong = list(_cap_findings(spec, name, pool, system, gpu))
            yield from wrong or _over_ipmi(spec, plan, name)


def _over_ipmi(spec: SiteSpec, plan: SitePlan, pool: str) -> Iterator[Finding]:
    nodes = [node.name for node in plan.nodes if node.pool == pool and node.bmc and node.bmc.protocol == "ipmi"]
    if nodes:
        what = f"nobody sets the cap of pool {pool} on {named(nodes, 'node')}: the BMC speaks IPMI, which has no limit"
        have = f"bmc_protocol ipmi ({spec.marks.where(('hardware', nodes[0], 'bmc_protocol'))})"
        fix = "correct bmc_protocol where the BMC speaks Redfish, or move these nodes to a pool without a cap"
        yield finding(spec, ("node_pools", pool, "power_cap"), "power-cap-over-ipmi", what=what, have=have, fix=fix)


def _cap_findings(spec: SiteSpec, name: str, pool: PoolSpec, system: System, gpu: Gpu | None) -> Iterator[Finding]:
    cap, loc = pool.power_cap, ("node_pools", name, "power_cap")
    if cap is None:
        return
    if system.gpus is None or gpu is None:
        if cap.scope == "gpu":
            what = f"pool {name} caps each GPU, and {pool.system} has none"
            yield finding(spec, loc, "power-cap", what=what, fix="cap the node: scope: node")
        return
    count, module_w = system.gpus.count, gpu.module_power_w
    if module_w is None:
        if cap.scope == "gpu":
            what = f"the catalog has no module_power_w of {system.gpus.model}, needed for the cap of pool {name}"
            yield Finding(
                check="missing-figure", where=catalog_place(spec, "gpus", system.gpus.model),
                path=f"gpus.{system.gpus.model}", what=what, have="", fix="add module_power_w with its source",
            )  # fmt: skip
        return
    each_w = cap.watts if cap.scope == "gpu" else cap.watts / count
    line = catalog_line(spec, "gpus", system.gpus.model, "module_power_w")
    have = f"{count} x {system.gpus.model} of {watts(module_w)} each ({line}); node of {watts(system.max_power_w)}"
    if each_w < PLAUSIBLE * module_w:
        fix = "correct watts, or the scope"
        yield finding(spec, loc, "power-cap", what=_both_readings(cap, count), have=have, fix=fix)
    elif cap.watts >= (module_w if cap.scope == "gpu" else system.max_power_w or cap.watts + 1):
        what = f"{_both_readings(cap, count)}; as it stands the cap changes nothing"
        yield finding(spec, loc, "power-cap", what=what, have=have, fix="lower watts, or correct the scope")


def _both_readings(cap: PowerCap, count: int) -> str:
    if cap.scope == "gpu":
        return (
            f"{cap.watts:g} W for each GPU are {cap.watts * count:g} W for all {count} GPUs of a node; "
            f"{cap.watts:g} W for a whole node are {cap.watts / count:g} W for each"
        )
    return (
        f"{cap.watts:g} W for a whole node are {cap.watts / count:g} W for each of its {count} GPUs; "
        f"{cap.watts:g} W for each GPU are {cap.watts * count:g} W for all of them"
    )


def check_transients(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Excursions of milliseconds stay within the full rating of a feed's breaker."""
    racks = racks_of(spec)
    over = [
        item
        for item in feeds_of(plan)
        if (item[2].draws.transient_w or 0) > item[2].capacity_w / item[2].derating >= (item[2].load_w or 0)
    ]
    groups = grouped_by(over, lambda item: (racks[item[0].name].path, item[1], item[2].draws.transient_w))
    for group in groups.values():
        rack, at, feed = group[0]
        full_w = feed.capacity_w / feed.derating
        load_w = feed.draws.transient_w
        what = (
            f"in excursions of milliseconds feed {feed.name} of {named([item[0].name for item in group])} carries "
            f"{watts(load_w)}, {percent(load_w, full_w)} of the {watts(full_w)} at which its breaker is rated"
        )
        yield rack_finding(
            spec, racks[rack.name], "transient-over-breaker", what=what, have="",
            fix="ask the breaker's curve whether it holds, cap the pool, or raise breaker_a",
            below=("power_feeds", at), path=f".power_feeds[{feed.name}]", severity="warning",
        )  # fmt: skip


def check_power_factors(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No feed is said to have a better power factor than a device on it, or it carries fewer watts than is counted."""
    racks = racks_of(spec)
    items = [
        (rack, at, feed, device.model, factor)
        for rack, at, feed in feeds_of(plan)
        for device in rack.devices
        for factor in (_power_factor(spec, device),)
        if factor is not None and factor < feed.power_factor
    ]
    for group in grouped_by(items, lambda item: (racks[item[0].name].path, item[1], item[3])).values():
        rack, at, feed, model, factor = group[0]
        names = list(dict.fromkeys(item[0].name for item in group))
        what = (
            f"feed {feed.name} of {named(names)} counts a power factor of {feed.power_factor:g}, "
            f"and {model} on it has {factor:g}"
        )
        kind = "switches" if model in spec.catalog.switches else "systems"
        have = f"{model}: {catalog_line(spec, kind, model, 'power_factor')}"
        yield rack_finding(
            spec, racks[rack.name], "power-factor", what=what, have=have, fix=f"set its power_factor to {factor:g}",
            below=("power_feeds", at), path=f".power_feeds[{feed.name}]", severity="warning",
        )  # fmt: skip


def _power_factor(spec: SiteSpec, device: DevicePlacement) -> float | None:
    if device.kind == "switch":
        return spec.catalog.switches[device.model].power_factor
    return spec.catalog.systems[device.model].power_factor


def check_start(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After a blackout, all racks can be started, in the order of the plan."""
    groups = plan.facility.start_order or ()
    full = {part.name for part in plan.facility.upstream if (part.load_w or 0) > part.capacity_w}
    full |= {
        f"{rack.name}.feed_{feed.name}" for rack, _, feed in feeds_of(plan) if (feed.load_w or 0) > feed.capacity_w
    }
    # What is overloaded when all runs is told as that.
    over = {name: group for group in reversed(groups) for name in group.over if name not in full}
    parts = [part.name for part in spec.facility.power.upstream]
    for name, group in sorted(over.items()):
        what = f"{name} cannot start {named(group.racks)} after a blackout, not even after all others"
        have = f"the group starts with {watts(group.startup_w)} while {watts(group.running_w)} run"
        loc = ("facility", "power", "upstream", parts.index(name)) if name in parts else _feed_loc(spec, name)
        yield finding(spec, loc, "start-over-capacity", what=what, have=have, fix="raise what it may carry, or lower "
                      "what starts: a cap, fewer devices, or a start one by one")  # fmt: skip


def _feed_loc(spec: SiteSpec, name: str) -> tuple[str | int, ...]:
    rack, _, feed = name.partition(".feed_")
    placed = racks_of(spec)[rack]
    return (*placed.path, "power_feeds", [each.name for each in placed.spec.power_feeds].index(feed))


DRAW_CHECKS = (check_power_caps, check_transients, check_power_factors, check_start)
