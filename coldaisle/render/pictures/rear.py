"""
Racks from behind: where each device's supplies are plugged in, which way its air goes, and the coolant's manifolds.

Left and right are those of somebody who stands at the rear, so feeds and unit numbers are mirrored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coldaisle.plan.cooling import coolant_loops
from coldaisle.plan.model import DevicePlacement, RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import spread_psus
from coldaisle.render.pictures.canvas import EMPTY, LARGE, NORMAL, SMALL, Sheet, first_to_last, fitting
from coldaisle.render.pictures.elevation import (
    BODY,
    FEED,
    FILLS,
    FOOT,
    GAP,
    HATCHES,
    HEAD,
    MARGIN,
    NUMBERS,
    STRIPE,
    UNIT,
    feed_bar,
    label,
    legend,
    racks_together,
    unit_lines,
    width_of,
)
from coldaisle.units import counted, kilowatts

PIPE = 18
"""Pixels that a manifold takes beside a rack."""
MANY_FEEDS = 4
"""With more feeds than these there is no room to name each."""
SUPPLY, RETURN = "#2a5f9e", "#9e3a2a"
WAYS = {
    "front-to-rear": ("out", "air comes out here"),
    "rear-to-front": ("in", "air goes in here"),
    "side": ("side", "air passes sideways"),
    None: ("air?", "which way its air goes is not known"),
}
"""What stands at a device's edge for each way of its air, and in words."""


def rear_elevation(racks: Sequence[RackPlan]) -> str:
    """Return some racks of a row from behind, side by side from the last to the first, as SVG."""
    tallest = max(rack.height_u for rack in racks)
    width = max(2 * MARGIN + sum(_width(rack) + GAP for rack in racks) - GAP, 560)
    names = first_to_last(rack.name for rack in racks)
    heading = f"{racks[0].hall}, {racks[0].row}: rear of {names}"
    sheet = Sheet(
        f"rear-{racks[0].name}",
        (width, HEAD + tallest * UNIT + FOOT + MARGIN),
        heading,
        "Each rack from behind, so that the last one stands at the left. Each device says how many of its supplies "
        "hang on which feed, and whether its air comes out here. Lines beside a rack are its coolant's manifolds.",
    )
    sheet.text(heading, (MARGIN, 26), LARGE, bold=True)
    words = "supplies by feed; air: out, in or side, as seen from here; lines: coolant supply, dashed: return"
    sheet.text(words, (MARGIN, 46), SMALL)
    legend(sheet)
    left = float(MARGIN)
    for rack in reversed(racks):
        _rack(sheet, rack, left, HEAD + (tallest - rack.height_u) * UNIT)
        left += _width(rack) + GAP
    return sheet.svg()


def rear_elevations(plan: SitePlan) -> Iterator[tuple[str, str]]:
    """Return pictures of all racks from behind, by hall, row and names."""
    for name, some in racks_together(plan):
        yield name, rear_elevation(some)


def _pipes(rack: RackPlan) -> list[tuple[str, bool]]:
    """Return the pipes at a rack: supply and return of each loop, and of its rear door."""
    doors = (rack.door_cooling,) if rack.door_cooling else ()
    return [(loop, back) for loop in dict.fromkeys((*coolant_loops(rack), *doors)) for back in (False, True)]


def _width(rack: RackPlan) -> float:
    return width_of(rack) + PIPE * len(_pipes(rack))


def _rack(sheet: Sheet, rack: RackPlan, left: float, top: float) -> None:
    height = rack.height_u * UNIT
    for at, feed in enumerate(reversed(rack.feeds)):
        feed_bar(sheet, feed, left + FEED * at + 4, top, height)
    pipes = left + FEED * len(rack.feeds)
    for at, (loop, back) in enumerate(_pipes(rack)):
        _pipe(sheet, loop, (pipes + PIPE * at + PIPE / 2, top), height, back=back)
    body, bottom = pipes + PIPE * len(_pipes(rack)) + NUMBERS, top + height
    sheet.text(rack.name, (body, top - 8), NORMAL + 2, bold=True)
    sheet.box((body, top), (BODY, height), fill=EMPTY, thick=2)
    sheet.ruler(f"units-{rack.height_u}", unit_lines(rack.height_u), (body, bottom))
    for device in rack.devices:
        _device(sheet, rack, device, body, bottom)
    for at, words in enumerate(_foot(rack)):
        sheet.text(fitting(words, BODY, SMALL), (body, bottom + 16 + 14 * at), SMALL)


def _pipe(sheet: Sheet, loop: str, at: tuple[float, float], height: float, *, back: bool) -> None:
    x, top = at
    sheet.line([(x, top), (x, top + height)], thick=4, ink=RETURN if back else SUPPLY, dashed=back)
    tip = f"{'return to' if back else 'supply from'} {loop}"
    sheet.box((x - 4, top), (8, height), fill="transparent", frame="none", tip=tip)


def _device(sheet: Sheet, rack: RackPlan, device: DevicePlacement, left: float, bottom: float) -> None:
    height = device.height_u * UNIT
    top = bottom - (device.rack_unit - 1) * UNIT - height
    way, words = WAYS[device.airflow]
    plugged = _plugged(rack, device)
    deep = "of unknown depth" if device.depth_mm is None else f"{device.depth_mm:g} mm deep"
    tip = f"{device.device}: {plugged}; {words}; {deep}"
    sheet.box((left + 1, top), (BODY - 2, height), fill=FILLS[device.kind], tip=tip)
    hatch = HATCHES[device.kind]
    if hatch:
        sheet.box((left + 1, top), (STRIPE, height), fill="none", hatch=hatch)
    middle, text = top + height / 2 + 4, left + STRIPE + 6
    room = BODY - STRIPE - 42
    sheet.text(way, (left + BODY - 6, middle), SMALL, anchor="end")
    if device.height_u == 1:
        label(sheet, f"{device.device} {plugged}", (text, middle), room)
    else:
        label(sheet, device.device, (text, middle - 6), room, bold=True)
        label(sheet, plugged, (text, middle + 6), room)


def _plugged(rack: RackPlan, device: DevicePlacement) -> str:
    """Return how many of a device's supplies hang on each feed: `2 a, 2 b, 2 c`, or `1 on each feed`."""
    if device.psus is None:
        return "supplies unknown"
    counts = spread_psus(device.psus, len(rack.feeds))
    if len(counts) > MANY_FEEDS and len(set(counts)) == 1:
        return f"{counts[0]} on each feed"
    return ", ".join(f"{count} {feed.name}" for count, feed in zip(counts, rack.feeds, strict=True) if count)


def _foot(rack: RackPlan) -> Iterator[str]:
    known = [device.psus for device in rack.devices if device.psus is not None]
    unknown = len(rack.devices) - len(known)
    yield f"{counted(sum(known), 'cord')}" + (f" and those of {counted(unknown, 'device')}" if unknown else "")
    loops = ", ".join(coolant_loops(rack))
    if loops:
        yield f"{kilowatts(rack.heat_liquid_w)} into {loops}"
    if rack.door_cooling:
        yield f"rear door: {kilowatts(rack.heat_door_w)} into {rack.door_cooling}"
