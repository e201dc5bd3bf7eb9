"""The one-line diagram: the power chain from the utility to the racks' feeds, each with its load and its limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coldaisle.plan.model import SitePlan, UpstreamPlan
from coldaisle.render.pictures.canvas import FAINT, LARGE, NORMAL, SMALL, Meter, Sheet, fitting, part_of
from coldaisle.spec.ranges import fold
from coldaisle.units import counted, kilowatts, watts

BOX, TALL, DROP, GAP, MARGIN, HEAD = 216, 78, 34, 18, 20, 60
"""Pixels: width and height of a part, drop to the next level, gap beside, margin, and room for the heading."""
LINE, NOTE = 46, 16
"""Pixels: height of a line of feeds, and of what is said of a catcher."""


@dataclass(frozen=True, slots=True)
class _Circuits:
    """Feeds of racks that are alike: one line of the list below a part."""

    racks: tuple[str, ...]
    feed: str
    load_w: float | None
    after_w: float | None
    capacity_w: float


@dataclass(slots=True)
class _Part:
    """
    A part of the chain with its place: `column` is the middle of what hangs below it.

    `note` names what it takes over for, or what takes over for it; where any part has one, all are as tall.
    """

    plan: UpstreamPlan | None
    depth: int
    note: str = ""
    tall: int = TALL
    children: list[_Part] = field(default_factory=list)
    circuits: list[_Circuits] = field(default_factory=list)
    column: float = 0.0


def one_line(plan: SitePlan) -> str:
    """Return the one-line diagram of a site as SVG."""
    tops = _tree(plan)
    columns = _columns(tops)
    parts = list(_walk(tops))
    bottom = max((_bottom(part) for part in parts), default=HEAD)
    sheet = Sheet(
        "one-line",
        (max(2 * MARGIN + columns * (BOX + GAP) - GAP, 560), bottom + MARGIN),
        f"{plan.name}: one-line diagram of {counted(len(plan.facility.upstream), 'part')} of the power chain",
        "From the top, each part of the power chain with what it carries and may carry, in full and after the worst "
        "loss; below each, the feeds of the racks that hang on it.",
    )
    sheet.text(f"{plan.name}: power from the utility to the racks", (MARGIN, 26), LARGE, bold=True)
    words = "each bar is full at its limit; the lower one is after the worst loss"
    words += "; dashed: takes over when the part fails" if any(part.note for part in parts) else ""
    sheet.text(words, (MARGIN, 44), SMALL)
    # What takes over is drawn first, so that boxes lie over its lines.
    for at, part in enumerate(part for part in parts if part.plan and part.plan.catcher_for):
        _catch(sheet, part, parts, at)
    for part in parts:
        _draw(sheet, part)
    return sheet.svg()


# -- the tree -----------------------------------------------------------------------------------------------------
def _tree(plan: SitePlan) -> list[_Part]:
    """Return the tops of the chain with all that hangs below; what hangs on nothing that is named comes last."""
    by_name = {part.name: part for part in plan.facility.upstream}
    circuits = _circuits(plan)
    placed: set[str] = set()

    def grow(part: UpstreamPlan, depth: int) -> _Part:
        placed.add(part.name)
        grown = _Part(part, depth, circuits=circuits.pop(part.name, []))
        grown.children = [
            grow(child, depth + 1)
            for child in by_name.values()
            if child.fed_by == part.name and child.name not in placed
        ]
        return grown

    tops = [grow(part, 0) for part in by_name.values() if part.fed_by not in by_name]
    # A chain that leads back to itself has no top; the check tells of it, and the picture shows it all the same.
    tops += [grow(part, 0) for part in by_name.values() if part.name not in placed]
    loose = [circuit for each in circuits.values() for circuit in each]
    return _noted([*tops, _Part(None, 0, circuits=loose)] if loose else tops)


def _noted(tops: list[_Part]) -> list[_Part]:
    """Give each part the note of its catcher, and all parts room for one where any has it."""
    parts = _walk(tops)
    catchers: dict[str, list[str]] = {}
    for plan in (part.plan for part in parts if part.plan):
        for name in plan.catcher_for:
            catchers.setdefault(name, []).append(plan.name)
    for part in parts:
        part.tall = TALL + (NOTE if catchers else 0)
        if part.plan and part.plan.catcher_for:
            part.note = _note("takes over for", part.plan.catcher_for)
        elif part.plan and part.plan.name in catchers:
            part.note = _note("caught by", catchers[part.plan.name])
    return tops


def _note(words: str, names: Sequence[str]) -> str:
    """Return a note with the names, or with their count where there is no room: the dashed lines lead to them."""
    note = f"{words} {fold(names)}"
    return note if fitting(note, BOX - 16, SMALL) == note else f"{words} {counted(len(names), 'part')}"


def _circuits(plan: SitePlan) -> dict[str | None, list[_Circuits]]:
    """Return the feeds that hang on each part, those that are alike as one, in the order of the racks."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for rack in plan.facility.racks:
        for feed in rack.feeds:
            alike = (feed.upstream, rack.row, feed.name, feed.load_w, feed.load_after_loss_w, feed.capacity_w)
            groups.setdefault(alike, []).append(rack.name)
    found: dict[str | None, list[_Circuits]] = {}
    for (upstream, _, name, load, after, capacity), racks in groups.items():
        circuits = _Circuits(tuple(racks), str(name), load, after, capacity)  # type: ignore[arg-type]  # as put there
        found.setdefault(upstream, []).append(circuits)  # type: ignore[arg-type]  # as put there
    return found


