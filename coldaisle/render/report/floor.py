"""The floor in the report: cooling, and each row of racks with its elevations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coldaisle.check.places import racks_of
from coldaisle.plan.model import CoolingPlan, RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.render.pictures.canvas import first_to_last
from coldaisle.render.pictures.elevation import elevation, together
from coldaisle.render.pictures.rear import rear_elevation
from coldaisle.render.pictures.row import row_map
from coldaisle.render.report.bars import Bar, heat_bar, part_bar, power_bar
from coldaisle.render.report.drawing import Drawing, drawing
from coldaisle.spec.facility import PlacedRack
from coldaisle.spec.ranges import fold
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, grouped, kilowatts


@dataclass(frozen=True, slots=True)
class Loop:
    """Cooling units that share a load. `flow` is the air or coolant that they move."""

    plan: CoolingPlan
    bar: Bar
    flow: str


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack as a line of its row; `find` is the text that the filter looks in."""

    plan: RackPlan
    devices: tuple[str, ...]
    power: str
    heat: Bar | str
    weight: Bar | str
    units: Bar | None
    feeds: tuple[tuple[str, Bar], ...]
    find: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a hall with its racks, its map, and its racks from the front and from behind."""

    anchor: str
    name: str
    more: str
    racks: tuple[Rack, ...]
    map: Drawing
    pictures: tuple[Drawing, ...]


def loops(plan: SitePlan) -> tuple[Loop, ...]:
    """Return what cools the racks."""
    return tuple(
        Loop(unit, heat_bar(unit.load_w, unit.capacity_after_loss_w, unit.capacity_w), _flow(unit))
        for unit in plan.facility.cooling
    )


def _flow(unit: CoolingPlan) -> str:
    flows = ((unit.airflow_cfm, "CFM of air"), (unit.coolant_l_min, "L/min of coolant"))
    return ", ".join(f"{grouped(value)} {words}" for value, words in flows if value is not None) or "not known"


def overheads(plan: SitePlan) -> tuple[tuple[str, str, str], ...]:
    """Return what the site draws beside its IT load, each with its power and what was assumed for it."""
    parts = plan.facility.pue.overheads if plan.facility.pue else ()
    return tuple((part.item, kilowatts(part.power_w), part.assumption) for part in parts)


# -- rows ---------------------------------------------------------------------------------------------------------
def rows(spec: SiteSpec, plan: SitePlan, *, few: bool) -> tuple[Row, ...]:
    """Return every row with its racks, in counting order; with `few` of them their elevations are part of the page."""
    placed = racks_of(spec)
    found: dict[tuple[str, str], list[RackPlan]] = {}
    for rack in plan.facility.racks:
        found.setdefault((rack.hall, rack.row), []).append(rack)
    return tuple(
        Row(
            anchor=f"row/{hall}/{row}",
            name=f"{hall}, {row}",
            more=f"{counted(len(racks), 'rack')}, {kilowatts(total(rack.power_w for rack in racks))} at most",
            racks=tuple(_rack(spec, rack, placed[rack.name]) for rack in racks),
            map=drawing(f"map of {row}", row_map(spec, plan, hall, row), few=few),
            pictures=tuple(_pictures(racks, few=few)),
        )
        for (hall, row), racks in sorted(found.items(), key=lambda item: [_counting(part) for part in item[0]])
    )


def _counting(name: str) -> tuple[tuple[str, int], ...]:
    """Return what puts names in the order in which people count: row2 before row10."""
    return tuple((words, int(digits or 0)) for words, digits in re.findall(r"(\D*)(\d*)", name))


def _pictures(racks: Sequence[RackPlan], *, few: bool) -> Iterator[Drawing]:
    """Yield the elevations of a row, a few racks each: from the front, and where there are few from behind too."""
    for some in together(racks):
        names, find = first_to_last(rack.name for rack in some), " ".join(_find(rack) for rack in some)
        yield drawing(f"front of {names}", elevation(some), few=few, find=find)
        if few:
            yield drawing(f"rear of {names}", rear_elevation(some), find=find)


def _rack(spec: SiteSpec, rack: RackPlan, placed: PlacedRack) -> Rack:
    return Rack(
        plan=rack,
        devices=_devices(rack),
        power=kilowatts(rack.power_w),
        heat=_heat(rack, spec.facility.density.air_limit_w),
        weight=_weight(rack, placed.spec.max_weight_kg),
        units=part_bar(rack.used_u, rack.height_u, f"{rack.used_u} of {rack.height_u} U"),
        feeds=_feeds(rack),
        find=_find(rack),
    )


def _feeds(rack: RackPlan) -> tuple[tuple[str, Bar], ...]:
    """Return a bar for each feed, those that are alike as one."""
    bars: dict[Bar, list[str]] = {}
    for feed in rack.feeds:
        bar = power_bar(feed.load_w, feed.load_after_loss_w, feed.capacity_w)
        bars.setdefault(bar, []).append(feed.name)
    return tuple((fold(names), bar) for bar, names in bars.items())


def _heat(rack: RackPlan, limit_w: float) -> Bar | str:
    words = f"{kilowatts(rack.heat_air_w)} of {kilowatts(limit_w)}"
    if rack.heat_liquid_w:
        words += f", {kilowatts(rack.heat_liquid_w)} into liquid"
    return part_bar(rack.heat_air_w, limit_w, words) or words


def _weight(rack: RackPlan, limit_kg: float | None) -> Bar | str:
    known = "unknown" if rack.weight_kg is None else f"{grouped(rack.weight_kg)} kg"
    words = known if limit_kg is None else f"{known} of {grouped(limit_kg)} kg"
    return part_bar(rack.weight_kg, limit_kg, words) or words


def _devices(rack: RackPlan) -> tuple[str, ...]:
    counts = Counter(device.model for device in rack.devices)
    return tuple(f"{count} x {model}" for model, count in counts.items()) or ("empty",)


def _find(rack: RackPlan) -> str:
    """Return the words that lead to a rack: its place, its devices and their models."""
    return " ".join(_words(rack))


def _words(rack: RackPlan) -> Iterator[str]:
    yield from (rack.hall, rack.row, rack.name)
    yield from (device.device for device in rack.devices)
    yield from dict.fromkeys(device.model for device in rack.devices)
