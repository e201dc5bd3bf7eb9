"""The coolant diagram: each loop with its units and pumps, its supply and return, and the racks whose heat it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from coldaisle.plan.cooling import heats
from coldaisle.plan.model import CoolingPlan, RackPlan, SitePlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.render.pictures.canvas import (
    FAINT,
    LARGE,
    NORMAL,
    SMALL,
    Meter,
    Sheet,
    first_to_last,
    fitting,
    part_of,
)
from coldaisle.render.pictures.rear import RETURN, SUPPLY
from coldaisle.units import counted, flow, kilowatts, watts

BOX, GAP, MARGIN, HEAD = 270, 26, 20, 62
"""Pixels: width of a loop, gap to the next, margin, and room for the heading."""
WORDS, UNIT, BAR, PIPES, LINE = 36, 26, 18, 74, 34
"""Pixels: height of what is said of the units, of a line of them, of a bar, of the pipes, and of a line of racks."""
ABREAST = 4
"""Loops beside each other; more of them go on below."""
UNITS_A_LINE = 12
SHOWN_UNITS = 4 * UNITS_A_LINE
"""Units of a loop that are drawn one by one; of more, the words below say how many are left out."""


@dataclass(frozen=True, slots=True)
class _Served:
    """Racks that give a loop the same heat, one after another."""

    racks: tuple[str, ...]
    heat_w: float | None
    also: str


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop as it is drawn, or several that are alike but for their names and racks."""

    names: tuple[str, ...]
    plan: CoolingPlan
    served: tuple[_Served, ...]

    @property
    def height(self) -> float:
        """Return how much room it takes from top to bottom."""
        bars = len(list(_meters(self.plan)))
        return 24 + _units_height(self.plan) + bars * (BAR + 4) + PIPES + len(self.served) * LINE + 16


def coolant_diagram(plan: SitePlan) -> str:
    """Return the coolant diagram of a site as SVG: liquid loops first, then air."""
    loops = _loops(plan)
    lines = [loops[at : at + ABREAST] for at in range(0, len(loops), ABREAST)]
    heights = [max(loop.height for loop in line) for line in lines]
    width = 2 * MARGIN + max((len(line) for line in lines), default=1) * (BOX + GAP) - GAP
    sheet = Sheet(
        "coolant",
        (max(width, 560), HEAD + sum(heights) + GAP * len(lines) + MARGIN),
        f"{plan.name}: coolant and air of {counted(len(plan.facility.cooling), 'loop')}",
        "Each loop with its units, the spare ones dashed, what it must remove of what it can, its temperatures and "
        "flow, and below them the racks whose heat it takes.",
    )
    sheet.text(f"{plan.name}: cooling, from its units to the racks", (MARGIN, 26), LARGE, bold=True)
    words = "each bar is full at its limit; dashed units are spare; solid line: supply, dashed line: return"
    sheet.text(words, (MARGIN, 44), SMALL)
    top = float(HEAD)
    for line, height in zip(lines, heights, strict=True):
        for at, loop in enumerate(line):
            _draw(sheet, loop, MARGIN + at * (BOX + GAP), top)
        top += height + GAP
    return sheet.svg()


# -- what is drawn ------------------------------------------------------------------------------------------------
def _loops(plan: SitePlan) -> list[_Loop]:
    """Return the loops; those that are alike but for their names, as coolant units of one rack each are, in one."""
    by_loop: dict[tuple[str, str], list[tuple[RackPlan, float | None]]] = {}
    for rack in plan.facility.racks:
        for kind, name, heat_w in heats(rack):
            by_loop.setdefault((kind, name), []).append((rack, heat_w))
    alike: dict[object, list[tuple[CoolingPlan, tuple[_Served, ...]]]] = {}
    for unit in sorted(plan.facility.cooling, key=lambda unit: (unit.kind == "air", unit.name)):
        served = tuple(_served(unit, by_loop.get((unit.kind, unit.name), [])))
        shape = tuple((len(group.racks), group.heat_w, group.also) for group in served)
        key = replace(unit, name="", racks=()), shape, unit.name if len(unit.racks) != 1 else ""
        alike.setdefault(key, []).append((unit, served))
    return [_together(group) for group in alike.values()]


