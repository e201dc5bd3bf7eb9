"""Sums of a rack: power, heat, weight and units, each device with the figure of the catalog that counts for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from coldaisle.check.places import catalog_line, grouped_by, named, racks_of
from coldaisle.plan.model import NO_DRAWS, DevicePlacement, RackPlan, SitePlan
from coldaisle.plan.placement import Placed
from coldaisle.plan.power.draws import BUDGETED, CAPPED, cap_words
from coldaisle.plan.power.racks import KINDS, OtherDraw
from coldaisle.plan.space import floor_area_m2
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum, added, budget_source, figure_source
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import grouped, watts

_KIND_NAMES: Mapping[OtherDraw, str] = {
    "typical_w": "typical draw",
    "transient_w": "transient draw",
    "startup_w": "start-up draw",
}


def kind_of(placed: Placed) -> Literal["systems", "switches"]:
    """Return the part of the catalog that a device's model stands in."""
    return "switches" if placed.placement.kind == "switch" else "systems"


def draw_source(spec: SiteSpec, plan: SitePlan, placed: Placed) -> str:
    """Return where a device's draw comes from: the site's budget, or a line of the catalog and its document."""
    if placed.power_source == BUDGETED:
        return budget_source(spec.marks.where(_budget_loc(spec, plan, placed.placement)))
    source = figure_source(spec, kind_of(placed), placed.placement.model, "max_power_w")
    return _cap_source(spec, placed.placement) + source if placed.power_source.startswith(CAPPED) else source


def _cap_source(spec: SiteSpec, device: DevicePlacement) -> str:
    """Return where the cap of a node stands, and how it comes to what the node may draw."""
    pool = next(node.pool for node in spec.nodes if node.name == device.device)
    cap, system = spec.node_pools[pool].power_cap, spec.catalog.systems[device.model]
    said = f"{CAPPED} at {cap_words(cap)} ({spec.marks.where(('node_pools', pool, 'power_cap'))})" if cap else ""
    gpu = spec.catalog.gpus.get(system.gpus.model) if system.gpus else None
    if cap and cap.scope == "gpu" and system.gpus and gpu:
        module = "unknown" if gpu.module_power_w is None else f"{gpu.module_power_w:g} W"
        where = catalog_line(spec, "gpus", system.gpus.model)
        said += f", {system.gpus.count} GPUs of {module} each without it ({where}, {gpu.source_of('module_power_w')})"
    return f"{said}; uncapped: "


def _budget_loc(spec: SiteSpec, plan: SitePlan, device: DevicePlacement) -> Loc:
    """Return the line of the spec that budgets a draw."""
    if device.kind == "service":
        names = [service.name for service in spec.facility.devices]
        return ("facility", "devices", names.index(device.device), "max_power_w")
    for name, fabric in plan.fabrics.items():
        for switch in fabric.switches:
            if switch.name == device.device:
                return ("fabrics", name, "switch" if switch.role == "oob" else switch.role, "max_power_w")
    return ("fabrics",)


def alike(devices: Iterable[Placed]) -> list[list[Placed]]:
    """Return devices that count the same, in groups: of one model, with one draw from one source."""
    return list(
        grouped_by(
            devices,
            lambda d: (d.placement.kind, d.placement.model, d.placement.max_power_w, d.power_source),
        ).values()
    )


def item(group: list[Placed]) -> str:
    """Return how an addend names its devices: `4 x dgx-h100 (r03-n1 … r03-n4)`."""
    names = [placed.placement.device for placed in group]
    which = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
    return f"{len(group)} x {group[0].placement.model} ({which})"


def explain_rack(spec: SiteSpec, plan: SitePlan, rack: RackPlan, devices: tuple[Placed, ...]) -> Explanation:
    """Return power, heat into air and liquid, weight and units of a rack."""
    groups = alike(devices)
    sums = [
        added("power", "W", (_draw(spec, plan, group) for group in groups)),
        added("heat into air", "W", (_heat(spec, plan, group, air=True) for group in groups)),
        added("weight", "kg", (_weight(spec, group) for group in groups)),
        added("rack units", "rack units", (_units(spec, group) for group in groups)),
    ]
    if rack.heat_liquid_w != 0:
        sums.insert(2, added("heat into liquid", "W", (_heat(spec, plan, group, air=False) for group in groups)))
    sums += [_other_draws(spec, kind, groups) for kind in KINDS if rack.draws != NO_DRAWS]
    where = f"rack {rack.name} in {rack.hall}, row {rack.row}"
    return Explanation(target=rack.name, what=where, sums=tuple(sums), figures=tuple(_limits(spec, rack)))


