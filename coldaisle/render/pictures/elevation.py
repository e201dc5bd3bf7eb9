"""Rack elevations: the front of each rack of a row, a device at its units, and beside it what each feed carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import drawsvg as draw

from coldaisle.plan.model import DevicePlacement, FeedPlan, RackPlan, SitePlan
from coldaisle.plan.space import units_of
from coldaisle.render.pictures.canvas import (
    ALARM,
    CALM,
    EMPTY,
    FAINT,
    FRAME,
    LARGE,
    NORMAL,
    SMALL,
    Sheet,
    first_to_last,
    fitting,
    part_of,
)
from coldaisle.units import kilowatts, percent, watts

UNIT, NUMBERS, BODY, FEED, GAP = 14, 26, 180, 32, 22
"""Pixels: height of a rack unit, widths of the unit numbers, of a rack, of a feed's bar, and of the gap to the next."""
HEAD, FOOT, MARGIN, STRIPE = 104, 60, 20, 18
TOGETHER, WIDEST = 4, 1340
"""Racks in one picture, and its width in pixels: as many as a sheet of paper or a screen shows legibly."""
FILLS = {"node": "#dbe8f5", "switch": "#f6edd2", "service": "#dff0e3", "blank": EMPTY}
HATCHES = {"node": None, "switch": "switch", "service": "service", "blank": "blank"}
"""Patterns beside the colours: nodes are plain, switches striped, service hosts dotted, free units lined across."""


def elevation(racks: Sequence[RackPlan]) -> str:
    """Return the front of some racks of a row, side by side, as SVG."""
    tallest = max(rack.height_u for rack in racks)
    width = max(picture_width(racks), 560)
    names = first_to_last(rack.name for rack in racks)
    place = f"{racks[0].hall}, {racks[0].row}"
    sheet = Sheet(
        f"elevation-{racks[0].name}",
        (width, HEAD + tallest * UNIT + FOOT + MARGIN),
        f"{place}: front of {names}",
        "Each rack with its devices at their rack units, counted from the bottom. Beside it, a bar for each power "
        "feed, filled to its load, with a line at its load after the worst loss.",
    )
    sheet.text(f"{place}: front of {names}", (MARGIN, 26), LARGE, bold=True)
    sheet.text("bars: feeds, filled to the load; line: after the worst loss", (MARGIN, 46), SMALL)
    legend(sheet)
    left = float(MARGIN)
    for rack in racks:
        _rack(sheet, rack, left, HEAD + (tallest - rack.height_u) * UNIT)
        left += width_of(rack) + GAP
    return sheet.svg()


def elevations(plan: SitePlan) -> Iterator[tuple[str, str]]:
    """Return pictures of the fronts of all racks, row by row, a few racks each, by hall, row and names."""
    for name, some in racks_together(plan):
        yield name, elevation(some)


def racks_together(plan: SitePlan) -> Iterator[tuple[str, list[RackPlan]]]:
    """Yield the racks of a site, row by row, a few at once, with the name of their picture."""
    rows: dict[tuple[str, str], list[RackPlan]] = {}
    for rack in plan.facility.racks:
        rows.setdefault((rack.hall, rack.row), []).append(rack)
    for (hall, row), racks in sorted(rows.items()):
        for some in together(racks):
            yield f"{hall}, {row}, {first_to_last(rack.name for rack in some)}", some


def together(racks: Sequence[RackPlan]) -> Iterator[list[RackPlan]]:
    """Yield the racks of a row, so many at once as one picture shows: fewer where each has many feeds."""
    some: list[RackPlan] = []
    for rack in racks:
        if len(some) == TOGETHER or (some and picture_width([*some, rack]) > WIDEST):
            yield some
            some = []
        some.append(rack)
    if some:
        yield some


def legend(sheet: Sheet) -> None:
    """Say which kinds of devices look how."""
    kinds = (("node", "node"), ("switch", "switch"), ("service", "service host"), ("blank", "free"))
    for at, (kind, name) in zip((0, 80, 160, 270), kinds, strict=True):
        x = MARGIN + at
        sheet.box((x, 54), (16, 12), fill=FILLS[kind], hatch=HATCHES[kind])
        sheet.text(name, (x + 21, 64), SMALL)


def picture_width(racks: Sequence[RackPlan]) -> float:
    """Return the width of some racks side by side, with the margins."""
    return 2 * MARGIN + sum(width_of(rack) + GAP for rack in racks) - GAP


def width_of(rack: RackPlan) -> float:
    """Return the width of a rack with its unit numbers and its feeds."""
    return NUMBERS + BODY + FEED * len(rack.feeds)


def _rack(sheet: Sheet, rack: RackPlan, left: float, top: float) -> None:
    body, bottom = left + NUMBERS, top + rack.height_u * UNIT
    sheet.text(rack.name, (body, top - 8), NORMAL + 2, bold=True)
    sheet.box((body, top), (BODY, rack.height_u * UNIT), fill=EMPTY, thick=2)
    sheet.ruler(f"units-{rack.height_u}", unit_lines(rack.height_u), (body, bottom))
    for first, last in free_units(rack):
        _blank(sheet, first, last, body, bottom)
    for device in rack.devices:
        _device(sheet, device, body, bottom)
    for at, feed in enumerate(rack.feeds):
        feed_bar(sheet, feed, body + BODY + FEED * at + 8, top, rack.height_u * UNIT)
    for at, words in enumerate(_foot(rack)):
        sheet.text(words, (body, bottom + 16 + 14 * at), SMALL)


