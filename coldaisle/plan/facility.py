"""
The facility's ledgers: power from the utility to each feed, heat, rack units and weight.

Losses are tried one by one: each feed of a rack, and each part of the chain above, which takes all feeds below it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coldaisle.plan.climate import airflow_cfm
from coldaisle.plan.cooling import plan_cooling, rack_heat
from coldaisle.plan.model import FabricPlan, FacilityPlan, FeedPlan, LedgerLine, RackPlan, UpstreamPlan
from coldaisle.plan.placement import Placed, loads_of, placed_devices
from coldaisle.plan.power import ancestors, chain_loads_w, feed_capacity_w, feed_loads_w, total, worst
from coldaisle.plan.pue import plan_pue
from coldaisle.plan.space import blank_u, floor_kg_m2, floor_limit_kg_m2, units_of
from coldaisle.spec import SiteSpec
from coldaisle.spec.cooling import Cooling
from coldaisle.spec.facility import FacilitySpec, PlacedRack, placed_racks
from coldaisle.spec.power import Power, PowerFeed, UpstreamPower


@dataclass(frozen=True, slots=True)
class RackPower:
    """A rack's feeds, what hangs above each, and its loads; `lost` maps a lost part of the chain to the loads then."""

    feeds: Sequence[PowerFeed]
    above: tuple[tuple[str, ...], ...]
    loads: tuple[float | None, ...]
    lost_feed: tuple[tuple[float | None, ...], ...]
    lost_part: Mapping[str, tuple[float | None, ...]]


def plan_facility(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> FacilityPlan:
    """
    Return racks, feeds, the chain above them, and cooling.

    Args:
        spec: The site.
        fabrics: Its planned fabrics, whose placed switches draw power too.
    """
    devices = placed_devices(spec, fabrics)
    chain = {part.name: part for part in spec.facility.power.upstream}
    cooling = {unit.name: unit for unit in spec.facility.cooling}
    placed = {rack.name: rack for rack in placed_racks(spec.facility)}
    powers = {name: rack_power(rack, devices.get(name, ()), chain) for name, rack in placed.items()}
    racks = tuple(
        _rack(rack, devices.get(name, ()), powers[name], spec.facility, cooling) for name, rack in placed.items()
    )
    it_power_w = total(rack.power_w for rack in racks)
    upstream = _upstream(spec.facility.power.upstream, powers.values())
    bypass = {hall.name: hall.air.bypass_share for hall in spec.facility.halls}
    loops = plan_cooling(spec.facility.cooling, racks, bypass=bypass, altitude_m=spec.facility.altitude_m)
    return FacilityPlan(
        racks=racks,
        cooling=loops,
        it_power_w=it_power_w,
        upstream=upstream,
        pue=plan_pue(spec.facility, it_power_w, racks, loops, upstream),
    )


# -- one rack ---------------------------------------------------------------------------------------------------
def rack_power(rack: PlacedRack, devices: Iterable[Placed], chain: Mapping[str, UpstreamPower]) -> RackPower:
    """Return what each feed of a rack carries: in full, after the loss of each feed, and of each part above them."""
    feeds = rack.spec.power_feeds
    loads = loads_of(devices)
    above = tuple(ancestors(feed.upstream, chain) for feed in feeds)
    parts = sorted({part for path in above for part in path})
    below = {part: frozenset(at for at, path in enumerate(above) if part in path) for part in parts}
    count = len(feeds)
    return RackPower(
        feeds,
        above,
        feed_loads_w(loads, count),
        tuple(feed_loads_w(loads, count, frozenset({feed})) for feed in range(count)) if count > 1 else (),
        # A part above all feeds darkens the rack: then there is nothing that another feed would carry.
        {part: feed_loads_w(loads, count, lost) for part, lost in below.items() if len(lost) < count},
    )


def _rack(
    rack: PlacedRack,
    devices: tuple[Placed, ...],
    power: RackPower,
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
        feeds=tuple(_feed(at, power, facility.power) for at in range(len(power.feeds))),
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
        blank_u=blank_u(rack.spec.height_u, placed),
        usable_depth_mm=rack.spec.usable_depth_mm,
        max_weight_kg=rack.spec.max_weight_kg,
        floor_kg_m2=floor_kg_m2(rack, weight_kg),
        floor_limit_kg_m2=floor_limit_kg_m2(rack),
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


def _feed(at: int, power: RackPower, settings: Power) -> FeedPlan:
    feed = power.feeds[at]
    derating = settings.derating if feed.derating is None else feed.derating
    losses = [loads[at] for lost, loads in enumerate(power.lost_feed) if lost != at]
    losses += [loads[at] for part, loads in power.lost_part.items() if part not in power.above[at]]
    return FeedPlan(
        name=feed.name,
        voltage_v=feed.voltage_v,
        voltage_reference=feed.voltage_reference,
        phases=feed.phases,
        breaker_a=feed.breaker_a,
        derating=derating,
        power_factor=feed.power_factor,
        capacity_w=feed_capacity_w(
            voltage_v=feed.voltage_v,
            voltage_reference=feed.voltage_reference,
            phases=feed.phases,
            breaker_a=feed.breaker_a,
            derating=derating,
            power_factor=feed.power_factor,
        ),
        load_w=power.loads[at],
        load_after_loss_w=worst([power.loads[at], *losses]),
        upstream=feed.upstream,
    )


# -- the chain above the racks ----------------------------------------------------------------------------------
def _upstream(chain: Sequence[UpstreamPower], racks: Iterable[RackPower]) -> tuple[UpstreamPlan, ...]:
    powers = list(racks)
    loads = chain_loads_w(chain, hanging_w(powers, None))
    by_name = {part.name: part for part in chain}
    after: defaultdict[str, list[float | None]] = defaultdict(list)
    for lost in sorted({part for power in powers for part in power.lost_part}):
        for name, load in chain_loads_w(chain, hanging_w(powers, lost)).items():
            if lost not in ancestors(name, by_name) and name not in ancestors(lost, by_name):
                after[name].append(load)
    return tuple(
        UpstreamPlan(
            name=part.name,
            kind=part.kind,
            capacity_w=part.capacity_w,
            load_w=loads[part.name],
            load_after_loss_w=worst([loads[part.name], *after[part.name]]),
            fed_by=part.fed_by,
        )
        for part in sorted(chain, key=lambda part: part.name)
    )


def hanging_w(powers: Iterable[RackPower], lost: str | None) -> dict[str, list[float | None]]:
    """Return the loads of the circuits that hang on each part directly, with one part of the chain lost."""
    hanging: defaultdict[str, list[float | None]] = defaultdict(list)
    for power in powers:
        loads = power.loads if lost is None else power.lost_part.get(lost, power.loads)
        for feed, load in zip(power.feeds, loads, strict=True):
            if feed.upstream is not None:
                hanging[feed.upstream].append(load)
    return hanging
