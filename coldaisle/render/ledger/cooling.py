"""Sums of cooling: the heat that a loop takes rack by rack, also after the loss of another, its flows, and the PUE."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.places import racks_of
from coldaisle.plan.cooling import heats
from coldaisle.plan.model import CoolingPlan, SitePlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.render.ledger.racks import by_rack
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum, Unit, added
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, flow, watts

CODE = "coldaisle/plan/climate.py"
CONSTANTS = {"water": "0.997 kg/L x 4180 J/(kg K)", "pg25": "1.0215 kg/L x 3920 J/(kg K)"}


def explain_cooling(spec: SiteSpec, plan: SitePlan, unit: CoolingPlan) -> Explanation:
    """Return the heat that a set of cooling units removes, rack by rack, what it can remove, and what it must move."""
    at = [cooling.name for cooling in spec.facility.cooling].index(unit.name)
    here = _Loop(spec, plan, unit, spec.facility.cooling[at], ("facility", "cooling", at))
    sums = [here.heat("heat", None)]
    if unit.lost_loop is not None:
        sums.append(here.heat(f"heat after the loss of {unit.lost_loop}", unit.lost_loop))
    figures = [*here.capacities(), *here.temperatures(), *(here.air() if unit.kind == "air" else here.coolant())]
    return Explanation(
        target=unit.name, what=f"{unit.kind} cooling {unit.name}", sums=tuple(sums), figures=tuple(figures)
    )


class _Loop:
    """One loop with its line of the spec."""

    def __init__(self, spec: SiteSpec, plan: SitePlan, unit: CoolingPlan, asked: Cooling, loc: Loc) -> None:
        self.spec, self.plan, self.unit, self.asked, self.loc = spec, plan, unit, asked, loc

    def where(self, key: str | None = None) -> str:
        """Return where a key of the loop stands, or the loop itself."""
        return self.spec.marks.where((*self.loc, key) if key else self.loc)

    def figure(self, name: str, unit: Unit, value: float | None, how: str, source: str) -> Figure:
        return Figure(name=name, unit=unit, value=value, how=how, source=source)

    # -- heat ---------------------------------------------------------------------------------------------------
    def heat(self, name: str, lost: str | None) -> Sum:
        """Return the heat of each rack that comes here, with a loop lost."""
        served = set(self.unit.racks)
        values = (
            (rack, "", total(heat_w for kind, loop, heat_w in heats(rack, lost) if self._is_here(kind, loop)))
            for rack in self.plan.facility.racks
            if rack.name in served
        )
        what = f"of heat into {self.unit.kind}"
        addends = [*by_rack(self.spec, values, what, f"explain {self.plan.name} {{}}"), *self._other_heat()]
        return added(name, "W", addends)

    def _is_here(self, kind: str, loop: str) -> bool:
        return (kind, loop) == (self.unit.kind, self.unit.name)

    def _other_heat(self) -> Iterator[Addend]:
        parts = [part for part in self.spec.facility.power.upstream if part.heat_to == self.unit.name]
        if parts:
            names = ", ".join(sorted(part.name for part in parts))
            source = f"explain {self.plan.name} {min(part.name for part in parts)}"
            yield Addend(item=f"losses of {names}", how="as heat", value=self.unit.other_heat_w, source=source)

    # -- what it can do ------------------------------------------------------------------------------------------
    def capacities(self) -> Iterator[Figure]:
        """Yield what it can remove: with all units, with the spare ones out, and with any one out."""
        asked, unit, where = self.asked, self.unit, self.where()
        each = watts(asked.capacity_w_each)
        yield self.figure("capacity", "W", unit.capacity_w, f"{asked.units} x {each}", where)
        spare = f"{asked.units - asked.redundant} x {each}"
        yield self.figure(f"capacity with {asked.redundant} out", "W", unit.capacity_after_loss_w, spare, where)
        if asked.redundant != 1:
            one = f"{asked.units - 1} x {each}"
            yield self.figure("capacity after the loss of one unit", "W", unit.capacity_after_one_w, one, where)

    def temperatures(self) -> Iterator[Figure]:
        """Yield what it gives and what returns to it, where the site says it."""
        supply_c, medium = self.unit.supply_temp_c, "air" if self.unit.kind == "air" else "coolant"
        if supply_c is not None:
            yield self.figure(f"supply {medium}", "°C", supply_c, "as written", self.where("supply_temp_c"))
            if self.unit.return_temp_c is not None:
                how = f"{supply_c:g} °C + a rise of {self.asked.temperature_rise_k:g} K"
                rise = self.where("temperature_rise_k")
                yield self.figure(f"return {medium}", "°C", self.unit.return_temp_c, how, rise)

    # -- flows ----------------------------------------------------------------------------------------------------
    def air(self) -> Iterator[Figure]:
        """Yield the air that the devices need, that the units must move, and that they can move."""
        unit, height = self.unit, self.spec.facility.altitude_m
        if unit.airflow_cfm is not None:
            thin = f" in the air of {height:g} m above the sea" if height else ""
            how = f"1.76 x {watts(unit.load_w)} / {self.asked.temperature_rise_k:g} K{thin}"
            yield self.figure("air", "CFM", unit.airflow_cfm, how, CODE)
        if unit.supply_airflow_cfm is not None:
            how = f"{flow(unit.airflow_cfm)} CFM with what bypasses the devices: {', '.join(self._bypasses())}"
            yield self.figure("air to move", "CFM", unit.supply_airflow_cfm, how, self._bypass_source())
        if unit.airflow_capacity_cfm is not None:
            yield self._moved("air moved", "CFM", unit.airflow_capacity_cfm, "airflow_cfm_each")

    def _bypasses(self) -> Iterator[str]:
        served, racks = set(self.unit.racks), racks_of(self.spec)
        halls = {racks[name].hall: racks[name].air for name in sorted(served)}
        for hall, air in sorted(halls.items()):
            default = "" if air.bypass is not None else " (the default)"
            kind = "no containment" if air.containment == "none" else f"{air.containment} containment"
            yield f"{100 * air.bypass_share:g} % in {hall}, {kind}{default}"

    def _bypass_source(self) -> str:
        halls = self.spec.facility.halls
        served = {racks_of(self.spec)[name].hall for name in self.unit.racks}
        at = next((at for at, hall in enumerate(halls) if hall.name in served), 0)
        loc: Loc = ("facility", "halls", at, "air")
        written = self.spec.marks.existing(loc) == loc
        return self.spec.marks.where(loc) if written else "the default of facility.halls.air"

    def coolant(self) -> Iterator[Figure]:
        """Yield the coolant that carries the heat, that the units can move, and their pumps."""
        unit = self.unit
        if unit.coolant_l_min is not None:
            yield self._flow("flow", unit.coolant_l_min, unit.load_w)
        if unit.lost_loop is not None and unit.coolant_after_loss_l_min is not None:
            name = f"flow after the loss of {unit.lost_loop}"
            yield self._flow(name, unit.coolant_after_loss_l_min, unit.load_after_loss_w)
        if unit.coolant_capacity_l_min is not None:
            yield self._moved("flow of the units", "L/min", unit.coolant_capacity_l_min, "coolant_l_min_each")
        if unit.pumps_each is not None:
            spare = unit.redundant_pumps or 0
            how = f"{counted(unit.units, 'unit')} x {unit.pumps_each}, of which {spare} of each may fail"
            yield self.figure("pumps", "pumps", float(unit.units * unit.pumps_each), how, self.where("pumps_each"))

    def _flow(self, name: str, value: float, load_w: float | None) -> Figure:
        coolant = self.unit.coolant or "water"
        how = f"60 x {watts(load_w)} / ({CONSTANTS[coolant]} x {self.asked.temperature_rise_k:g} K), {coolant}"
        return self.figure(name, "L/min", value, how, CODE)

    def _moved(self, name: str, unit: Unit, value: float, key: str) -> Figure:
        left = self.asked.units - self.asked.redundant
        how = f"{left} x {flow(value / left)} {unit}, with {self.asked.redundant} out"
        return self.figure(name, unit, value, how, self.where(key))


def explain_pue(spec: SiteSpec, plan: SitePlan) -> Explanation:
    """Return the power of a site from its parts, each with what was assumed for it, and the PUE that follows."""
    pue = plan.facility.pue
    assert pue is not None  # noqa: S101 - what calls this asks first
    loc: Loc = ("facility", "overheads")
    written = spec.marks.existing(loc) == loc
    source = spec.marks.where(loc) if written else "the defaults of facility.overheads"
    site = f"explain {plan.name}"
    addends = [Addend(item="IT power", how="all racks", value=plan.facility.it_power_w, source=site)]
    addends += [
        Addend(item=part.item, how=part.assumption, value=part.power_w, source=source) for part in pue.overheads
    ]
    how = f"{watts(pue.facility_power_w)} / {watts(plan.facility.it_power_w)}, an estimate at full load"
    figure = Figure(name="PUE", unit="W/W", value=pue.pue, how=how, source="coldaisle/plan/pue.py")
    sums = (added("facility power", "W", addends),)
    return Explanation(target="pue", what=f"PUE of site {plan.name}", sums=sums, figures=(figure,))


def explain_hall(spec: SiteSpec, plan: SitePlan, hall: str) -> Explanation:
    """Return power, heat, weight and free units of a hall, rack by rack."""
    racks = [rack for rack in plan.facility.racks if rack.hall == hall]
    read_on = f"explain {plan.name} {{}}"
    sums = [
        added("power", "W", by_rack(spec, ((rack, "", rack.power_w) for rack in racks), "of power", read_on)),
        added("heat into the room", "W", by_rack(spec, ((r, "", r.heat_room_w) for r in racks), "of heat", read_on)),
    ]
    if any(rack.heat_liquid_w != 0 or rack.heat_door_w != 0 for rack in racks):
        heat = ((r, "", total([r.heat_liquid_w, r.heat_door_w])) for r in racks)
        sums.append(added("heat into liquid", "W", by_rack(spec, heat, "of heat", read_on)))
    blank = ((rack, "", float(rack.blank_u)) for rack in racks)
    sums.append(added("blanking panels", "rack units", by_rack(spec, blank, "free", read_on, unit="U")))
    return Explanation(target=hall, what=f"hall {hall}", sums=tuple(sums))
