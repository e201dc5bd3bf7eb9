"""Which device stands in which rack, with the figures that its rack needs of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.breakout import group_of
from coldaisle.plan.model import DevicePlacement, FabricPlan
from coldaisle.plan.power import Load
from coldaisle.plan.space import airflow_of
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Airflow, Psus

UNKNOWN_HEIGHT_U = 1
"""A device of unknown height is drawn one unit high; the check `missing-figure` makes it an error."""


BUDGETED = "budgeted by the site"
"""Source of a draw that the site itself gives, instead of the catalog."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A device in a rack with what the rack's ledgers need: supplies, share of heat into air, source of its draw."""

    rack: str
    placement: DevicePlacement
    psus: Psus | None
    air_share: float | None
    power_source: str


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
    for node in spec.nodes:
        yield _of_system(spec, node.name, node.system, "node", node.rack, node.rack_unit, None, None)


def _services(spec: SiteSpec) -> Iterator[Placed]:
    for device in spec.facility.devices:
        yield _of_system(
            spec,
            device.name,
            device.model,
            "service",
            device.rack,
            device.rack_unit,
            device.max_power_w,
            device.airflow,
        )


def _of_system(  # noqa: PLR0913, PLR0917 - a device and its place
    spec: SiteSpec,
    name: str,
    model: str,
    kind: Literal["node", "service"],
    rack: str,
    rack_unit: int,
    budget_w: float | None,
    airflow: Airflow | None,
) -> Placed:
    system = spec.catalog.systems[model]
    return Placed(
        rack,
        DevicePlacement(
            device=name,
            model=model,
            kind=kind,
            rack_unit=rack_unit,
            height_u=system.height_u or UNKNOWN_HEIGHT_U,
            max_power_w=budget_w or system.max_power_w,
            weight_kg=system.weight_kg,
            psus=system.psus.count if system.psus else None,
            depth_mm=system.depth_mm,
            airflow=airflow or airflow_of(spec.facility, model, system),
        ),
        system.psus,
        system.air_share,
        BUDGETED if budget_w else system.source_of("max_power_w") or "",
    )


def _switches(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> Iterator[Placed]:
    for name, fabric in fabrics.items():
        for switch in fabric.switches:
            if switch.rack is None or switch.rack_unit is None:
                continue
            model = spec.catalog.switches[switch.model]
            group = group_of(spec.fabrics[name], switch.role)
            budget_w = group.max_power_w if group else None
            yield Placed(
                switch.rack,
                DevicePlacement(
                    device=switch.name,
                    model=switch.model,
                    kind="switch",
                    rack_unit=switch.rack_unit,
                    height_u=model.height_u,
                    max_power_w=budget_w or model.max_power_w,
                    weight_kg=model.weight_kg,
                    psus=model.psus.count if model.psus else None,
                    depth_mm=model.depth_mm,
                    airflow=airflow_of(spec.facility, switch.model, model),
                ),
                model.psus,
                1.0,  # no switch of the catalog is liquid-cooled
                BUDGETED if budget_w else model.source_of("max_power_w") or "",
            )
