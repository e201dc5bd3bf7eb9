"""Checks of RoCE's lossless class."""

from __future__ import annotations

from collections.abc import Iterator

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
