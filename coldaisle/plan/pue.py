"""
The estimate of the PUE from its parts: fans, pumps, chillers, conversion losses and lighting.

It is for a first figure and for comparing designs; each part says what was assumed. A part that is not known makes the
PUE unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coldaisle.plan.cooling import heats
from coldaisle.plan.model import CoolingPlan, OverheadPlan, PuePlan, RackPlan, UpstreamPlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.facility import FacilitySpec
from coldaisle.spec.power import UpstreamPower

Watts = float | None


def plan_pue(
    spec: FacilitySpec,
    it_power_w: Watts,
    racks: Sequence[RackPlan],
    cooling: Iterable[CoolingPlan],
    upstream: Iterable[UpstreamPlan],
) -> PuePlan:
    """Return the estimate of the PUE, with the power of each part beside the IT load in watts."""
    overheads = (
        *_cooling(spec, cooling),
        *_uncooled(racks, {unit.name: unit.kind for unit in spec.cooling}),
        *_losses(spec, upstream),
        _lighting(spec, it_power_w),
    )
    facility_w = total([it_power_w, *(part.power_w for part in overheads)])
    pue = facility_w / it_power_w if facility_w is not None and it_power_w else None
    return PuePlan(pue=pue, facility_power_w=facility_w, overheads=overheads)


# -- cooling ------------------------------------------------------------------------------------------------------
def _cooling(spec: FacilitySpec, cooling: Iterable[CoolingPlan]) -> Iterator[OverheadPlan]:
    asked = {unit.name: unit for unit in spec.cooling}
    for plan in cooling:
        moved = _fans(spec, plan) if plan.kind == "air" else _pumps(spec, plan)
        yield moved
        yield _chillers(spec, asked[plan.name], plan, moved.power_w)


def _fans(spec: FacilitySpec, plan: CoolingPlan) -> OverheadPlan:
    each, flow = spec.overheads.fan_w_per_cfm, plan.supply_airflow_cfm
    how = f"{each:g} W a CFM" + _from("overheads.fan_w_per_cfm", given="fan_w_per_cfm" in _given(spec))
    if flow is None:
        how += "; its flow is not known" + ("" if plan.load_w is None else ": give temperature_rise_k")
    return OverheadPlan(item=f"fans of {plan.name}", power_w=None if flow is None else flow * each, assumption=how)


def _pumps(spec: FacilitySpec, plan: CoolingPlan) -> OverheadPlan:
    each, flow = spec.overheads.pump_w_per_l_min, plan.coolant_l_min
    how = f"{each:g} W a L/min" + _from("overheads.pump_w_per_l_min", given="pump_w_per_l_min" in _given(spec))
    if flow is None:
        how += "; its flow is not known" + ("" if plan.load_w is None else ": give temperature_rise_k")
    return OverheadPlan(item=f"pumps of {plan.name}", power_w=None if flow is None else flow * each, assumption=how)


def _chillers(spec: FacilitySpec, asked: Cooling, plan: CoolingPlan, moved_w: Watts) -> OverheadPlan:
    """Return what removes a loop's heat from the building, the heat of its own fans or pumps with it."""
    cop, heat_w = asked.cop or spec.overheads.cop, total([plan.load_w, moved_w])
    given = asked.cop is not None or "cop" in _given(spec)
    how = f"a COP of {cop:g}" + _from(f"cop of {plan.name}" if asked.cop else "overheads.cop", given=given)
    return OverheadPlan(
        item=f"heat rejection of {plan.name}", power_w=None if heat_w is None else heat_w / cop, assumption=how
    )


def _uncooled(racks: Sequence[RackPlan], kinds: dict[str, str]) -> Iterator[OverheadPlan]:
    """Yield the heat that no cooling takes: what it will need is not known."""
    for medium in ("air", "liquid"):
        names = [rack.name for rack in racks if _goes_nowhere(rack, medium, kinds)]
        if names:
            how = f"nothing takes the heat into {medium} of {len(names)} racks, of which {names[0]} is the first"
            yield OverheadPlan(item=f"cooling of heat into {medium}", power_w=None, assumption=how)


def _goes_nowhere(rack: RackPlan, medium: str, kinds: dict[str, str]) -> bool:
    heat_w = rack.heat_room_w if medium == "air" else rack.heat_liquid_w
    names = [name for kind, name, _ in heats(rack) if kind == medium and name != rack.door_cooling]
    return heat_w != 0 and not any(kinds.get(name) == medium for name in names)


# -- everything else ------------------------------------------------------------------------------------------------
def _losses(spec: FacilitySpec, upstream: Iterable[UpstreamPlan]) -> Iterator[OverheadPlan]:
    """Yield what UPS and transformers lose, and what any other part that gives its efficiency loses."""
    loads = {part.name: part.load_w for part in upstream}
    for part in sorted(spec.power.upstream, key=lambda part: part.name):
        efficiency, how = _efficiency(spec, part)
        if efficiency is not None:
            load_w = loads[part.name]
            lost_w = None if load_w is None else load_w * (1 / efficiency - 1)
            yield OverheadPlan(item=f"losses of {part.kind} {part.name}", power_w=lost_w, assumption=how)


def _efficiency(spec: FacilitySpec, part: UpstreamPower) -> tuple[float | None, str]:
    if part.efficiency is not None:
        return part.efficiency, f"an efficiency of {part.efficiency:g}, as its entry says"
    key = {"ups": "ups_efficiency", "transformer": "transformer_efficiency"}.get(part.kind)
    if key is None:
        return None, ""
    value = float(getattr(spec.overheads, key))
    return value, f"an efficiency of {value:g}" + _from(f"overheads.{key}", given=key in _given(spec))


def _lighting(spec: FacilitySpec, it_power_w: Watts) -> OverheadPlan:
    share = spec.overheads.lighting
    how = f"{100 * share:g} % of the IT power" + _from("overheads.lighting", given="lighting" in _given(spec))
    return OverheadPlan(
        item="lighting and the rest", power_w=None if it_power_w is None else share * it_power_w, assumption=how
    )


def _given(spec: FacilitySpec) -> set[str]:
    return spec.overheads.model_fields_set


def _from(key: str, *, given: bool) -> str:
    return f" ({key})" if given else f" (default of {key})"
