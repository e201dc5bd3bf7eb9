"""Which device stands in which rack, with the figures that its rack needs of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.breakout import group_of
from coldaisle.plan.model import DevicePlacement, FabricPlan
from coldaisle.plan.power.arithmetic import Load, shelf_supplies
from coldaisle.plan.power.draws import Drawn, drawn
from coldaisle.plan.space import airflow_of
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Airflow, Psus
from coldaisle.spec.node_pools import PoolSpec

UNKNOWN_HEIGHT_U = 1
"""A device of unknown height is drawn one unit high; the check `missing-figure` makes it an error."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A device in a rack with what the rack's ledgers need beside its place: supplies, heat, and source of its draw."""

    rack: str
    placement: DevicePlacement
    psus: Psus | None
    air_share: float | None
    power_source: str
    power_factor: float | None = None


def placed_devices(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> dict[str, tuple[Placed, ...]]:
    """Return the devices of each rack, by rack unit and then by name. Switches without a place are not there."""
    racks: defaultdict[str, list[Placed]] = defaultdict(list)
    for placed in (*_nodes(spec), *_services(spec), *_switches(spec, fabrics)):
        racks[placed.rack].append(placed)
    return {name: tuple(sorted(devices, key=_by_unit)) for name, devices in sorted(racks.items())}


def loads_of(devices: Iterable[Placed]) -> tuple[Load, ...]:
    """Return what each device draws, and on how many supplies."""
    return tuple(
        Load(each.placement.max_power_w, each.psus.count if each.psus else None, each.placement.draws)
        for each in devices
    )


def _by_unit(placed: Placed) -> tuple[int, str]:
    return placed.placement.rack_unit, placed.placement.device


def _nodes(spec: SiteSpec) -> Iterator[Placed]:
    pools = {name: drawn_by_pool(spec, pool) for name, pool in spec.node_pools.items()}
    for node in spec.nodes:
        yield _of_system(spec, node.name, node.system, "node", node.rack, node.rack_unit, pools[node.pool], None)


def drawn_by_pool(spec: SiteSpec, pool: PoolSpec) -> Drawn:
    """Return what a node of a pool draws, with the pool's cap."""
    system = spec.catalog.systems[pool.system]
    gpu = spec.catalog.gpus.get(system.gpus.model) if system.gpus else None
    return drawn(system, spec.facility.power.draw_rules, cap=pool.power_cap, gpu=gpu)


def _services(spec: SiteSpec) -> Iterator[Placed]:
    rules = spec.facility.power.draw_rules
    for device in spec.facility.devices:
        yield _of_system(
            spec,
            device.name,
            device.model,
            "service",
            device.rack,
            device.rack_unit,
            drawn(spec.catalog.systems[device.model], rules, budget_w=device.max_power_w),
            device.airflow,
        )


def _of_system(  # noqa: PLR0913, PLR0917 - a device and its place
    spec: SiteSpec,
    name: str,
    model: str,
    kind: Literal["node", "service"],
    rack: str,
    rack_unit: int,
    power: Drawn,
    airflow: Airflow | None,
) -> Placed:
    system = spec.catalog.systems[model]
    psus = system.psus or shelf_supplies(system, power.max_w)
    return Placed(
        rack,
        DevicePlacement(
            device=name,
            model=model,
            kind=kind,
            rack_unit=rack_unit,
            height_u=system.height_u or UNKNOWN_HEIGHT_U,
            max_power_w=power.max_w,
            weight_kg=system.weight_kg,
            psus=psus.count if psus else None,
            depth_mm=system.depth_mm,
            airflow=airflow or airflow_of(spec.facility, model, system),
            draws=power.draws,
        ),
        psus,
        system.air_share,
        power.source,
        system.power_factor,
    )


def _switches(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> Iterator[Placed]:
    for name, fabric in fabrics.items():
        for switch in fabric.switches:
            if switch.rack is None or switch.rack_unit is None:
                continue
            model = spec.catalog.switches[switch.model]
            group = group_of(spec.fabrics[name], switch.role)
            power = drawn(model, spec.facility.power.draw_rules, budget_w=group.max_power_w if group else None)
            yield Placed(
                switch.rack,
                DevicePlacement(
                    device=switch.name,
                    model=switch.model,
                    kind="switch",
                    rack_unit=switch.rack_unit,
                    height_u=model.height_u,
                    max_power_w=power.max_w,
                    weight_kg=model.weight_kg,
                    psus=model.psus.count if model.psus else None,
                    depth_mm=model.depth_mm,
                    airflow=airflow_of(spec.facility, switch.model, model),
                    draws=power.draws,
                ),
                model.psus,
                1.0,  # no switch of the catalog is liquid-cooled
                power.source,
                model.power_factor,
            )