def _draw(spec: SiteSpec, plan: SitePlan, group: list[Placed]) -> Addend:
    each = group[0].placement.max_power_w
    value = None if each is None else len(group) * each
    return Addend(item=item(group), how=f"{watts(each)} each", value=value, source=draw_source(spec, plan, group[0]))


def _other_draws(spec: SiteSpec, kind: OtherDraw, groups: list[list[Placed]]) -> Sum:
    """Return the sum of another kind of draw of a rack."""
    return added(_KIND_NAMES[kind], "W", (_other_draw(spec, kind, group) for group in groups))


def _other_draw(spec: SiteSpec, kind: OtherDraw, group: list[Placed]) -> Addend:
    each: float | None = getattr(group[0].placement.draws, kind)
    return Addend(
        item=item(group),
        how=f"{watts(each)} each",
        value=None if each is None else len(group) * each,
        source=_other_source(spec, kind, group[0]),
    )


def _other_source(spec: SiteSpec, kind: OtherDraw, placed: Placed) -> str:
    """Return where another kind of draw comes from: the catalog, the site's rule, or nowhere."""
    figure, part = kind.replace("_w", "_power_w"), kind_of(placed)
    entry = spec.catalog.systems if part == "systems" else spec.catalog.switches
    rule, rules = kind.removesuffix("_w"), spec.facility.power.draw_rules
    factor = getattr(rules, rule)
    if getattr(entry[placed.placement.model], figure) is None and factor is not None:
        where = spec.marks.where(("facility", "power", "draw_rules", rule))
        return f"the site's rule, {factor:g} of the maximum ({where})"
    return figure_source(spec, part, placed.placement.model, figure)


def _heat(spec: SiteSpec, plan: SitePlan, group: list[Placed], *, air: bool) -> Addend:
    first, source = group[0], draw_source(spec, plan, group[0])
    each, air_share = first.placement.max_power_w, first.air_share
    share = None if air_share is None else air_share if air else 1 - air_share
    part = "unknown" if share is None else f"{100 * share:g} %"
    if kind_of(first) == "systems":
        source += f"; share: {figure_source(spec, 'systems', first.placement.model, 'air_share')}"
    else:
        source += "; share: switches are cooled by air"
    value = None if each is None or share is None else len(group) * each * share
    return Addend(item=item(group), how=f"{part} of {watts(each)} each", value=value, source=source)


def _weight(spec: SiteSpec, group: list[Placed]) -> Addend:
    first = group[0]
    each = first.placement.weight_kg
    return Addend(
        item=item(group),
        how="unknown each" if each is None else f"{each:g} kg each",
        value=None if each is None else len(group) * each,
        source=figure_source(spec, kind_of(first), first.placement.model, "weight_kg"),
    )


def _units(spec: SiteSpec, group: list[Placed]) -> Addend:
    first = group[0]
    return Addend(
        item=item(group),
        how=f"{first.placement.height_u} each",
        value=float(len(group) * first.placement.height_u),
        source=figure_source(spec, kind_of(first), first.placement.model, "height_u"),
    )


