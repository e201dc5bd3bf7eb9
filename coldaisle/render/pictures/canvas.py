"""
What all pictures share: a sheet with a title that screen readers say, text that fits, and bars against a limit.

Nothing is told by colour alone: kinds of devices have patterns and names, and what is over its limit has a thick frame
and an exclamation mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import drawsvg as draw

INK, FAINT, PAPER, FRAME = "#1a1a1a", "#565656", "#ffffff", "#7a7a7a"
CALM, ALARM, ALARMED, EMPTY = "#8fb4d9", "#b3261e", "#fbe3e1", "#f1f1f1"
FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
SMALL, NORMAL, LARGE = 10, 12, 16
"""Sizes of text, in pixels; nothing is smaller than the first."""

_WIDTH_OF_A_LETTER = 0.63
"""Width of a letter of the font, for each pixel of its size: a little more than its average."""


class Sheet:
    """A picture in the making. Places are pixels from the upper left corner."""

    def __init__(self, name: str, size: tuple[float, float], title: str, description: str) -> None:
        """
        Begin a picture.

        Args:
            name: Name of the picture, unique in a page: its parts' ids begin with it.
            size: Width and height.
            title: What the picture shows, as a heading and for screen readers.
            description: What can be read from it, in a sentence or two.
        """
        width, height = size
        self.drawing = draw.Drawing(
            width,
            height,
            id_prefix=f"{name}-",
            role="img",
            aria_labelledby=f"{name}-title {name}-desc",
            font_family=FONT,
        )
        self.drawing.append(draw.Raw(f'<title id="{name}-title">{_escaped(title)}</title>'))
        self.drawing.append(draw.Raw(f'<desc id="{name}-desc">{_escaped(description)}</desc>'))
        self.drawing.append(draw.Rectangle(0, 0, width, height, fill=PAPER))
        self._name = name
        self._hatches: dict[str, draw.Pattern] = {}
        self._shared: dict[str, draw.Group] = {}

    def text(  # noqa: PLR0913 - a text, its place and its looks
        self,
        words: str,
        at: tuple[float, float],
        size: int = NORMAL,
        *,
        anchor: str = "start",
        bold: bool = False,
        ink: str = INK,
    ) -> None:
        """Write a line of text; `at` is its baseline."""
        looks = {"font_weight": "bold"} if bold else {}
        self.drawing.append(draw.Text(words, size, at[0], at[1], text_anchor=anchor, fill=ink, **looks))

    def box(  # noqa: PLR0913 - a box, its place and its looks
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        *,
        fill: str = PAPER,
        frame: str = FRAME,
        thick: float = 1,
        hatch: str | None = None,
        tip: str = "",
    ) -> None:
        """Draw a box; `hatch` lays a pattern over it, and `tip` is what it says when it is pointed at."""
        box = draw.Rectangle(*corner, *size, fill=fill, stroke=frame, stroke_width=thick)
        if tip:
            box.append_title(tip)
        self.drawing.append(box)
        if hatch:
            self.drawing.append(draw.Rectangle(*corner, *size, fill=self._hatch(hatch), pointer_events="none"))

    def line(
        self, points: Sequence[tuple[float, float]], *, thick: float = 1, ink: str = INK, dashed: bool = False
    ) -> None:
        """Draw a line through points."""
        flat = [value for point in points for value in point]
        looks = {"stroke_dasharray": "6 4"} if dashed else {}
        self.drawing.append(draw.Lines(*flat, fill="none", stroke=ink, stroke_width=thick, **looks))

    def meter(self, bar: Meter, corner: tuple[float, float], size: tuple[float, float]) -> None:
        """Draw a bar that is full at its limit, with its label at the left and its figure at the right."""
        (x, y), (width, height) = corner, size
        self.box(corner, size, fill=ALARMED if bar.over else EMPTY, tip=bar.tip)
        if bar.over:
            self.box((x + 1, y + 1), (width - 2, height - 2), fill="none", frame=ALARM, thick=2)
        elif bar.part:
            self.box((x + 0.5, y + 0.5), ((width - 1) * bar.part, height - 1), fill=CALM, frame="none")
        baseline = y + height - (height - SMALL) / 2 - 1
        self.text(bar.label, (x + 5, baseline), SMALL)
        self.text(bar.figure, (x + width - 5, baseline), SMALL, anchor="end", bold=bar.over)

    def column(self, bar: Meter, corner: tuple[float, float], size: tuple[float, float]) -> None:
        """Draw an upright bar that is full at its limit, its figure on it and its label below."""
        (x, y), (width, height) = corner, size
        self.box(corner, size, fill=ALARMED if bar.over else EMPTY, tip=bar.tip)
        if bar.over:
            self.box((x + 1, y + 1), (width - 2, height - 2), fill="none", frame=ALARM, thick=2)
        elif bar.part:
            filled = (height - 1) * bar.part
            self.box((x + 0.5, y + height - 0.5 - filled), (width - 1, filled), fill=CALM, frame="none")
        middle = x + width / 2
        self.text(bar.figure, (middle, y + height / 2 + 4), SMALL, anchor="middle", bold=bar.over)
        self.text(bar.label, (middle, y + height + SMALL + 2), SMALL, anchor="middle")

    def _hatch(self, name: str) -> draw.Pattern:
        if name not in self._hatches:
            pattern = draw.Pattern(width=6, height=6, patternUnits="userSpaceOnUse")
            ink = {"switch": "#6f5a1e", "service": "#2f5f3f", "blank": "#b4b4b4"}[name]
            if name == "service":
                pattern.append(draw.Circle(3, 3, 0.9, fill=ink))
            elif name == "blank":
                pattern.append(draw.Lines(0, 3, 6, 3, fill="none", stroke=ink, stroke_width=0.8))
            else:
                pattern.append(draw.Lines(0, 6, 6, 0, fill="none", stroke=ink, stroke_width=0.8))
            self._hatches[name] = pattern
        return self._hatches[name]

    def ruler(self, key: str, parts: Sequence[draw.DrawingBasicElement], at: tuple[float, float]) -> None:
        """Draw parts that many things of a picture share; they stand in it once, and are used by their key."""
        if key not in self._shared:
            self._shared[key] = draw.Group(parts, id=f"{self._name}-{key}")
            self.drawing.append_def(self._shared[key])
        self.drawing.append(draw.Use(self._shared[key], *at))

    def svg(self) -> str:
        """Return the picture, without the XML declaration, so that a page can hold it as it is."""
        text: str = self.drawing.as_svg(header="")
        return text.strip() + "\n"


@dataclass(frozen=True, slots=True)
class Meter:
    """A value against its limit: the part of it that is reached, None where that is not known."""

    label: str
    part: float | None
    tip: str
    instead: str = ""
    """What is said in place of the figure, such as that there is no limit."""

    @property
    def over(self) -> bool:
        """Tell whether the limit is passed."""
        return self.part is not None and self.part > 1

    @property
    def figure(self) -> str:
        """Return the part as people read it: `40 %`, `! 118 %`, `unknown`."""
        if self.part is None:
            return self.instead or "unknown"
        shown = f"{100 * self.part:.0f} %"
        return f"! {shown}" if self.over else shown


def part_of(value: float | None, limit: float | None) -> float | None:
    """Return how much of a limit is reached, or None where either is not known."""
    return None if value is None or limit is None or limit <= 0 else value / limit


def unlimited(limit: float | None) -> str:
    """Return what a bar says in place of a figure that has no limit, and nothing where it has one."""
    return "no limit" if limit is None else ""


def fitting(words: str, width: float, size: int = NORMAL) -> str:
    """Return a text, cut off with an ellipsis where it is wider than the room for it."""
    room = int(width / (size * _WIDTH_OF_A_LETTER))
    return words if len(words) <= room else words[: max(room - 1, 1)] + "…"


def first_to_last(names: Iterable[str]) -> str:
    """Return names as one label: `r03`, or `r01 … r08`."""
    listed = list(names)
    return listed[0] if len(listed) == 1 else f"{listed[0]} … {listed[-1]}"


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