def free_units(rack: RackPlan) -> Iterator[tuple[int, int]]:
    """Yield the runs of free units of a rack, from the bottom up: the first and the last of each."""
    taken = {unit for device in rack.devices for unit in units_of(device)}
    first: int | None = None
    for unit in range(1, rack.height_u + 2):
        free = unit <= rack.height_u and unit not in taken
        if free and first is None:
            first = unit
        elif not free and first is not None:
            yield first, unit - 1
            first = None


def _blank(sheet: Sheet, first: int, last: int, left: float, bottom: float) -> None:
    count = last - first + 1
    size = (BODY - 2, count * UNIT)
    place = (left + 1, bottom - last * UNIT)
    tip = f"U{first}-U{last}: {count} free, each with a blanking panel" if count > 1 else f"U{first}: a blanking panel"
    sheet.box(place, size, fill=EMPTY, frame="none", hatch="blank", tip=tip)


def unit_lines(height_u: int) -> list[draw.DrawingBasicElement]:
    """Return the numbers of the rack units, from the bottom up, and the lines between them."""
    looks = {"text_anchor": "end", "fill": FAINT}
    numbers = [draw.Text(str(unit), SMALL, -5, -3 - (unit - 1) * UNIT, **looks) for unit in range(1, height_u + 1)]
    lines = draw.Path(fill="none", stroke=FRAME, stroke_width=0.3)
    for unit in range(1, height_u):
        lines.M(0, -unit * UNIT).H(BODY)
    return [*numbers, lines]


def _device(sheet: Sheet, device: DevicePlacement, left: float, bottom: float) -> None:
    height = device.height_u * UNIT
    top = bottom - (device.rack_unit - 1) * UNIT - height
    units = f"U{device.rack_unit}" + (f"-U{device.rack_unit + device.height_u - 1}" if device.height_u > 1 else "")
    tip = f"{device.device}: {device.model}, {units}, {watts(device.max_power_w)} at most"
    sheet.box((left + 1, top), (BODY - 2, height), fill=FILLS[device.kind], tip=tip)
    if HATCHES[device.kind]:
        sheet.box((left + BODY - STRIPE - 1, top), (STRIPE, height), fill="none", hatch=HATCHES[device.kind])
    middle, room = top + height / 2 + 4, BODY - 10 - STRIPE
    if device.height_u == 1:
        label(sheet, f"{device.device} {device.model}", (left + 6, middle), room)
    else:
        label(sheet, device.device, (left + 6, middle - 6), room, bold=True)
        label(sheet, f"{device.model}, {kilowatts(device.max_power_w)}", (left + 6, middle + 6), room)


def label(sheet: Sheet, words: str, at: tuple[float, float], room: float, *, bold: bool = False) -> None:
    """Write a text as far as there is room for it."""
    sheet.text(fitting(words, room, SMALL), at, SMALL, bold=bold)


def feed_bar(sheet: Sheet, feed: FeedPlan, left: float, top: float, height: float) -> None:
    """Draw a feed as a bar from the bottom: filled to its load, with a line at its load after the worst loss."""
    now, after = part_of(feed.load_w, feed.capacity_w), part_of(feed.load_after_loss_w, feed.capacity_w)
    over = max(now or 0.0, after or 0.0) > 1
    tip = (
        f"feed {feed.name}: {watts(feed.load_w)} of {watts(feed.capacity_w)}, "
        f"{watts(feed.load_after_loss_w)} after the worst loss"
    )
    sheet.box((left, top), (18, height), fill=EMPTY, frame=ALARM if over else FRAME, thick=2 if over else 1, tip=tip)
    filled = height * min(now or 0.0, 1.0)
    if filled:
        sheet.box((left, top + height - filled), (18, filled), fill=CALM, frame="none")
    if after is not None:
        line = top + height - height * min(after, 1.0)
        sheet.line([(left - 3, line), (left + 21, line)], thick=2, ink=ALARM if over else "#1a1a1a")
    sheet.text(feed.name, (left + 9, top - 8), NORMAL, anchor="middle", bold=True)
    sheet.text(percent(feed.load_w, feed.capacity_w), (left + 9, top + height + 16), SMALL, anchor="middle")
    said = ("! " if over else "") + percent(feed.load_after_loss_w, feed.capacity_w)
    sheet.text(said, (left + 9, top + height + 30), SMALL, anchor="middle", bold=over)


def _foot(rack: RackPlan) -> Iterator[str]:
    yield f"{rack.used_u} of {rack.height_u} U, {rack.blank_u} blanking panels"
    yield f"{kilowatts(rack.power_w)} at most"
    yield f"{kilowatts(rack.heat_air_w)} of heat into air"
    yield "weight unknown" if rack.weight_kg is None else f"weight {rack.weight_kg:.0f} kg"
