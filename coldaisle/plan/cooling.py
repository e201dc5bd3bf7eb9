"""Which loop takes which heat, in full and after the loss of another loop, and the flows that carry it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coldaisle.plan.climate import airflow_cfm, coolant_l_min
from coldaisle.plan.model import CoolingPlan, RackPlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.facility import PlacedRack

Watts = float | None


@dataclass(frozen=True, slots=True)
class RackHeat:
    """Where the heat of a rack goes, in watts; None is not known."""

    air_w: Watts
    liquid_w: Watts
    door_w: Watts
    room_w: Watts


def rack_heat(rack: PlacedRack, air_w: Watts, liquid_w: Watts) -> RackHeat:
    """Return the heat of a rack with what its rear door takes out of the air, as far as the door can."""
    door = rack.spec.rear_door
    if door is None:
        return RackHeat(air_w, liquid_w, 0.0, air_w)
    if air_w is None:
        return RackHeat(None, liquid_w, None, None)
    door_w = min(air_w, door.capacity_w)
    return RackHeat(air_w, liquid_w, door_w, air_w - door_w)


def coolant_loops(rack: RackPlan) -> tuple[str, ...]:
    """Return the loops that a rack's liquid-cooled devices are piped to, each once."""
    return tuple(dict.fromkeys(name for name in (rack.liquid_cooling, rack.second_liquid_cooling) if name))


def heats(rack: RackPlan, lost: str | None = None) -> Iterator[tuple[str, str, Watts]]:
    """
    Yield what each loop takes of a rack's heat: its kind, its name and watts.

    Two loops of one rack share its heat evenly. With a loop `lost`, the other takes all; what a lost rear door took
    goes into the room; and what went to a loop without another is taken by none.
    """
    through_door = rack.door_cooling is not None and rack.door_cooling != lost
    if rack.cooling and rack.cooling != lost:
        yield "air", rack.cooling, rack.heat_room_w if through_door or rack.door_cooling is None else rack.heat_air_w
    if through_door:
        yield "liquid", str(rack.door_cooling), rack.heat_door_w
    live = [name for name in coolant_loops(rack) if name != lost]
    for name in live:
        yield "liquid", name, None if rack.heat_liquid_w is None else rack.heat_liquid_w / len(live)


def plan_cooling(
    units: Iterable[Cooling],
    racks: Sequence[RackPlan],
    *,
    bypass: Mapping[str, float] | None = None,
    other_heat: Mapping[str, Sequence[Watts]] | None = None,
    altitude_m: float = 0.0,
) -> tuple[CoolingPlan, ...]:
    """
    Return what each set of cooling units must remove, sorted by name.

    Args:
        units: The cooling of the site.
        racks: Its racks, with their heat.
        bypass: Part of the supplied air that returns unused, by the name of the hall.
        other_heat: What a loop removes beside the heat of racks, such as losses of a UPS, by the name of the loop.
        altitude_m: Height of the site above the sea.
    """
    served: defaultdict[tuple[str, str], list[tuple[RackPlan, Watts]]] = defaultdict(list)
    for rack in racks:
        for kind, name, heat_w in heats(rack):
            served[kind, name].append((rack, heat_w))
    more = _after_losses(racks)
    air = _Air(bypass or {}, altitude_m)
    return tuple(
        _plan(unit, served[unit.kind, unit.name], more.get(unit.name, {}), (other_heat or {}).get(unit.name, ()), air)
        for unit in sorted(units, key=lambda unit: unit.name)
    )


@dataclass(frozen=True, slots=True)
class _Air:
    bypass: Mapping[str, float]
    altitude_m: float

    def supplied_cfm(self, rack: RackPlan, heat_w: Watts, rise_k: float | None) -> float | None:
        """Return the air that must be moved so that enough of it passes the devices of a rack."""
        needed = airflow_cfm(heat_w, rise_k, self.altitude_m)
        return None if needed is None else needed / (1 - self.bypass.get(rack.hall, 0.0))


