"""Checks of cooling: heat has somewhere to go, also after a loss, and a rack's density is what air can take."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import CoolingPlan, SitePlan
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, kilowatts, percent, watts


def check_cooling_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each rack's heat goes to cooling that exists and is of its kind."""
    kinds = {unit.name: unit.kind for unit in spec.facility.cooling}
    racks = racks_of(spec)
    for group in grouped_by(plan.facility.racks, lambda rack: racks[rack.name].path).values():
        rack = group[0]
        placed = racks[rack.name]
        wanted = (
            ("air", "cooling", rack.cooling, rack.heat_air_w),
            ("liquid", "liquid_cooling", rack.liquid_cooling, rack.heat_liquid_w),
        )
        for kind, key, name, heat_w in wanted:
            if name is None and heat_w:
                verb = "puts" if len(group) == 1 else "put"
                what = f"{named([rack.name for rack in group])} {verb} heat into {kind}, and nothing takes it"
                fix = f"give {key}: the name of {kind} cooling"
                yield rack_finding(spec, placed, "no-cooling", what=what, fix=fix, severity="warning")
            elif name is not None and kinds.get(name) != kind:
                what = f"there is no {kind} cooling named {name}"
                have = (
                    f"known: {', '.join(f'{known} ({its_kind})' for known, its_kind in kinds.items())}" if kinds else ""
                )
                fix = "correct the name, or add it to facility.cooling"
                yield rack_finding(
                    spec, placed, "unknown-cooling", what=what, have=have, fix=fix, below=(key,), path=f".{key}"
                )


def check_cooling_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Cooling removes the heat of its racks with its spare units out."""
    for unit in plan.facility.cooling:
        if unit.load_w is not None and unit.load_w > unit.capacity_after_loss_w:
            yield _over(spec, unit, unit.load_w)


def _over(spec: SiteSpec, unit: CoolingPlan, load_w: float) -> Finding:
    at = [cooling.name for cooling in spec.facility.cooling].index(unit.name)
    asked = spec.facility.cooling[at]
    left = asked.units - asked.redundant
    what = (
        f"{unit.name} must remove {kilowatts(load_w)}, {percent(load_w, unit.capacity_after_loss_w)} of what "
        f"{counted(left, 'unit')} remove{'s' if left == 1 else ''} with {asked.redundant} out"
    )
    have = f"{asked.units} x {watts(asked.capacity_w_each)} for {counted(len(unit.racks), 'rack')}"
    more = -(-(load_w - unit.capacity_after_loss_w) // asked.capacity_w_each)
    fix = f"add {counted(round(more), 'unit')}, or cool some racks elsewhere"
    return finding(spec, ("facility", "cooling", at, "units"), "cooling-over-capacity", what=what, have=have, fix=fix)


def check_cooling_spare(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Cooling that carries a load has a spare unit."""
    loads = {unit.name: unit.load_w for unit in plan.facility.cooling}
    for at, unit in enumerate(spec.facility.cooling):
        if unit.redundant == 0 and loads[unit.name] != 0:
            what = f"{unit.name} has no spare unit: one that fails takes {watts(unit.capacity_w_each)} of cooling"
            loc = ("facility", "cooling", at, "redundant")
            yield finding(
                spec, loc, "cooling-no-spare", what=what, fix="add a unit and say redundant: 1", severity="warning"
            )


def check_rack_density(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A rack puts no more heat into air than is usual; vendors publish more, so this is a warning."""
    racks, limit_w = racks_of(spec), spec.facility.density.air_limit_w
    dense = [rack for rack in plan.facility.racks if (rack.heat_air_w or 0) > limit_w]
    for group in grouped_by(dense, lambda rack: (racks[rack.name].path, rack.heat_air_w)).values():
        rack = group[0]
        flow = "" if rack.airflow_cfm is None else f" ({rack.airflow_cfm:,.0f} CFM)".replace(",", " ")
        verb = "puts" if len(group) == 1 else "each put"
        what = f"{named([rack.name for rack in group])} {verb} {kilowatts(rack.heat_air_w)} into air{flow}"
        have = f"the usual limit of air is {kilowatts(limit_w)} a rack"
        fix = "prove the airflow of the row, and raise density.air_limit_w to what was proved"
        yield rack_finding(spec, racks[rack.name], "rack-density", what=what, have=have, fix=fix, severity="warning")


COOLING_CHECKS = (check_cooling_names, check_cooling_capacity, check_cooling_spare, check_rack_density)
