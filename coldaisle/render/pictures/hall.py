"""The map of a hall: each rack of each row with its space, power, heat and weight against their limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from coldaisle.plan.model import CoolingPlan, FeedPlan, RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.render.pictures.canvas import LARGE, NORMAL, SMALL, Meter, Sheet, fitting, part_of, unlimited
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, grouped, kilowatts, watts

TILE, BAR, GAP, MARGIN, LABEL = 132, 18, 10, 20, 90
"""Pixels: width of a rack, height of a bar, gaps, margin, and room for a row's name."""
HEAD, COOLING = 80, 24
ABREAST = 8
"""Racks beside each other; a longer row goes on below."""


def hall_map(spec: SiteSpec, plan: SitePlan, hall: str) -> str:
    """
    Return the map of a hall as SVG.

    A rack's power is that of its fullest feed after the worst loss, against what the feed carries.

    Raises:
        LookupError: there is no such hall.
    """
    rows: dict[str, list[RackPlan]] = {}
    for rack in plan.facility.racks:
        if rack.hall == hall:
            rows.setdefault(rack.row, []).append(rack)
    if not rows:
        raise LookupError(f"there is no hall {hall}")
    cooled = _cooling_of(plan, hall)
    shown = _shown([rack for racks in rows.values() for rack in racks])
    tile = NORMAL + 10 + len(shown) * (BAR + 2) + 6
    lines = _lines(rows)
    widest = max(len(racks) for _, racks in lines)
    size = (
        max(2 * MARGIN + LABEL + widest * (TILE + GAP) - GAP, 700),
        HEAD + len(lines) * (tile + 2 * GAP) + len(cooled) * COOLING + MARGIN,
    )
    sheet = Sheet(
        f"hall-{hall}",
        size,
        f"{hall}: space, power, heat and weight of {counted(sum(map(len, rows.values())), 'rack')}",
        "A tile for each rack with bars that are full at their limits: rack units, the fullest feed after the worst "
        "loss, heat into air and liquid, weight, load on the floor. Below, what cooling removes with its spare units "
        "out.",
    )
    sheet.text(f"{hall}: each bar is full at its limit", (MARGIN, 26), LARGE, bold=True)
    words = "power: fullest feed after the worst loss; heat: into air, of the usual limit; ! is over its limit"
    sheet.text(words, (MARGIN, 44), SMALL)
    sheet.text(_summary(spec, plan, hall), (MARGIN, 60), SMALL, bold=True)
    _rows(sheet, lines, [(name, _METERS[name]) for name in shown], spec, tile)
    top = HEAD + len(lines) * (tile + 2 * GAP)
    for at, unit in enumerate(cooled):
        _cooling(sheet, unit, top + at * COOLING)
    return sheet.svg()


def _lines(rows: Mapping[str, list[RackPlan]]) -> list[tuple[str, list[RackPlan]]]:
    """Return rows as lines of tiles; a line that goes on with a row has no name of its own."""
    return [
        (row if at == 0 else "", racks[at : at + ABREAST])
        for row, racks in sorted(rows.items())
        for at in range(0, len(racks), ABREAST)
    ]


def _summary(spec: SiteSpec, plan: SitePlan, hall: str) -> str:
    """Return the totals of a hall, and how its air is kept apart."""
    racks = [rack for rack in plan.facility.racks if rack.hall == hall]
    air = next(each.air for each in spec.facility.halls if each.name == hall)
    contained = "no containment" if air.containment == "none" else f"{air.containment} containment"
    blank = counted(sum(rack.blank_u for rack in racks), "blanking panel")
    power, room = total(rack.power_w for rack in racks), total(rack.heat_room_w for rack in racks)
    return f"{kilowatts(power)} of IT power, {kilowatts(room)} into the room's air, {blank}, {contained}"


def _rows(
    sheet: Sheet,
    rows: list[tuple[str, list[RackPlan]]],
    meters: Sequence[tuple[str, _MeterOf]],
    spec: SiteSpec,
    tile: float,
) -> None:
    for at, (row, racks) in enumerate(rows):
        top = HEAD + at * (tile + 2 * GAP)
        sheet.text(fitting(row, LABEL - 6), (MARGIN, top + 16), NORMAL, bold=True)
        for place, rack in enumerate(racks):
            bars = [meter(rack, spec) for _, meter in meters]
            _tile(sheet, bars, rack, MARGIN + LABEL + place * (TILE + GAP), top)