def _after_losses(racks: Iterable[RackPlan]) -> dict[str, dict[str, list[Watts]]]:
    """Return, for each loop and each other loop that may be lost, what each shared rack then adds to its load."""
    more: dict[str, dict[str, list[Watts]]] = {}
    for rack in racks:
        now: defaultdict[str, list[Watts]] = defaultdict(list)
        for _, name, heat_w in heats(rack):
            now[name].append(heat_w)
        for lost in now if len(now) > 1 else ():
            then: defaultdict[str, list[Watts]] = defaultdict(list)
            for _, name, heat_w in heats(rack, lost):
                then[name].append(heat_w)
            for name, values in then.items():
                before, after = total(now[name]), total(values)
                added = None if before is None or after is None else after - before
                if added != 0:
                    more.setdefault(name, {}).setdefault(lost, []).append(added)
    return more


def _worst_loss(load_w: Watts, more: Mapping[str, list[Watts]]) -> tuple[Watts, str | None]:
    """Return the load after the worst loss of another loop, and that loop; an unknown one may be the worst."""
    after = {lost: total([load_w, *values]) for lost, values in sorted(more.items())}
    unknown = [lost for lost, load in after.items() if load is None]
    worst = unknown[0] if unknown else max(after, key=lambda lost: after[lost] or 0.0, default=None)
    return (load_w, None) if worst is None else (after[worst], worst)


def _plan(
    unit: Cooling,
    served: Sequence[tuple[RackPlan, Watts]],
    more: Mapping[str, list[Watts]],
    other_heat: Sequence[Watts],
    air: _Air,
) -> CoolingPlan:
    load_w = total([*(heat_w for _, heat_w in served), *other_heat])
    after_loss_w, lost = _worst_loss(load_w, more)
    supply_c, rise_k = unit.supply_temp_c, unit.temperature_rise_k
    plan = CoolingPlan(
        name=unit.name,
        kind=unit.kind,
        units=unit.units,
        redundant=unit.redundant,
        model=unit.model,
        capacity_w=unit.units * unit.capacity_w_each,
        capacity_after_loss_w=_left(unit) * unit.capacity_w_each,
        capacity_after_one_w=(unit.units - 1) * unit.capacity_w_each,
        load_w=load_w,
        load_after_loss_w=after_loss_w,
        lost_loop=lost,
        other_heat_w=total(other_heat),
        racks=tuple(dict.fromkeys(rack.name for rack, _ in served)),
        supply_temp_c=supply_c,
        return_temp_c=None if supply_c is None or rise_k is None else supply_c + rise_k,
    )
    return _with_air(plan, unit, served, air) if unit.kind == "air" else _with_coolant(plan, unit)


def _left(unit: Cooling) -> int:
    """Return how many units are left with the spare ones out."""
    return unit.units - unit.redundant


def _with_air(plan: CoolingPlan, unit: Cooling, served: Sequence[tuple[RackPlan, Watts]], air: _Air) -> CoolingPlan:
    rise_k, each = unit.temperature_rise_k, unit.airflow_cfm_each
    supplied = [air.supplied_cfm(rack, heat_w, rise_k) for rack, heat_w in served]
    return replace(
        plan,
        airflow_cfm=airflow_cfm(plan.load_w, rise_k, air.altitude_m),
        supply_airflow_cfm=total([*supplied, airflow_cfm(plan.other_heat_w, rise_k, air.altitude_m)]),
        airflow_capacity_cfm=None if each is None else _left(unit) * each,
    )


def _with_coolant(plan: CoolingPlan, unit: Cooling) -> CoolingPlan:
    coolant, rise_k, each = unit.coolant or "water", unit.temperature_rise_k, unit.coolant_l_min_each
    return replace(
        plan,
        coolant=coolant,
        coolant_l_min=coolant_l_min(plan.load_w, rise_k, coolant),
        coolant_after_loss_l_min=coolant_l_min(plan.load_after_loss_w, rise_k, coolant),
        coolant_capacity_l_min=None if each is None else _left(unit) * each,
        pumps_each=unit.pumps_each,
        redundant_pumps=unit.redundant_pumps,
    )
