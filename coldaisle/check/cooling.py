"""Checks of cooling: heat has somewhere to go, also after a loss, and a rack's density is what air can take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import grouped_by, named, rack_finding, racks_of
from coldaisle.check.ratings import rated
from coldaisle.plan.cooling import heats
from coldaisle.plan.model import CoolingPlan, RackPlan, SitePlan
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, flow, grouped, kilowatts, percent, watts

SHOWN = 8
"""Names that a message shows of many."""

Asked = tuple[str, str, Loc, str | None, float | None]
"""Kind of cooling, key of the rack, its path, the name that it gives, and the heat that goes there."""


def _asked(rack: RackPlan) -> tuple[Asked, ...]:
    """Return the cooling that a rack names, with the heat that is to go there."""
    second, door = rack.second_liquid_cooling, rack.door_cooling
    wanted: tuple[Asked, ...] = (
        ("air", "cooling", ("cooling",), rack.cooling, rack.heat_room_w),
        ("liquid", "liquid_cooling", ("liquid_cooling",), rack.liquid_cooling, rack.heat_liquid_w),
    )
    if second is not None:
        wanted += (("liquid", "second_liquid_cooling", ("second_liquid_cooling",), second, rack.heat_liquid_w),)
    if door is not None:
        wanted += (("liquid", "rear_door.cooling", ("rear_door", "cooling"), door, rack.heat_door_w),)
    return wanted


def check_cooling_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each rack's heat goes to cooling that exists and is of its kind."""
    kinds = {unit.name: unit.kind for unit in spec.facility.cooling}
    racks = racks_of(spec)
    for group in grouped_by(plan.facility.racks, lambda rack: racks[rack.name].path).values():
        rack = group[0]
        placed = racks[rack.name]
        for kind, key, below, name, heat_w in _asked(rack):
            if name is None and heat_w:
                verb = "puts" if len(group) == 1 else "put"
                what = f"{named([rack.name for rack in group])} {verb} heat into {kind}, and nothing takes it"
                fix = f"give {key}: the name of {kind} cooling"
                yield rack_finding(spec, placed, "no-cooling", what=what, fix=fix, severity="warning")
            elif name is not None and kinds.get(name) != kind:
                what = f"there is no {kind} cooling named {name}"
                have = _known(kinds)
                fix = "correct the name, or add it to facility.cooling"
                yield rack_finding(
                    spec, placed, "unknown-cooling", what=what, have=have, fix=fix, below=below, path=f".{key}"
                )


def _known(kinds: Mapping[str, str]) -> str:
    """Return the cooling that there is, as a message shows it: the first few of many."""
    shown = [f"{name} ({kind})" for name, kind in list(kinds.items())[:SHOWN]]
    more = f" and {len(kinds) - SHOWN} more" if len(kinds) > SHOWN else ""
    return f"known: {', '.join(shown)}{more}" if shown else ""


def check_cooling_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Cooling removes the heat of its racks with its spare units out."""
    for unit in plan.facility.cooling:
        if unit.load_w is not None and unit.load_w > unit.capacity_after_loss_w:
            yield _over(spec, unit, unit.load_w)


def _entries(spec: SiteSpec) -> dict[str, tuple[Loc, Cooling]]:
    """Return the path of the line that each cooling stands at, and what stands there."""
    return {asked.name: (("facility", "cooling", at), asked) for at, asked in enumerate(spec.facility.cooling)}


def _over(spec: SiteSpec, unit: CoolingPlan, load_w: float) -> Finding:
    loc, asked = _entries(spec)[unit.name]
    left = asked.units - asked.redundant
    what = (
        f"{unit.name} must remove {kilowatts(load_w)}, {percent(load_w, unit.capacity_after_loss_w)} of what "
        f"{counted(left, 'unit')} remove{'s' if left == 1 else ''} with {asked.redundant} out"
    )
    have = f"{asked.units} x {watts(asked.capacity_w_each)} for {counted(len(unit.racks), 'rack')}"
    more = -(-(load_w - unit.capacity_after_loss_w) // asked.capacity_w_each)
    fix = f"add {counted(round(more), 'unit')}, or cool some racks elsewhere"
    return finding(spec, (*loc, "units"), "cooling-over-capacity", what=what, have=have, fix=fix)


def check_cooling_spare(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Cooling goes on carrying its load when any one of its units fails, or another loop takes over."""
    racks = {rack.name: rack for rack in plan.facility.racks}
    entries = _entries(spec)
    for unit in plan.facility.cooling:
        if unit.redundant == 0 and unit.load_w != 0 and not _survives(racks, unit):
            loc, _ = entries[unit.name]
            left = kilowatts(unit.capacity_after_one_w) if unit.units > 1 else "nothing"
            load = "a load that is not known" if unit.load_w is None else kilowatts(unit.load_w)
            what = f"{unit.name} has no spare unit: one that fails leaves {left} for {load}"
            fix = "add a unit and say redundant: 1"
            yield finding(spec, (*loc, "redundant"), "cooling-no-spare", what=what, fix=fix, severity="warning")


def _survives(racks: Mapping[str, RackPlan], unit: CoolingPlan) -> bool:
    """Tell whether the heat of a cooling is taken without any one of its units; an unknown load counts as too much."""
    if unit.load_w is not None and unit.load_w <= unit.capacity_after_one_w:
        return True
    served = (racks[name] for name in unit.racks)
    return all(_taken(rack, unit.name) == _taken(rack) for rack in served)