def _together(group: Sequence[tuple[CoolingPlan, tuple[_Served, ...]]]) -> _Loop:
    names = tuple(unit.name for unit, _ in group)
    unit, served = group[0]
    if len(group) > 1:
        racks = tuple(name for _, others in group for each in others for name in each.racks)
        served = (replace(served[0], racks=racks),)
    return _Loop(names, unit, served)


def _served(unit: CoolingPlan, racks: Sequence[tuple[RackPlan, float | None]]) -> Iterator[_Served]:
    """Yield the racks of a loop, neighbours that give the same heat in one."""
    sums: dict[str, tuple[RackPlan, list[float | None]]] = {}
    for rack, heat_w in racks:
        sums.setdefault(rack.name, (rack, []))[1].append(heat_w)
    names: list[str] = []
    last: tuple[float | None, str] | None = None
    for name, (rack, values) in sums.items():
        now = total(values), ", ".join(_others(unit, rack))
        if last is not None and now != last:
            yield _Served(tuple(names), *last)
            names = []
        names.append(name)
        last = now
    if last is not None:
        yield _Served(tuple(names), *last)


def _others(unit: CoolingPlan, rack: RackPlan) -> list[str]:
    """Return the other loops that take liquid heat of a rack; the air of a liquid-cooled rack goes without saying."""
    names = (name for kind, name, _ in heats(rack) if kind == unit.kind and name != unit.name)
    return list(dict.fromkeys(names))


# -- drawing --------------------------------------------------------------------------------------------------------
def _draw(sheet: Sheet, loop: _Loop, left: float, top: float) -> None:
    name = first_to_last(loop.names) + (f" ({len(loop.names)} alike)" if len(loop.names) > 1 else "")
    sheet.text(fitting(f"{name}, {loop.plan.kind}", BOX), (left, top + 14), NORMAL, bold=True)
    _units(sheet, loop.plan, left, top + 24)
    y = top + 24 + _units_height(loop.plan)
    for meter in _meters(loop.plan):
        sheet.meter(meter, (left, y), (BOX, BAR))
        y += BAR + 4
    _pipes(sheet, loop.plan, left, y)
    y += PIPES
    for served in loop.served:
        _racks(sheet, served, left, y)
        y += LINE
    if not loop.served:
        sheet.text("no racks", (left + BOX / 2, y + 10), SMALL, anchor="middle")


def _units_height(plan: CoolingPlan) -> float:
    """Return how much room the units take with what is said of them."""
    return ceil(min(plan.units, SHOWN_UNITS) / UNITS_A_LINE) * UNIT + WORDS


def _units(sheet: Sheet, plan: CoolingPlan, left: float, top: float) -> None:
    shown = min(plan.units, SHOWN_UNITS)
    for at in range(shown):
        x, y = left + at % UNITS_A_LINE * 22, top + at // UNITS_A_LINE * UNIT
        corners = [(x, y), (x + 16, y), (x + 16, y + 22), (x, y + 22), (x, y)]
        sheet.line(corners, thick=2, dashed=at >= plan.units - plan.redundant)
    below = top + _units_height(plan) - WORDS
    words = f"{counted(plan.units, 'unit')}, {plan.redundant} spare"
    if plan.units > shown:
        words += f"; {plan.units - shown} of them are not drawn"
    sheet.text(words, (left, below + 12), SMALL)
    sheet.text(_pumps(plan), (left, below + 26), SMALL, ink=FAINT)


