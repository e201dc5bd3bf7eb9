"""The map of a row: its racks side by side, and below each an upright bar for space, power, heat and weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coldaisle.plan.model import RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.render.pictures.canvas import LARGE, NORMAL, SMALL, Meter, Sheet, fitting, part_of, unlimited
from coldaisle.render.pictures.hall import fullest_feed
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, grouped, kilowatts, watts

CELL, BAR, LANE, MARGIN, LABEL, TOTAL = 68, 56, 74, 20, 128, 120
"""Pixels: width of a rack, width and height of its bars, height of a lane, margin, and room at both ends of a lane."""
HEAD, NAMES = 62, 22
ABREAST = 16
"""Racks beside each other; a longer row goes on below."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """One figure of all racks: what it is called, what it is full at, its bar for a rack, and its total."""

    name: str
    limit: str
    meter: Callable[[RackPlan], Meter]
    total: str


def row_map(spec: SiteSpec, plan: SitePlan, hall: str, row: str) -> str:
    """
    Return the map of a row as SVG.

    Raises:
        LookupError: there is no such row.
    """
    racks = [rack for rack in plan.facility.racks if (rack.hall, rack.row) == (hall, row)]
    if not racks:
        raise LookupError(f"there is no row {row} in hall {hall}")
    lanes = list(_lanes(spec, racks))
    lines = [racks[at : at + ABREAST] for at in range(0, len(racks), ABREAST)]
    tall = NAMES + len(lanes) * LANE
    width = 2 * MARGIN + LABEL + max(len(line) for line in lines) * CELL + TOTAL
    heading = f"{hall}, {row}: {counted(len(racks), 'rack')}"
    sheet = Sheet(
        f"row-{hall}-{row}",
        (max(width, 640), HEAD + len(lines) * tall + MARGIN),
        f"{heading} with space, power, heat and weight against their limits",
        "A column for each rack, in the order of the row, and a line for each figure. Each bar is full at its limit; "
        "at the right is the total of the row.",
    )
    sheet.text(heading, (MARGIN, 26), LARGE, bold=True)
    sheet.text(
        "each bar is full at its limit; ! is over it; power is after the worst loss of a feed", (MARGIN, 44), SMALL
    )
    for at, line in enumerate(lines):
        _line(sheet, line, lanes, HEAD + at * tall, totals=at == len(lines) - 1)
    return sheet.svg()


def row_maps(spec: SiteSpec, plan: SitePlan) -> Iterator[tuple[str, str]]:
    """Return the maps of all rows, by hall and row."""
    for hall, row in sorted({(rack.hall, rack.row) for rack in plan.facility.racks}):
        yield f"{hall}, {row}", row_map(spec, plan, hall, row)


def _line(sheet: Sheet, racks: Sequence[RackPlan], lanes: Sequence[_Lane], top: float, *, totals: bool) -> None:
    for place, rack in enumerate(racks):
        middle = MARGIN + LABEL + place * CELL + CELL / 2
        sheet.text(fitting(rack.name, CELL - 2), (middle, top + 14), NORMAL, anchor="middle", bold=True)
    for at, lane in enumerate(lanes):
        y = top + NAMES + at * LANE
        sheet.text(lane.name, (MARGIN, y + 18), NORMAL, bold=True)
        sheet.text(fitting(lane.limit, LABEL - 4, SMALL), (MARGIN, y + 34), SMALL)
        for place, rack in enumerate(racks):
            corner = (MARGIN + LABEL + place * CELL + (CELL - BAR) / 2, y)
            sheet.column(lane.meter(rack), corner, (BAR, LANE - 26))
        if totals:
            end = MARGIN + LABEL + len(racks) * CELL + 8
            sheet.text("row", (end, y + 18), SMALL)
            sheet.text(lane.total, (end, y + 34), NORMAL, bold=True)


def _lanes(spec: SiteSpec, racks: Sequence[RackPlan]) -> Iterator[_Lane]:
    blank = sum(rack.blank_u for rack in racks)
    yield _Lane("space", "of its rack units", _space, f"{grouped(blank)} U free")
    yield _Lane("power", "of the fullest feed", _power, kilowatts(total(rack.power_w for rack in racks)))
    limit_w = spec.facility.density.air_limit_w
    room = kilowatts(total(rack.heat_room_w for rack in racks))
    yield _Lane("heat into air", f"of {kilowatts(limit_w)}", lambda rack: _heat(rack, limit_w), room)
    if any(rack.heat_liquid_w != 0 or rack.heat_door_w != 0 for rack in racks):
        taken = kilowatts(total(_liquid_w(rack) for rack in racks))
        yield _Lane("heat into liquid", "part of its heat", _liquid, taken)
    yield _Lane("weight", "of what it carries", _weight, _kilograms(total(rack.weight_kg for rack in racks)))
    if any(rack.floor_limit_kg_m2 is not None for rack in racks):
        yield _Lane("floor", "of what it carries", _floor, "")


def _space(rack: RackPlan) -> Meter:
    used = f"{rack.used_u} of {rack.height_u}"
    return Meter(used, part_of(rack.used_u, rack.height_u), f"{rack.name}: {used} rack units")


def _power(rack: RackPlan) -> Meter:
    feed = fullest_feed(rack)
    tip = f"{rack.name}: feed {feed.name} carries {watts(feed.load_after_loss_w)} of {watts(feed.capacity_w)}"
    return Meter(kilowatts(rack.power_w), part_of(feed.load_after_loss_w, feed.capacity_w), f"{tip} after a loss")


def _heat(rack: RackPlan, limit_w: float) -> Meter:
    tip = f"{rack.name}: {watts(rack.heat_room_w)} into the room's air, of {watts(limit_w)} that is usual"
    return Meter(kilowatts(rack.heat_room_w), part_of(rack.heat_room_w, limit_w), tip)


def _liquid_w(rack: RackPlan) -> float | None:
    return total([rack.heat_liquid_w, rack.heat_door_w])


def _liquid(rack: RackPlan) -> Meter:
    """Return the heat into liquid as a part of all heat of a rack: a rack has no limit of its own for it."""
    heat_w = _liquid_w(rack)
    part = 0.0 if heat_w == 0 else part_of(heat_w, rack.power_w)
    return Meter(kilowatts(heat_w), part, f"{rack.name}: {watts(heat_w)} into liquid, of {watts(rack.power_w)}")


def _weight(rack: RackPlan) -> Meter:
    of = " and no limit" if rack.max_weight_kg is None else f" of {grouped(rack.max_weight_kg)} kg"
    known = _kilograms(rack.weight_kg)
    part = part_of(rack.weight_kg, rack.max_weight_kg)
    return Meter(known, part, f"{rack.name}: weight {known}{of}", unlimited(rack.max_weight_kg))


def _floor(rack: RackPlan) -> Meter:
    load, limit = rack.floor_kg_m2, rack.floor_limit_kg_m2
    label = "" if load is None else f"{grouped(load)} kg/m2"
    of = "no limit" if limit is None else f"{grouped(limit)} kg/m2"
    tip = f"{rack.name}: {label or 'unknown'} on the floor, of {of}"
    return Meter(label, part_of(load, limit), tip, unlimited(limit))


def _kilograms(value: float | None) -> str:
    return "unknown" if value is None else f"{grouped(value)} kg"