def _columns(tops: Sequence[_Part]) -> int:
    """Give each part its column, the parts without children from left to right, and return how many there are."""
    taken = 0

    def place(part: _Part) -> None:
        nonlocal taken
        if not part.children:
            part.column = float(taken)
            taken += 1
            return
        if part.circuits:
            taken += 1  # its own feeds hang left of its children
        for child in part.children:
            place(child)
        part.column = (part.children[0].column + part.children[-1].column) / 2

    for top in tops:
        place(top)
    return taken


def _walk(parts: Sequence[_Part]) -> list[_Part]:
    return [each for part in parts for each in (part, *_walk(part.children))]


# -- drawing ------------------------------------------------------------------------------------------------------
def _left(column: float) -> float:
    return MARGIN + column * (BOX + GAP)


def _top(part: _Part) -> float:
    return HEAD + part.depth * (part.tall + DROP)


def _list_left(part: _Part) -> float:
    """Return where the list of feeds begins: below the part, or left of its children."""
    return _left(part.children[0].column - 1) if part.children else _left(part.column)


def _bottom(part: _Part) -> float:
    own = _top(part) + part.tall
    return own + DROP + len(part.circuits) * LINE if part.circuits else own


def _draw(sheet: Sheet, part: _Part) -> None:
    left, top = _left(part.column), _top(part)
    middle, bottom = left + BOX / 2, top + part.tall
    for child in part.children:
        target = _left(child.column) + BOX / 2
        halfway = bottom + DROP / 2
        sheet.line([(middle, bottom), (middle, halfway), (target, halfway), (target, _top(child))], thick=2)
    if part.circuits:
        target, halfway = _list_left(part) + BOX / 2, bottom + DROP / 2
        sheet.line([(middle, bottom), (middle, halfway), (target, halfway), (target, bottom + DROP)], thick=2)
    _box(sheet, part, left, top)
    for at, circuits in enumerate(part.circuits):
        _list(sheet, circuits, _list_left(part), bottom + DROP + at * LINE)


def _catch(sheet: Sheet, catcher: _Part, parts: Sequence[_Part], at: int) -> None:
    """Draw a dashed line from a catcher to each part that it takes over for, beside the columns and below the boxes."""
    assert catcher.plan is not None  # noqa: S101 - only parts that catch come here
    level = DROP - 6 - at % 3 * 5
    start = _left(catcher.column) + BOX - 18 - at % 3 * 6
    bottom = _top(catcher) + catcher.tall
    for part in parts:
        if part.plan is None or part.plan.name not in catcher.plan.catcher_for:
            continue
        end, below = _left(part.column) + BOX - 18 - at % 3 * 6, _top(part) + part.tall
        beside = _left(part.column) + BOX + GAP / 2
        # On its own level the line goes straight; to another it goes up or down between two columns.
        detour = [] if below == bottom else [(beside, bottom + level), (beside, below + level)]
        points = [(start, bottom), (start, bottom + level), *detour, (end, below + level), (end, below)]
        sheet.line(points, thick=1.5, ink=FAINT, dashed=True)


def _box(sheet: Sheet, drawn: _Part, left: float, top: float) -> None:
    sheet.box((left, top), (BOX, drawn.tall), thick=2)
    part = drawn.plan
    if part is None:
        sheet.text("nothing that is named", (left + 8, top + 18), NORMAL, bold=True)
        return
    sheet.text(fitting(part.name, BOX - 90), (left + 8, top + 18), NORMAL, bold=True)
    sheet.text(part.kind, (left + BOX - 8, top + 18), SMALL, anchor="end")
    tip = f"{part.name}: {watts(part.load_w)} of {watts(part.capacity_w)}"
    after = f"{part.name}: {watts(part.load_after_loss_w)} after the worst loss of a part beside it"
    _bars(
        sheet,
        {
            f"{kilowatts(part.load_w)} of {kilowatts(part.capacity_w)}": (part.load_w, tip),
            f"{kilowatts(part.load_after_loss_w)} after a loss": (part.load_after_loss_w, after),
        },
        part.capacity_w,
        (left + 8, top + 27),
    )
    if drawn.note:
        sheet.text(drawn.note, (left + 8, top + drawn.tall - 8), SMALL)


def _bars(
    sheet: Sheet, bars: Mapping[str, tuple[float | None, str]], capacity_w: float, corner: tuple[float, float]
) -> None:
    for at, (label, (load_w, tip)) in enumerate(bars.items()):
        place = (corner[0], corner[1] + 22 * at)
        sheet.meter(Meter(label, part_of(load_w, capacity_w), tip), place, (BOX - 16, 18))


def _list(sheet: Sheet, circuits: _Circuits, left: float, top: float) -> None:
    sheet.box((left, top), (BOX, LINE - 4))
    names = f"{fold(circuits.racks)}, feed {circuits.feed}"
    count = len(circuits.racks)
    sheet.text(fitting(names, BOX - 70, SMALL), (left + 8, top + 14), SMALL, bold=True)
    if count > 1:
        sheet.text(f"{count} racks", (left + BOX - 8, top + 14), SMALL, anchor="end")
    tip = f"{names}: {watts(circuits.load_w)}, {watts(circuits.after_w)} after the worst loss, each"
    label = f"{kilowatts(circuits.after_w)} of {kilowatts(circuits.capacity_w)}"
    meter = Meter(label, part_of(circuits.after_w, circuits.capacity_w), tip)
    sheet.meter(meter, (left + 8, top + 20), (BOX - 16, 18))