def _pumps(plan: CoolingPlan) -> str:
    if plan.kind == "air":
        return f"{flow(plan.airflow_cfm)} CFM pass the devices" if plan.airflow_cfm is not None else "airflow unknown"
    if plan.pumps_each is None:
        return "pumps unknown"
    spare = "an unknown number" if plan.redundant_pumps is None else str(plan.redundant_pumps)
    return f"{counted(plan.pumps_each, 'pump')} a unit, {spare} spare"


def _meters(plan: CoolingPlan) -> Iterator[Meter]:
    """Yield a loop's load against what it can remove, with its spare units out, any one out, another loop out."""
    load = kilowatts(plan.load_w)
    yield _meter(f"{load} of {kilowatts(plan.capacity_after_loss_w)}", plan.load_w, plan.capacity_after_loss_w, plan)
    if plan.redundant != 1:
        left_w = plan.capacity_after_one_w
        label, instead = f"one unit out, of {kilowatts(left_w)}", "" if left_w else "nothing is left"
        tip = f"{plan.name}: {watts(plan.load_w)} of {watts(left_w)} with one unit out"
        yield Meter(label, part_of(plan.load_w, left_w), tip, instead)
    if plan.lost_loop is not None:
        label = f"{plan.lost_loop} out: {kilowatts(plan.load_after_loss_w)}"
        yield _meter(label, plan.load_after_loss_w, plan.capacity_w, plan)
    moved = plan.airflow_capacity_cfm if plan.kind == "air" else plan.coolant_capacity_l_min
    if moved is not None:
        needed = plan.supply_airflow_cfm if plan.kind == "air" else plan.coolant_l_min
        sign = "CFM" if plan.kind == "air" else "L/min"
        label = f"flow {flow(needed)} of {flow(moved)} {sign}"
        yield Meter(label, part_of(needed, moved), f"{plan.name}: {label} with its spare units out")


def _meter(label: str, load_w: float | None, limit_w: float, plan: CoolingPlan) -> Meter:
    return Meter(label, part_of(load_w, limit_w), f"{plan.name}: {watts(load_w)} of {watts(limit_w)}")


def _pipes(sheet: Sheet, plan: CoolingPlan, left: float, top: float) -> None:
    supply, back, bottom = left + 60, left + BOX - 60, top + PIPES
    sheet.line([(supply, top), (supply, bottom)], thick=4, ink=SUPPLY)
    sheet.line([(back, bottom), (back, top)], thick=4, ink=RETURN, dashed=True)
    middle = top + PIPES / 2
    sheet.text(_celsius(plan.supply_temp_c), (supply - 8, middle), SMALL, anchor="end")
    sheet.text(_celsius(plan.return_temp_c), (back + 8, middle), SMALL)
    moved = plan.supply_airflow_cfm if plan.kind == "air" else plan.coolant_l_min
    sign = "CFM" if plan.kind == "air" else "L/min"
    centre = left + BOX / 2
    sheet.text(
        "flow unknown" if moved is None else f"{flow(moved)} {sign}", (centre, middle - 8), SMALL, anchor="middle"
    )
    sheet.text(plan.coolant or "air", (centre, middle + 8), SMALL, anchor="middle", ink=FAINT)


def _celsius(value: float | None) -> str:
    return "? °C" if value is None else f"{value:g} °C"


def _racks(sheet: Sheet, served: _Served, left: float, top: float) -> None:
    sheet.box((left, top), (BOX, LINE - 4), tip=f"{first_to_last(served.racks)}: {watts(served.heat_w)} of heat each")
    names = first_to_last(served.racks)
    sheet.text(fitting(names, BOX - 96, SMALL), (left + 8, top + 13), SMALL, bold=True)
    count = f"{len(served.racks)} x " if len(served.racks) > 1 else ""
    sheet.text(f"{count}{kilowatts(served.heat_w)}", (left + BOX - 8, top + 13), SMALL, anchor="end")
    if served.also:
        sheet.text(fitting(f"also on {served.also}", BOX - 16, SMALL), (left + 8, top + 25), SMALL, ink=FAINT)