def _tile(sheet: Sheet, meters: Iterable[Meter], rack: RackPlan, left: float, top: float) -> None:
    sheet.text(fitting(rack.name, TILE - 50), (left, top + 12), NORMAL, bold=True)
    sheet.text(kilowatts(rack.power_w), (left + TILE, top + 12), SMALL, anchor="end")
    for at, meter in enumerate(meters):
        sheet.meter(meter, (left, top + NORMAL + 6 + at * (BAR + 2)), (TILE, BAR))


def _shown(racks: Sequence[RackPlan]) -> tuple[str, ...]:
    """Return the bars of a hall: liquid and floor only where a rack has them."""
    liquid = any(rack.heat_liquid_w != 0 or rack.heat_door_w != 0 for rack in racks)
    floor = any(rack.floor_limit_kg_m2 is not None for rack in racks)
    return ("space", "power", "heat", *(["liquid"] if liquid else []), "weight", *(["floor"] if floor else []))


def _space(rack: RackPlan, _: SiteSpec) -> Meter:
    tip = f"{rack.name}: {rack.used_u} of {rack.height_u} rack units"
    return Meter("space", part_of(float(rack.used_u), float(rack.height_u)), tip)


def fullest_feed(rack: RackPlan) -> FeedPlan:
    """Return the fullest feed of a rack after a loss; an unknown load comes first, since it may be it."""
    unknown = [feed for feed in rack.feeds if feed.load_after_loss_w is None]
    return unknown[0] if unknown else max(rack.feeds, key=lambda feed: (feed.load_after_loss_w or 0) / feed.capacity_w)


def _power(rack: RackPlan, _: SiteSpec) -> Meter:
    feed = fullest_feed(rack)
    load, limit = watts(feed.load_after_loss_w), watts(feed.capacity_w)
    tip = f"{rack.name}: feed {feed.name} carries {load} of {limit} after a loss"
    return Meter(f"power {feed.name}", part_of(feed.load_after_loss_w, feed.capacity_w), tip)


def _heat(rack: RackPlan, spec: SiteSpec) -> Meter:
    limit_w = spec.facility.density.air_limit_w
    tip = f"{rack.name}: {watts(rack.heat_room_w)} into air, of {watts(limit_w)} that is usual"
    return Meter("heat", part_of(rack.heat_room_w, limit_w), tip)


def _liquid(rack: RackPlan, _: SiteSpec) -> Meter:
    """Return the heat into liquid as a part of all: a rack has no limit of its own for it."""
    heat_w = total([rack.heat_liquid_w, rack.heat_door_w])
    part = 0.0 if heat_w == 0 else part_of(heat_w, rack.power_w)
    return Meter("liquid", part, f"{rack.name}: {watts(heat_w)} of its {watts(rack.power_w)} into liquid")


def _weight(rack: RackPlan, _: SiteSpec) -> Meter:
    known = "unknown" if rack.weight_kg is None else f"{grouped(rack.weight_kg)} kg"
    of = "" if rack.max_weight_kg is None else f" of {grouped(rack.max_weight_kg)} kg"
    tip = f"{rack.name}: weight {known}{of}"
    return Meter("weight", part_of(rack.weight_kg, rack.max_weight_kg), tip, unlimited(rack.max_weight_kg))


def _floor(rack: RackPlan, _: SiteSpec) -> Meter:
    load, limit = rack.floor_kg_m2, rack.floor_limit_kg_m2
    known = "an unknown load" if load is None else f"{grouped(load)} kg/m2"
    of = "" if limit is None else f" of {grouped(limit)} kg/m2"
    return Meter("floor", part_of(load, limit), f"{rack.name}: {known}{of} on the floor", unlimited(limit))


_MeterOf = Callable[[RackPlan, SiteSpec], Meter]
_METERS: Mapping[str, _MeterOf] = {
    "space": _space,
    "power": _power,
    "heat": _heat,
    "liquid": _liquid,
    "weight": _weight,
    "floor": _floor,
}


def _cooling_of(plan: SitePlan, hall: str) -> list[CoolingPlan]:
    here = {rack.name for rack in plan.facility.racks if rack.hall == hall}
    return [unit for unit in plan.facility.cooling if here & set(unit.racks)]


def _cooling(sheet: Sheet, unit: CoolingPlan, top: float) -> None:
    part = part_of(unit.load_w, unit.capacity_after_loss_w)
    load, limit = kilowatts(unit.load_w), kilowatts(unit.capacity_after_loss_w)
    label = f"cooling {unit.name} ({unit.kind}): {load} of {limit} with its spare units out"
    sheet.meter(Meter(label, part, label), (MARGIN, top), (520, BAR))
