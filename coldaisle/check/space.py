"""Checks of racks: units that overlap or are not there, weight, depth, air, names, and switches without a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from coldaisle.check.finding import Finding, Severity, finding
from coldaisle.check.places import grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import DevicePlacement, RackPlan, SitePlan
from coldaisle.plan.space import floor_area_m2
from coldaisle.spec.base import near_miss
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import grouped


def _top(device: DevicePlacement) -> int:
    return device.rack_unit + device.height_u - 1


def _units(device: DevicePlacement) -> str:
    return f"U{device.rack_unit}" if device.height_u == 1 else f"U{device.rack_unit}-U{_top(device)}"


def device_loc(spec: SiteSpec, plan: SitePlan, device: DevicePlacement) -> Loc:
    """Return the path of the line of the spec that places a device."""
    if device.kind == "node":
        node = next(node for node in spec.nodes if node.name == device.device)
        return ("node_pools", node.pool, "nodes", node.key, "rack_unit")
    if device.kind == "service":
        names = [service.name for service in spec.facility.devices]
        return ("facility", "devices", names.index(device.device), "rack_unit")
    for name, fabric in plan.fabrics.items():
        for switch in fabric.switches:
            if switch.name == device.device:
                return ("fabrics", name, "switch" if switch.role == "oob" else switch.role, "rack_units")
    return ("fabrics",)


def check_rack_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each rack has a name of its own."""
    del plan
    racks = spec.racks
    counts = Counter(rack.name for rack in racks)
    for rack in racks:
        if counts[rack.name] > 1:
            what = f"{counts[rack.name]} racks are named {rack.name}"
            loc: Loc = (*rack.path, "name")
            yield finding(spec, loc, "duplicate-name", what=what, fix="give each rack a name of its own")