def _limits(spec: SiteSpec, rack: RackPlan) -> Iterator[Figure]:
    placed = racks_of(spec)[rack.name]
    height = spec.marks.where((*placed.path, "height_u"))
    yield Figure(name="height", unit="rack units", value=float(rack.height_u), how="as written", source=height)
    if placed.spec.max_weight_kg is not None:
        floor = spec.marks.where((*placed.path, "max_weight_kg"))
        weight = placed.spec.max_weight_kg
        yield Figure(name="weight that it carries", unit="kg", value=weight, how="as written", source=floor)
    yield Figure(name="blanking panels", unit="rack units", value=float(rack.blank_u), how="free", source=height)
    yield from _floor(spec, rack, placed)
    if rack.usable_depth_mm is not None:
        where = spec.marks.where((*placed.path, "usable_depth_mm"))
        yield Figure(name="room in depth", unit="mm", value=rack.usable_depth_mm, how="as written", source=where)
    if placed.spec.rear_door is not None:
        where = spec.marks.where((*placed.path, "rear_door"))
        how = f"of {watts(rack.heat_air_w)} into air, as far as {watts(placed.spec.rear_door.capacity_w)} go"
        yield Figure(name="heat into the rear door", unit="W", value=rack.heat_door_w, how=how, source=where)
    loc = ("facility", "density", "air_limit_w")
    limit = spec.marks.where(loc) if spec.marks.existing(loc) == loc else "the default of facility.density"
    density = spec.facility.density.air_limit_w
    yield Figure(name="usual limit of air", unit="W", value=density, how="a rack", source=limit)
    if rack.airflow_cfm is not None:
        how = f"1.76 x {watts(rack.heat_air_w)} / the rise of {rack.cooling}"
        yield Figure(name="air", unit="CFM", value=rack.airflow_cfm, how=how, source="coldaisle/plan/climate.py")


def _floor(spec: SiteSpec, rack: RackPlan, placed: PlacedRack) -> Iterator[Figure]:
    """Yield the load on the floor and what it carries, where it has a limit; a load that is not known is told."""
    if rack.floor_limit_kg_m2 is None:
        return
    area_m2, empty_kg = floor_area_m2(placed), placed.spec.empty_weight_kg
    weights = f"{_kilograms(rack.weight_kg)} and {_kilograms(empty_kg)} of the rack itself"
    area = "an unknown area" if area_m2 is None else f"{area_m2:.2f} m2"
    where = spec.marks.where(placed.path)
    load = rack.floor_kg_m2
    yield Figure(name="load on the floor", unit="kg/m2", value=load, how=f"{weights}, on {area}", source=where)
    limit = rack.floor_limit_kg_m2
    yield Figure(name="what the floor carries", unit="kg/m2", value=limit, how="as written", source=where)


def _kilograms(value: float | None) -> str:
    return "an unknown weight" if value is None else f"{value:g} kg"


def by_rack(
    spec: SiteSpec, values: Iterable[tuple[RackPlan, str, float | None]], what: str, source: str, unit: str = "W"
) -> Iterator[Addend]:
    """
    Return an addend for racks of one line of the spec that count the same.

    Args:
        spec: The site.
        values: Each rack, what of it counts (a feed, or nothing), and its value.
        what: What the value is, such as `of heat into air`.
        source: Where to read on; `{}` stands for the first of the racks.
        unit: Unit of the values.
    """
    racks = racks_of(spec)
    for (_, label, each), group in grouped_by(values, lambda v: (racks[v[0].name].path, v[1], v[2])).items():
        names = [rack.name for rack, _, _ in group]
        value = "unknown" if each is None else f"{grouped(each)} {unit}"
        yield Addend(
            item=named(names) + label,
            how=f"{value} {what}" + (" each" if len(group) > 1 else ""),
            value=None if each is None else len(group) * each,
            source=source.format(names[0] + label.replace(", feed ", ".feed_")),
        )


def site_sums(spec: SiteSpec, plan: SitePlan) -> tuple[Sum, ...]:
    """Return the power of all racks, and their other draws where any of them is known."""
    source, racks = f"explain {plan.name} {{}}", plan.facility.racks
    power = added("power of all racks", "W", by_rack(spec, ((r, "", r.power_w) for r in racks), "of power", source))
    kinds = [kind for kind in KINDS if getattr(plan.facility.it_draws, kind) is not None]
    return (power, *(_site_draw(spec, plan, kind, source) for kind in kinds))


def _site_draw(spec: SiteSpec, plan: SitePlan, kind: OtherDraw, source: str) -> Sum:
    values = ((rack, "", getattr(rack.draws, kind)) for rack in plan.facility.racks)
    return added(f"{_KIND_NAMES[kind]} of all racks", "W", by_rack(spec, values, f"of {_KIND_NAMES[kind]}", source))