def _taken(rack: RackPlan, lost: str | None = None) -> float:
    """Return the heat of a rack that cooling takes; what is not known counts as a watt, so that it is missed."""
    return sum(1.0 if heat_w is None else heat_w for _, _, heat_w in heats(rack, lost))


def check_pump_spare(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A pump that fails stops no loop: a unit has a spare one, or the other units carry the load."""
    racks = {rack.name: rack for rack in plan.facility.racks}
    entries = _entries(spec)
    for unit in plan.facility.cooling:
        if unit.pumps_each is not None and not unit.redundant_pumps and unit.load_w != 0 and not _survives(racks, unit):
            loc, _ = entries[unit.name]
            what = (
                f"a unit of {unit.name} has {counted(unit.pumps_each, 'pump')} and none to spare: one that fails "
                "stops the unit, and the other units do not carry the load"
            )
            fix = "say redundant_pumps: 1 where a unit can lose one, or add a unit"
            yield finding(spec, (*loc, "pumps_each"), "pump-no-spare", what=what, fix=fix, severity="warning")


def check_loop_loss(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Of two loops of a rack, each takes the heat of both when the other is out."""
    entries = _entries(spec)
    for unit in plan.facility.cooling:
        load_w = unit.load_after_loss_w
        if unit.lost_loop is not None and load_w is not None and load_w > unit.capacity_w:
            loc, asked = entries[unit.name]
            what = (
                f"if {unit.lost_loop} is out, {unit.name} must remove {kilowatts(load_w)}, "
                f"{percent(load_w, unit.capacity_w)} of what all its units remove"
            )
            have = f"{asked.units} x {watts(asked.capacity_w_each)}, and {kilowatts(unit.load_w)} with both"
            fix = "add units to it, or pipe fewer racks to both"
            yield finding(spec, (*loc, "units"), "loop-loss", what=what, have=have, fix=fix)


def check_flow(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The units move the air or the coolant that carries their load, with the spare ones out."""
    entries = _entries(spec)
    for unit in plan.facility.cooling:
        air = unit.kind == "air"
        needed = unit.supply_airflow_cfm if air else unit.coolant_l_min
        moved = unit.airflow_capacity_cfm if air else unit.coolant_capacity_l_min
        if moved is None:
            continue
        key, sign = ("airflow_cfm_each", "CFM") if air else ("coolant_l_min_each", "L/min")
        loc, asked = entries[unit.name]
        if needed is None and unit.load_w is not None:
            what = f"the flow that {unit.name} needs is not known without a temperature rise"
            fix = "give temperature_rise_k"
            yield finding(spec, loc, "flow-unknown", what=what, fix=fix, severity="warning")
        elif needed is not None and needed > moved:
            what = (
                f"{unit.name} must move {flow(needed)} {sign} at {asked.temperature_rise_k:g} K, "
                f"{percent(needed, moved)} of what its units move with {asked.redundant} out"
            )
            have = f"{asked.units} x {flow(moved / (asked.units - asked.redundant))} {sign}{_bypassing(unit)}"
            fix = "add units, or let the temperature rise more" + (", or contain the aisles" if air else "")
            yield finding(spec, (*loc, key), "flow-over-capacity", what=what, have=have, fix=fix)


def _bypassing(unit: CoolingPlan) -> str:
    """Return what of an air flow passes no device, as a message says it."""
    if unit.airflow_cfm is None or unit.supply_airflow_cfm is None or unit.supply_airflow_cfm <= unit.airflow_cfm:
        return ""
    return f"; {grouped(unit.airflow_cfm)} CFM pass the devices, and the rest bypasses them"


def check_rack_density(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A rack puts no more heat into air than is usual; vendors publish more, so this is a warning."""
    racks, limit_w = racks_of(spec), spec.facility.density.air_limit_w
    dense = [rack for rack in plan.facility.racks if (rack.heat_room_w or 0) > limit_w]
    for group in grouped_by(dense, lambda rack: (racks[rack.name].path, rack.heat_room_w)).values():
        rack = group[0]
        flow = "" if rack.airflow_cfm is None else f" ({rack.airflow_cfm:,.0f} CFM)".replace(",", " ")
        verb = "puts" if len(group) == 1 else "each put"
        what = f"{named([rack.name for rack in group])} {verb} {kilowatts(rack.heat_room_w)} into air{flow}"
        have = f"the usual limit of air is {kilowatts(limit_w)} a rack"
        if rack.heat_door_w:
            have += f"; its rear door takes {kilowatts(rack.heat_door_w)} more"
        fix = "prove the airflow of the row, and raise density.air_limit_w to what was proved"
        yield rack_finding(spec, racks[rack.name], "rack-density", what=what, have=have, fix=fix, severity="warning")


def check_ratings(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Coolant units and rear doors that name their model take no more heat than it is rated for."""
    del plan
    for loc, asked in _entries(spec).values():
        yield from rated(spec, loc, "cdus", asked.model, ("capacity_w_each", asked.capacity_w_each, 1))
    paths = {rack.path: rack.spec.rear_door for rack in racks_of(spec).values()}
    for path, door in paths.items():
        if door is not None:
            yield from rated(spec, (*path, "rear_door"), "rear_doors", door.model, ("capacity_w", door.capacity_w, 1))


COOLING_CHECKS = (
    check_cooling_names,
    check_cooling_capacity,
    check_cooling_spare,
    check_pump_spare,
    check_loop_loss,
    check_flow,
    check_ratings,
    check_rack_density,
)
