"""Checks of a fabric's shape: rails, even uplinks, paths and oversubscription."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile

from coldaisle.check.fabric.naming import tier_loc
from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import grouped_by, named
from coldaisle.plan.breakout import role_model
from coldaisle.plan.connected import connected
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.spec.catalog import Switch
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

UPLINK_KINDS = ("leaf-spine", "spine-core")


def check_rails(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each node of a rail-optimised fabric has a port on every rail, and none beside them."""
    systems = {node.name: node.system for node in spec.nodes}
    for name, fabric in plan.fabrics.items():
        if not spec.fabrics[name].rail_optimized:
            continue
        rails: defaultdict[str, set[int | None]] = defaultdict(set)
        for cable in fabric.cables:
            if cable.a.device in systems:
                rails[systems[cable.a.device]].add(cable.rail)
        for system, found in rails.items():
            if found != set(range(fabric.rails)):
                shown = ", ".join(str(rail) for rail in sorted(found, key=lambda rail: -1 if rail is None else rail))
                what = f"{system} has ports on rails {shown}, and fabric {name} has {fabric.rails} rails"
                fix = f"set rails to {len(found)}, or correct the rail of each port in the catalog"
                yield finding(spec, ("fabrics", name, "rails"), "rails-mismatch", what=what, fix=fix)


def check_planes(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each node has a port on every rail in every plane of a fabric, and none in a plane that the fabric lacks."""
    systems = dict.fromkeys(node.system for node in spec.nodes)
    for name in plan.fabrics:
        asked = spec.fabrics[name]
        for system in systems:
            nics = [nic for nic in spec.catalog.systems[system].nics.values() if nic.role in asked.connects]
            rails: defaultdict[int | None, set[int]] = defaultdict(set)
            for nic in nics:
                rails[nic.rail].add(nic.plane)
            planes = {nic.plane for nic in nics}
            if nics and any(found != set(range(asked.planes)) for found in rails.values()):
                what = f"{system} has ports in {counted(len(planes), 'plane')}, and fabric {name} has {asked.planes}"
                have = f"planes {', '.join(map(str, sorted(planes)))} of the catalog, counted from 0"
                fix = "take a system of the catalog whose ports have a plane each, or correct planes"
                yield finding(spec, ("fabrics", name, "planes"), "planes-mismatch", what=what, have=have, fix=fix)


def check_plane_racks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The spines of a plane stand in several racks, so that no rack takes a plane with it."""
    for name, fabric in plan.fabrics.items():
        spines = grouped_by((s for s in fabric.switches if s.role == "spine"), lambda switch: switch.plane)
        for plane, switches in spines.items():
            racks = {switch.rack for switch in switches}
            rack = switches[0].rack
            if rack is None or len(racks) > 1 or len(switches) == 1:
                continue
            of = f"fabric {name}" if plane is None else f"plane {plane} of fabric {name}"
            what = f"all {len(switches)} spines of {of} stand in rack {rack}"
            fix = "spread them over two racks: spine.racks takes several, and rack_units are those of each"
            loc = ("fabrics", name, "spine")
            yield finding(spec, loc, "plane-in-one-rack", what=what, fix=fix, severity="warning")


def check_even_uplinks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every switch has as many links to each switch above it as its siblings have, or traffic piles up on some."""
    for name, fabric in plan.fabrics.items():
        for kind in UPLINK_KINDS:
            pairs = Counter((c.a.device, c.b.device) for c in fabric.cables if c.kind == kind)
            counts = sorted(set(pairs.values()))
            above = Counter(lower for lower, _ in pairs)
            lower, _, upper = kind.partition("-")
            if len(counts) > 1:
                what = f"{kind} pairs of fabric {name} have {' or '.join(map(str, counts))} links"
            elif len(set(above.values())) > 1:
                least, most = min(above, key=lambda each: above[each]), max(above.values())
                what = f"{least} has links to {counted(above[least], upper)}, and another {lower} to {most}"
            else:
                continue
            fix = f"choose a {upper} count that divides the uplinks of a {lower}"
            yield finding(spec, tier_loc(name, upper), "uneven-uplinks", what=what, fix=fix)


def check_dark_uplinks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where leaves have less upwards than the site accepts, none of their ports that could go up is without a cable."""
    for name, fabric in plan.fabrics.items():
        ratio, asked = fabric.oversubscription, spec.fabrics[name].oversubscription
        if ratio is None or ratio <= asked:
            continue
        used = Counter(cable.a.device for cable in fabric.cables if cable.kind == "leaf-spine")
        leaf, count = min(used.items(), key=lambda item: item[1])
        there = _up_ports(role_model(spec.catalog, spec.fabrics[name], "leaf"), fabric)
        if count < there:
            what = f"{there - count} of {there} ports for uplinks of {leaf} hold no cable"
            have = f"each leaf of fabric {name} is oversubscribed {ratio:.3g}:1"
            fix = "raise uplinks_per_spine, or add spines until their count divides the ports for uplinks"
            yield finding(
                spec, ("fabrics", name, "leaf"), "dark-uplinks", what=what, have=have, fix=fix, severity="warning"
            )


def _up_ports(leaf: Switch, fabric: FabricPlan) -> int:
    """Count the ports of a leaf from the first that goes up to the last of such a rate."""
    first = {cable.a.port for cable in fabric.cables if cable.kind == "leaf-spine"}
    rates = [(block.port_name(index), block.rate_gbps) for block in leaf.ports for index in range(block.count)]
    behind = list(dropwhile(lambda port: port[0] not in first, rates))
    return sum(rate >= behind[0][1] for _, rate in behind) if behind else 0


def check_paths(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every leaf reaches every other of its plane through the tiers above."""
    for name, fabric in plan.fabrics.items():
        if fabric.topology == "single":
            continue
        part = connected((c.a.device, c.b.device) for c in fabric.cables if c.kind != "node-leaf")
        leaves = grouped_by((s for s in fabric.switches if s.role == "leaf"), lambda switch: switch.plane)
        cut = [name for plane in leaves.values() for name in _apart([switch.name for switch in plane], part)]
        if cut:
            what = f"no path leads from {named(cut, 'leaf', 'leaves')} to the other leaves"
            fix = "give the leaves uplinks, and the spines ports for them"
            yield finding(spec, ("fabrics", name, "leaf"), "no-path", what=what, fix=fix)


def _apart(leaves: Sequence[str], part: Mapping[str, str]) -> list[str]:
    """Return the leaves outside of the part that most of them are in."""
    sizes = Counter(part.get(leaf, leaf) for leaf in leaves)
    main = max(sizes, key=lambda each: sizes[each], default="")
    return [leaf for leaf in leaves if part.get(leaf, leaf) != main]


def check_oversubscription(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A leaf's uplinks carry what its nodes send, within the ratio that the site accepts."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name].oversubscription
        if fabric.oversubscription is not None and fabric.oversubscription > asked:
            ratio = f"{fabric.oversubscription:.3g}:1"
            what = f"leaves of fabric {name} are oversubscribed {ratio}, and {asked:g}:1 is accepted"
            fix = "add spines or uplinks, put fewer nodes on a leaf, or accept the ratio with oversubscription"
            yield finding(spec, ("fabrics", name, "oversubscription"), "oversubscription", what=what, fix=fix)
