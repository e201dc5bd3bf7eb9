"""Checks of RoCE's lossless class, and of the buffer profiles that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec


def check_roce_class(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """RoCE data and congestion notifications are told apart, in marks and in queues (F12)."""
    for name, fabric in plan.fabrics.items():
        if fabric.roce is None:
            continue
        roce, loc = fabric.roce, ("fabrics", name, "roce")
        if roce.dscp == roce.cnp_dscp:
            what = f"RoCE data and congestion notifications are both marked DSCP {roce.dscp}"
            yield finding(
                spec,
                (*loc, "cnp_dscp"),
                "roce-class",
                what=what,
                fix="mark them apart, such as data 26 and cnp_dscp 48",
            )
        if roce.priority == roce.cnp_priority:
            what = f"congestion notifications wait in the lossless queue of priority {roce.priority}"
            yield finding(
                spec, (*loc, "cnp_priority"), "roce-class", what=what, fix="give them a priority of their own"
            )
        if roce.ecn_min_bytes >= roce.ecn_max_bytes:
            what = f"ECN marks from {roce.ecn_min_bytes} to {roce.ecn_max_bytes} bytes, which is no range"
            yield finding(spec, (*loc, "ecn_min_bytes"), "roce-class", what=what, fix="lower ecn_min_bytes")


def check_headroom(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No cable of a RoCE fabric is longer than what its switches keep headroom for, or a pause comes too late."""
    for name, fabric in plan.fabrics.items():
        lengths = [(cable.length_m, cable) for cable in fabric.cables if cable.length_m is not None]
        if fabric.roce is None or not lengths:
            continue
        length, cable = max(lengths, key=lambda item: item[0])
        if length > fabric.roce.cable_length_m:
            what = f"{cable.a.device} {cable.a.port} to {cable.b.device} {cable.b.port} is {length:g} m long"
            have = f"switches of fabric {name} keep headroom for {fabric.roce.cable_length_m} m"
            loc, fix = ("fabrics", name, "roce", "cable_length_m"), f"raise cable_length_m to {ceil(length)} or more"
            yield finding(spec, loc, "headroom-too-short", what=what, have=have, fix=fix)


def check_lossless_profiles(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """SONiC has a lossless profile for each rate of a switch's ports at the length that headroom is for (F9)."""
    for name, fabric in plan.fabrics.items():
        if fabric.roce is None:
            continue
        length, told = fabric.roce.cable_length_m, set[tuple[str, float]]()
        switches = {switch.name: switch for switch in fabric.switches if switch.network_os == "sonic"}
        ends = ((switches.get(end.device), cable) for cable in fabric.cables for end in (cable.a, cable.b))
        for switch, cable in ends:
            if switch is None or (switch.model, cable.rate_gbps) in told:
                continue
            told.add((switch.model, cable.rate_gbps))
            rows = spec.catalog.switches[switch.model].lossless
            known = sorted(each for row in rows if row.rate_gbps == cable.rate_gbps for each in row.lengths_m)
            if rows and length not in known:
                what = f"SONiC has no lossless profile for {cable.rate_gbps:g} Gb/s over {length} m on {switch.model}"
                have = f"it has them for {', '.join(f'{each:g} m' for each in known) or 'no length at that rate'}"
                fix = "set cable_length_m to a length that it has, no shorter than the longest cable"
                loc = ("fabrics", name, "roce", "cable_length_m")
                yield finding(spec, loc, "no-lossless-profile", what=what, have=have, fix=fix)
