"""The map of a hall: each rack of each row with its space, power, heat and weight against their limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.check.places import racks_of
from coldaisle.plan.model import CoolingPlan, RackPlan, SitePlan
from coldaisle.render.pictures.canvas import LARGE, NORMAL, SMALL, Meter, Sheet, fitting, part_of
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, grouped, kilowatts, watts

TILE, BAR, GAP, MARGIN, LABEL = 132, 18, 10, 20, 90
"""Pixels: width of a rack, height of a bar, gaps, margin, and room for a row's name."""
HEAD, COOLING = 64, 24
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
    tile = NORMAL + 10 + 4 * (BAR + 2) + 6
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
        "A tile for each rack with four bars, each full at its limit: rack units, the fullest feed after the worst "
        "loss, heat into air, weight. Below, what cooling removes with its spare units out.",
    )
    sheet.text(f"{hall}: each bar is full at its limit", (MARGIN, 26), LARGE, bold=True)
    words = "power: fullest feed after the worst loss; heat: into air, of the usual limit; ! is over its limit"
    sheet.text(words, (MARGIN, 44), SMALL)
    _rows(sheet, spec, lines, tile)
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


def _rows(sheet: Sheet, spec: SiteSpec, rows: list[tuple[str, list[RackPlan]]], tile: float) -> None:
    placed = racks_of(spec)
    for at, (row, racks) in enumerate(rows):
        top = HEAD + at * (tile + 2 * GAP)
        sheet.text(fitting(row, LABEL - 6), (MARGIN, top + 16), NORMAL, bold=True)
        for place, rack in enumerate(racks):
            _tile(sheet, _meters(spec, rack, placed[rack.name]), rack, MARGIN + LABEL + place * (TILE + GAP), top)


def _tile(sheet: Sheet, meters: Iterator[Meter], rack: RackPlan, left: float, top: float) -> None:
    sheet.text(fitting(rack.name, TILE - 50), (left, top + 12), NORMAL, bold=True)
    sheet.text(kilowatts(rack.power_w), (left + TILE, top + 12), SMALL, anchor="end")
    for at, meter in enumerate(meters):
        sheet.meter(meter, (left, top + NORMAL + 6 + at * (BAR + 2)), (TILE, BAR))


def _meters(spec: SiteSpec, rack: RackPlan, placed: PlacedRack) -> Iterator[Meter]:
    """Return space, power, heat and weight of a rack."""
    space = f"{rack.name}: {rack.used_u} of {rack.height_u} rack units"
    yield Meter("space", part_of(float(rack.used_u), float(rack.height_u)), space)
    yield _power(rack)
    limit_w = spec.facility.density.air_limit_w
    heat = f"{rack.name}: {watts(rack.heat_air_w)} into air, of {watts(limit_w)} that is usual"
    yield Meter("heat", part_of(rack.heat_air_w, limit_w), heat)
    limit_kg = placed.spec.max_weight_kg
    known = "unknown" if rack.weight_kg is None else f"{grouped(rack.weight_kg)} kg"
    of = "" if limit_kg is None else f" of {grouped(limit_kg)} kg"
    yield Meter("weight", part_of(rack.weight_kg, limit_kg), f"{rack.name}: weight {known}{of}")


def _power(rack: RackPlan) -> Meter:
    """Return the bar of the fullest feed; a feed whose load is not known comes first, since it may be the fullest."""
    parts = {feed.name: part_of(feed.load_after_loss_w, feed.capacity_w) for feed in rack.feeds}
    name = next((name for name, part in parts.items() if part is None), None) or max(
        parts, key=lambda feed: parts[feed] or 0.0
    )
    feed = next(feed for feed in rack.feeds if feed.name == name)
    tip = f"{rack.name}: feed {name} carries {watts(feed.load_after_loss_w)} of {watts(feed.capacity_w)} after a loss"
    return Meter(f"power {name}", parts[name], tip)


def _cooling_of(plan: SitePlan, hall: str) -> list[CoolingPlan]:
    here = {rack.name for rack in plan.facility.racks if rack.hall == hall}
    return [unit for unit in plan.facility.cooling if here & set(unit.racks)]


def _cooling(sheet: Sheet, unit: CoolingPlan, top: float) -> None:
    part = part_of(unit.load_w, unit.capacity_after_loss_w)
    load, limit = kilowatts(unit.load_w), kilowatts(unit.capacity_after_loss_w)
    label = f"cooling {unit.name} ({unit.kind}): {load} of {limit} with its spare units out"
    sheet.meter(Meter(label, part, label), (MARGIN, top), (520, BAR))
