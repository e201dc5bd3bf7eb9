"""Checks of ports: each exists, holds one cable, and is broken out into as many as it can be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from coldaisle.check.fabric.naming import end_name, tier_loc
from coldaisle.check.finding import Finding, finding
from coldaisle.plan.breakout import group_of, role_model
from coldaisle.plan.model import End, FabricPlan, SitePlan
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted


def check_ports_used_once(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No port holds two cables, in any fabric."""
    first: dict[End, End] = {}
    clashes: defaultdict[str, list[str]] = defaultdict(list)
    for name, fabric in plan.fabrics.items():
        for cable in fabric.cables:
            for end, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if first.setdefault(end, other) is not other:
                    clashes[name].append(f"{end_name(end)} leads to {end_name(first[end])} and to {end_name(other)}")
    for name, found in clashes.items():
        what = f"a port is used twice: {found[0]}"
        have = f"{counted(len(found), 'port')} of fabric {name} hold two cables" if len(found) > 1 else ""
        fix = "give the nodes of one system each port of a rail once, and each port to one fabric"
        yield finding(spec, ("fabrics", name), "port-used-twice", what=what, have=have, fix=fix)


def check_switch_ports(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No switch has more cables than ports, and each of its ports exists."""
    for name, fabric in plan.fabrics.items():
        over = [switch for switch in fabric.switches if switch.ports_used > switch.ports]
        for role in dict.fromkeys(switch.role for switch in over):
            group = [switch for switch in over if switch.role == role]
            worst = max(group, key=lambda switch: switch.ports_used)
            what = f"{worst.name} needs {worst.ports_used} ports, and {worst.model} has {worst.ports}"
            have = f"so do {len(group) - 1} more of the {role} switches" if len(group) > 1 else ""
            fix = "take a switch with more ports, fewer nodes a group, or more switches"
            yield finding(spec, tier_loc(name, role), "switch-ports-exceeded", what=what, have=have, fix=fix)
        yield from _ports_that_do_not_exist(spec, name, fabric)


def _ports_that_do_not_exist(spec: SiteSpec, name: str, fabric: FabricPlan) -> Iterator[Finding]:
    full = {switch.name for switch in fabric.switches if switch.ports_used > switch.ports}
    models = {switch.name: switch for switch in fabric.switches if switch.name not in full}
    ports = {
        role: set(role_model(spec.catalog, spec.fabrics[name], role).port_names())
        for role in {s.role for s in models.values()}
    }
    told: set[str] = set()
    for cable in fabric.cables:
        for end in (cable.a, cable.b):
            switch = models.get(end.device)
            if switch is None or end.port in ports[switch.role] or switch.role in told:
                continue
            if end.port == spec.catalog.switches[switch.model].management_port:
                continue
            told.add(switch.role)
            what = f"{end_name(end)} does not exist: {switch.model} has {switch.ports} ports"
            fix = "lower nodes_per_leaf_group, or take a switch with more ports"
            yield finding(spec, tier_loc(name, switch.role), "switch-ports-exceeded", what=what, fix=fix)


RADIX_FIXES = {
    "spine": "leave out count and uplinks_per_spine, so that a third tier is planned, or take spines with more ports",
    "core": "take cores with more ports, split the fabric into planes, or put fewer nodes on it",
}


def check_radix(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The tiers carry as many leaves as there are: two tiers of k ports serve k * k / 2 nodes' ports, three k^3 / 4."""
    for name, fabric in plan.fabrics.items():
        for role, fix in RADIX_FIXES.items():
            over = [switch for switch in fabric.switches if switch.role == role and switch.ports_used > switch.ports]
            if not over:
                continue
            met = Counter(cable.a.device for cable in fabric.cables if cable.b.device == over[0].name)
            links = max(met.values())
            what = f"{counted(len(met), 'switch', 'switches')} of the tier below meet {over[0].name}"
            what = f"{what}, and {over[0].model} has ports for {over[0].ports // links} of them"
            have = f"{over[0].ports} ports, {counted(links, 'link')} to each"
            yield finding(spec, tier_loc(name, role), "radix-exceeded", what=what, have=have, fix=fix)


def check_breakouts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A port is broken out into as many as it can be, and enough ports are left for uplinks."""
    for name, fabric in plan.fabrics.items():
        for role in dict.fromkeys(switch.role for switch in fabric.switches):
            group = group_of(spec.fabrics[name], role)
            if group is None or group.breakout in {None, 1}:
                continue
            model = spec.catalog.switches[group.model]
            splits = model.ports[0].splits
            if group.breakout not in splits:
                what = f"a port of {group.model} cannot be broken out into {group.breakout}"
                have = (
                    f"it can be into {', '.join(map(str, splits))}" if splits else "the catalog gives no splits of it"
                )
                loc = (*tier_loc(name, role), "breakout")
                yield finding(spec, loc, "bad-breakout", what=what, have=have, fix="correct breakout")
