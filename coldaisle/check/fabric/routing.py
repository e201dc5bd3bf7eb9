"""Checks of routed fabrics: autonomous systems, link addresses and loopbacks, and the pools that they come from."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import named
from coldaisle.plan.model import SitePlan, SwitchPlan
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec


def check_asns(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each leaf has an autonomous system of its own (RFC 7938), and no tier shares one with another."""
    owners: dict[int, tuple[str, SwitchPlan]] = {}
    for name, fabric in plan.fabrics.items():
        told = False
        for switch in fabric.switches:
            if switch.asn is None:
                continue
            first_fabric, first = owners.setdefault(switch.asn, (name, switch))
            alike = first_fabric == name and first.role == switch.role and switch.role != "leaf"
            if first is not switch and not alike and not told:
                told = True
                what = f"{first.name} and {switch.name} share the autonomous system {switch.asn}"
                have = f"{first.name} is a {first.role} of {first_fabric}, {switch.name} a {switch.role} of {name}"
                fix = "move asn.leaf_first or the spines' number so that the ranges stand apart"
                loc: Loc = ("fabrics", name, "asn") if spec.fabrics[name].asn else ("addressing", "asn")
                yield finding(spec, loc, "asn-shared", what=what, have=have, fix=fix)


def check_routing_numbers(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A routed fabric has enough link addresses, loopbacks and autonomous systems."""
    nodes = {node.name for node in spec.nodes}
    for name, fabric in plan.fabrics.items():
        if fabric.kind == "infiniband" or fabric.topology == "single":
            continue
        hosts = nodes if fabric.kind == "roce" else set()
        numbered = not fabric.unnumbered
        routed = [c for c in fabric.cables if (c.a.device in hosts if c.kind == "node-leaf" else numbered)]
        if routed or numbered:
            yield from _pool(spec, name, "links", len(routed), {c.a_address for c in routed})
        yield from _pool(spec, name, "loopbacks", len(fabric.switches), {s.loopback for s in fabric.switches})
        bare = [switch.name for switch in fabric.switches if switch.asn is None]
        if bare:
            what = f"{named(bare, 'switch', 'switches')} of fabric {name} have no autonomous system"
            fix = f"give fabrics.{name}.asn with leaf_first, spine_first and, for three tiers, core"
            yield finding(spec, ("fabrics", name), "missing-asn", what=what, fix=fix)


def _pool(spec: SiteSpec, fabric: str, key: str, wanted: int, addresses: set[str | None]) -> Iterator[Finding]:
    """Yield what is wrong with a pool that `wanted` different addresses should have come from."""
    section = "fabric_links" if key == "links" else key
    own = getattr(spec.fabrics[fabric], key)
    pool = own or getattr(spec.addressing, section)
    loc: Loc = ("fabrics", fabric, key) if own else ("addressing", section)
    if pool is None:
        what, fix = (
            f"fabric {fabric} routes, and there is no pool of {key}",
            f"add addressing.{section}, or {key} to it",
        )
        yield finding(spec, ("fabrics", fabric), "missing-pool", what=what, fix=fix)
    elif len(addresses - {None}) < wanted:
        what = f"{section} {pool.subnet} is too small: {wanted - len(addresses - {None})} of {wanted} {key} get none"
        have = "each port of a leaf that could go up has a place, so that a spine more moves no address"
        have = have if key == "links" else ""
        yield finding(spec, loc, "pool-too-small", what=what, have=have, fix="give a larger subnet")


def check_shared_pools(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """At most one routed fabric takes its numbers from the site's pools; fabrics' own pools are compared by subnet."""
    routed = [
        name for name, fabric in plan.fabrics.items() if fabric.kind != "infiniband" and fabric.topology != "single"
    ]
    for key, section in (("links", "fabric_links"), ("loopbacks", "loopbacks")):
        pool = getattr(spec.addressing, section)
        first, *others = [name for name in routed if getattr(spec.fabrics[name], key) is None] or [""]
        for name in others if pool else ():
            what = f"fabrics {first} and {name} both take {key} from {pool.subnet}"
            fix = f"give one of the two {key}: {{subnet: …}} of its own"
            yield finding(spec, ("fabrics", name), "overlapping-networks", what=what, fix=fix)
