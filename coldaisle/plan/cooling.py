"""Cooling arithmetic: air and coolant flow for a heat load, and what each cooling unit must remove."""

from __future__ import annotations

from collections.abc import Iterable

from coldaisle.plan.model import CoolingPlan, RackPlan
from coldaisle.plan.power import total
from coldaisle.spec.cooling import Cooling

AIR_J_PER_M3_K = 1.2 * 1005
"""Heat that a cubic metre of air takes for each kelvin: 1.2 kg/m3 at 20 °C and sea level, 1005 J/(kg K)."""
WATER_J_PER_L_K = 0.997 * 4180
"""Heat that a litre of water takes for each kelvin: 0.997 kg/L and 4180 J/(kg K) at 25 °C."""
CFM_PER_M3_S = 2118.88
"""Cubic feet a minute in a cubic metre a second."""


def airflow_cfm(heat_w: float | None, rise_k: float | None) -> float | None:
    """Return the air that carries a heat load away, in cubic feet a minute: 1.76 x W / K."""
    if heat_w is None or rise_k is None:
        return None
    return heat_w / (AIR_J_PER_M3_K * rise_k) * CFM_PER_M3_S


def coolant_l_min(heat_w: float | None, rise_k: float | None) -> float | None:
    """Return the water that carries a heat load away, in litres a minute: 1.44 a kilowatt at 10 K."""
    if heat_w is None or rise_k is None:
        return None
    return 60 * heat_w / (WATER_J_PER_L_K * rise_k)


def plan_cooling(units: Iterable[Cooling], racks: tuple[RackPlan, ...]) -> tuple[CoolingPlan, ...]:
    """Return what each set of cooling units must remove, sorted by name."""
    return tuple(_plan(unit, racks) for unit in sorted(units, key=lambda unit: unit.name))


def _plan(unit: Cooling, racks: tuple[RackPlan, ...]) -> CoolingPlan:
    air = unit.kind == "air"
    served = [rack for rack in racks if (rack.cooling if air else rack.liquid_cooling) == unit.name]
    load_w = total(rack.heat_air_w if air else rack.heat_liquid_w for rack in served)
    return CoolingPlan(
        name=unit.name,
        kind=unit.kind,
        capacity_w=unit.units * unit.capacity_w_each,
        capacity_after_loss_w=(unit.units - unit.redundant) * unit.capacity_w_each,
        load_w=load_w,
        racks=tuple(rack.name for rack in served),
        airflow_cfm=airflow_cfm(load_w, unit.temperature_rise_k) if air else None,
        coolant_l_min=None if air else coolant_l_min(load_w, unit.temperature_rise_k),
    )
