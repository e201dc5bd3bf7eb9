"""The facility's ledgers: power from the utility to each feed, heat, rack units and weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from coldaisle.plan.climate import airflow_cfm
from coldaisle.plan.cooling import plan_cooling, rack_heat
from coldaisle.plan.model import FabricPlan, FacilityPlan, FeedPlan, LedgerLine, RackPlan
from coldaisle.plan.placement import Placed, loads_of, placed_devices
from coldaisle.plan.power.arithmetic import total, total_draws
from coldaisle.plan.power.chain import Chain
from coldaisle.plan.power.racks import RackPowers
from coldaisle.plan.power.start import start_order
from coldaisle.plan.power.upstream import ChainPower, heat_of_losses, plan_upstream
from coldaisle.plan.pue import plan_pue
from coldaisle.plan.space import blank_u, floor_kg_m2, floor_limit_kg_m2, units_of
from coldaisle.spec import SiteSpec
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.facility import FacilitySpec, PlacedRack


def plan_facility(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> FacilityPlan:
    """
    Return racks, feeds, the chain above them, and cooling.

    Args:
        spec: The site.
        fabrics: Its planned fabrics, whose placed switches draw power too.
    """
    devices = placed_devices(spec, fabrics)
    chain = Chain(spec.facility.power.upstream)
    cooling = {unit.name: unit for unit in spec.facility.cooling}
    placed = spec.racks_by_name
    racks_power = RackPowers(chain)
    powers = {
        name: racks_power.of(rack.spec.power_feeds, loads_of(devices.get(name, ()))) for name, rack in placed.items()
    }
    racks = tuple(
        _rack(
            rack,
            devices.get(name, ()),
            racks_power.feeds(rack.spec, powers[name], spec.facility.power, devices.get(name, ())),
            spec.facility,
            cooling,
        )
        for name, rack in placed.items()
    )
    it_power_w = total(rack.power_w for rack in racks)
    upstream = plan_upstream(ChainPower(chain, powers.values()))
    bypass = {hall.name: hall.air.bypass_share for hall in spec.facility.halls}
    loops = plan_cooling(
        spec.facility.cooling,
        racks,
        bypass=bypass,
        other_heat=heat_of_losses(spec.facility.power.upstream, upstream),
        altitude_m=spec.facility.altitude_m,
    )
    return FacilityPlan(
        racks=racks,
        cooling=loops,
        it_power_w=it_power_w,
        upstream=upstream,
        start_order=start_order(
            racks, devices, chain, {node.name: node.pool for node in spec.nodes}, spec.facility.power.start_first
        ),
        it_draws=total_draws(rack.draws for rack in racks),
        pue=plan_pue(spec.facility, it_power_w, racks, loops, upstream),
    )


# -- one rack ---------------------------------------------------------------------------------------------------
def _rack(
    rack: PlacedRack,
    devices: tuple[Placed, ...],
    feeds: tuple[FeedPlan, ...],
    facility: FacilitySpec,
    cooling: Mapping[str, Cooling],
) -> RackPlan:
    heat_air_w = total(_heat(device, air=True) for device in devices)
    heat = rack_heat(rack, heat_air_w, total(_heat(device, air=False) for device in devices))
    air, door = cooling.get(rack.spec.cooling or ""), rack.spec.rear_door
    placed = tuple(device.placement for device in devices)
    weight_kg = total(device.weight_kg for device in placed)
    return RackPlan(
        name=rack.name,
        hall=rack.hall,
        row=rack.row,
        height_u=rack.spec.height_u,
        used_u=len({unit for device in placed for unit in units_of(device)}),
        devices=placed,
        feeds=feeds,
        power_w=total(device.placement.max_power_w for device in devices),
        power_lines=_ledger(devices),
        heat_air_w=heat_air_w,
        heat_liquid_w=heat.liquid_w,
        heat_door_w=heat.door_w,
        heat_room_w=heat.room_w,
        airflow_cfm=airflow_cfm(heat_air_w, air.temperature_rise_k if air else None, facility.altitude_m),
        cooling=rack.spec.cooling,
        weight_kg=weight_kg,
        liquid_cooling=rack.spec.liquid_cooling,
        second_liquid_cooling=rack.spec.second_liquid_cooling,
        door_cooling=door.cooling if door else None,
        door_model=door.model if door else None,
        blank_u=blank_u(rack.spec.height_u, placed),
        usable_depth_mm=rack.spec.usable_depth_mm,
        max_weight_kg=rack.spec.max_weight_kg,
        floor_kg_m2=floor_kg_m2(rack, weight_kg),
        floor_limit_kg_m2=floor_limit_kg_m2(rack),
        draws=total_draws(device.draws for device in placed),
    )


def _heat(device: Placed, *, air: bool) -> float | None:
    """Return the part of a device's draw that goes into air or into liquid; all of it becomes heat."""
    draw_w, share = device.placement.max_power_w, device.air_share
    if draw_w is None or share is None:
        return None
    return draw_w * (share if air else 1 - share)


def _ledger(devices: Iterable[Placed]) -> tuple[LedgerLine, ...]:
    """Return a line for each model and draw."""
    counts = Counter((d.placement.model, d.placement.max_power_w, d.power_source) for d in devices)
    lines = sorted(counts.items(), key=lambda item: (item[0][0], item[0][1] or 0.0, item[0][2]))
    return tuple(
        LedgerLine(item=model, count=count, each=each, total=None if each is None else count * each, source=source)
        for (model, each, source), count in lines
    )
