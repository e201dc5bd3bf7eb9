"""Checks of what a fabric survives: promises that are written down, and single points of failure where none are."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, Severity, finding
from coldaisle.plan.model import LossPlan, SitePlan
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

FIXES = {
    "link": "give each node a second port on another leaf",
    "uplink": "give each leaf a second uplink, to another spine",
    "optic": "give each node a port in another cage, on another leaf",
    "leaf": "give each node a second port, on another leaf",
    "spine": "add a spine, so that each leaf meets two",
    "core": "add a core, so that each pod meets two",
    "feed": "feed the rack from two feeds, and take devices with two supplies",
    "upstream": "hang the feeds of each rack on parts that do not fail together",
}


def check_promises(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No loss that a fabric must survive cuts a node off, or leaves less bandwidth than it must."""
    for loss in plan.survival:
        asked = spec.fabrics[loss.fabric].survives
        if asked is None or loss.kind not in asked.loss_of:
            continue
        if loss.hosts_cut_off:
            what = f"fabric {loss.fabric} must survive the loss of any {loss.kind}, and {_cuts(loss)}"
            yield _finding(spec, loss, "not-survived", what)
        elif loss.bisection_left is not None and loss.bisection_left < asked.bisection_left:
            what = f"the loss of {loss.part} leaves {loss.bisection_left:.1%} of the bandwidth of fabric {loss.fabric}"
            have = f"{asked.bisection_left:.1%} must be left"
            loc = ("fabrics", loss.fabric, "survives", "bisection_left")
            fix = f"add another {loss.kind}, so that each carries less, or accept the share"
            yield finding(spec, loc, "not-survived", what=what, have=have, fix=fix)


def check_single_points(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where a fabric has no words of its own, no single part above the nodes' ports cuts a node off."""
    for loss in plan.survival:
        if spec.fabrics[loss.fabric].survives is None and loss.promised and loss.hosts_cut_off:
            yield _finding(spec, loss, "single-point-of-failure", f"{_cuts(loss)} fabric {loss.fabric}")


def _cuts(loss: LossPlan) -> str:
    return f"the loss of {loss.part} cuts {counted(loss.hosts_cut_off, 'node')} off"


def _finding(spec: SiteSpec, loss: LossPlan, check: str, what: str) -> Finding:
    strict = check == "not-survived"
    loc = ("fabrics", loss.fabric, "survives") if strict else ("fabrics", loss.fabric)
    have = f"`coldaisle fabric survive {spec.site.name}` has the worst loss of each kind"
    fix = FIXES[loss.kind] if strict else f"{FIXES[loss.kind]}, or say with survives what it must survive"
    severity: Severity = "error" if strict else "warning"
    return finding(spec, loc, check, what=what, have=have, fix=fix, severity=severity)