def check_rack_units(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each device stands within its rack."""
    for rack in plan.facility.racks:
        for device in rack.devices:
            if device.rack_unit < 1 or _top(device) > rack.height_u:
                what = f"{device.device} takes {_units(device)} of rack {rack.name}, which has {rack.height_u} units"
                fix = f"give a rack_unit of 1 to {rack.height_u - device.height_u + 1}"
                yield finding(spec, device_loc(spec, plan, device), "rack-unit-out-of-range", what=what, fix=fix)


def check_overlaps(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No two devices of a rack take the same unit."""
    for rack in plan.facility.racks:
        below: DevicePlacement | None = None
        for device in rack.devices:
            if below is not None and device.rack_unit <= _top(below):
                what = (
                    f"{device.device} ({_units(device)}) overlaps {below.device} ({_units(below)}) in rack {rack.name}"
                )
                fix = f"move {device.device} to {_free(rack, device)}"
                yield finding(spec, device_loc(spec, plan, device), "rack-units-overlap", what=what, fix=fix)
            if below is None or _top(device) > _top(below):
                below = device


def _free(rack: RackPlan, device: DevicePlacement) -> str:
    """Return the lowest place of a rack where a device fits, or another rack."""
    taken = {unit for other in rack.devices if other is not device for unit in range(other.rack_unit, _top(other) + 1)}
    for unit in range(1, rack.height_u - device.height_u + 2):
        if taken.isdisjoint(range(unit, unit + device.height_u)):
            return f"rack_unit {unit}"
    return "another rack: this one has no room"


def check_weight(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No rack weighs more than its floor carries; a weight that is not known is told, never taken as nothing."""
    racks = racks_of(spec)
    limits = [(rack, racks[rack.name].spec.max_weight_kg) for rack in plan.facility.racks if rack.devices]
    known = [(rack, limit) for rack, limit in limits if limit is not None]
    for rack, limit in known:
        if rack.weight_kg is not None and rack.weight_kg > limit:
            weight = f"{grouped(rack.weight_kg)} kg"
            what = f"the devices of rack {rack.name} weigh {weight}, and it carries {grouped(limit)} kg"
            fix = "move a device, or raise max_weight_kg if the floor carries it"
            yield rack_finding(spec, racks[rack.name], "rack-overweight", what=what, fix=fix, below=("max_weight_kg",))
    unknown = [rack for rack, _ in known if rack.weight_kg is None]
    for models, group in grouped_by(unknown, _weightless).items():
        names = named([rack.name for rack in group])
        what = f"the weight of {names} is not known: the catalog has none of {', '.join(models)}"
        yield rack_finding(
            spec,
            racks[group[0].name],
            "weight-unknown",
            what=what,
            fix="add weight_kg with its source to the catalog",
            below=("max_weight_kg",),
            severity="warning",
        )


def _weightless(rack: RackPlan) -> tuple[str, ...]:
    """Return the models of a rack that have no weight."""
    return tuple(sorted({device.model for device in rack.devices if device.weight_kg is None}))


def check_unplaced_switches(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each switch stands in a rack, or no ledger counts it."""
    for name, fabric in plan.fabrics.items():
        for role in dict.fromkeys(switch.role for switch in fabric.switches):
            names = [switch.name for switch in fabric.switches if switch.role == role and switch.rack is None]
            if names:
                verb = "stands" if len(names) == 1 else "stand"
                tier = "switch" if role == "oob" else role
                yield finding(
                    spec,
                    ("fabrics", name, tier),
                    "unplaced-switch",
                    what=f"{named(names, 'switch', 'switches')} of fabric {name} {verb} in no rack",
                    have="power, heat and weight of the racks lack them",
                    fix=f"give {tier}.racks and {tier}.rack_units",
                    severity="warning",
                )


def check_floor(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No rack weighs more on the floor below it than the floor carries; an unknown load on it is told."""
    racks = racks_of(spec)
    limited = [rack for rack in plan.facility.racks if rack.floor_limit_kg_m2 is not None and rack.devices]
    for group in grouped_by(limited, lambda rack: (racks[rack.name].path, rack.floor_kg_m2)).values():
        rack = group[0]
        placed, limit = racks[rack.name], rack.floor_limit_kg_m2 or 0.0
        names = named([rack.name for rack in group])
        if rack.floor_kg_m2 is None:
            what = f"how much {names} {_weigh(group)} on the floor is not known without {_missing(placed, rack)}"
            fix = "give what is missing, or leave the limit of the floor out"
            yield rack_finding(spec, placed, "floor-unknown", what=what, fix=fix, severity="warning")
        elif rack.floor_kg_m2 > limit:
            load = f"{grouped(rack.floor_kg_m2)} kg/m2"
            what = f"{names} {_weigh(group)} {load} on a floor that carries {grouped(limit)} kg/m2"
            weight = (rack.weight_kg or 0.0) + (placed.spec.empty_weight_kg or 0.0)
            have = f"{grouped(weight)} kg a rack on {floor_area_m2(placed) or 0.0:.2f} m2"
            fix = "move a device, spread the load with a plate, or give the aisles that share it (floor.aisle_m)"
            yield rack_finding(spec, placed, "floor-overload", what=what, have=have, fix=fix)


def _weigh(group: list[RackPlan]) -> str:
    return "weighs" if len(group) == 1 else "each weigh"


def _missing(placed: PlacedRack, rack: RackPlan) -> str:
    """Return the figures that the load on the floor lacks."""
    keys = [key for key in ("depth_mm", "empty_weight_kg") if getattr(placed.spec, key) is None]
    models = [f"the weight of {model}" for model in _weightless(rack)]
    return " and ".join([*keys, *models])


def check_depth(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No device is deeper than the room between the rails of its rack; a depth that is not known is told."""
    racks = racks_of(spec)
    limited = [rack for rack in plan.facility.racks if rack.usable_depth_mm is not None]
    for rack in limited:
        for device in rack.devices:
            if device.depth_mm is not None and device.depth_mm > (rack.usable_depth_mm or 0.0):
                what = (
                    f"{device.device} is {grouped(device.depth_mm)} mm deep, and rack {rack.name} has room for "
                    f"{grouped(rack.usable_depth_mm or 0.0)} mm"
                )
                fix = "place it in a deeper rack"
                yield finding(spec, device_loc(spec, plan, device), "device-too-deep", what=what, fix=fix)
    for models, group in grouped_by(limited, _depthless).items():
        if models:
            names = named([rack.name for rack in group])
            what = f"whether {', '.join(models)} fits into {names} is not known: the catalog has no depth"
            fix = "add depth_mm with its source to the catalog"
            placed, below = racks[group[0].name], ("usable_depth_mm",)
            yield rack_finding(spec, placed, "depth-unknown", what=what, fix=fix, below=below, severity="warning")


def _depthless(rack: RackPlan) -> tuple[str, ...]:
    """Return the models of a rack that have no depth."""
    return tuple(sorted({device.model for device in rack.devices if device.depth_mm is None}))


def check_airflow(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """All devices of a rack move air the same way, or one breathes what another breathes out."""
    racks = racks_of(spec)
    mixed = [rack for rack in plan.facility.racks if len(_ways(rack)) > 1]
    for ways, group in grouped_by(mixed, lambda rack: tuple(_ways(rack).items())).items():
        names = named([rack.name for rack in group])
        mixes = "mixes" if len(group) == 1 else "mix"
        what = f"{names} {mixes} {' and '.join(way for way, _ in ways)} air"
        have = "; ".join(f"{way}: {', '.join(models)}" for way, models in ways)
        opposed = {"front-to-rear", "rear-to-front"} <= set(dict(ways))
        fix = "order fans of the other direction, mount the device the other way round, or say so in facility.airflow"
        placed = racks[group[0].name]
        severity: Severity = "error" if opposed else "warning"
        yield rack_finding(spec, placed, "airflow-mixed", what=what, have=have, fix=fix, severity=severity)


def _ways(rack: RackPlan) -> dict[str, tuple[str, ...]]:
    """Return the directions of air in a rack, each with its models; a direction that is not known is not there."""
    found: dict[str, set[str]] = {}
    for device in rack.devices:
        if device.airflow is not None:
            found.setdefault(device.airflow, set()).add(device.model)
    return {way: tuple(sorted(models)) for way, models in sorted(found.items())}


def check_airflow_models(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """`facility.airflow` speaks of models that the catalog has."""
    del plan
    known = [*spec.catalog.systems, *spec.catalog.switches]
    for model in spec.facility.airflow:
        if model not in known:
            what, fix = f"there is no system and no switch {model}", near_miss(model, known)
            yield finding(spec, ("facility", "airflow", model), "unknown-model", what=what, fix=fix)


SPACE_CHECKS = (
    check_rack_names,
    check_rack_units,
    check_overlaps,
    check_weight,
    check_floor,
    check_depth,
    check_airflow,
    check_airflow_models,
    check_unplaced_switches,
)
