"""
The curves of the ladder as a picture: seconds of each phase against how many hosts a play works on at once.

`python -m tests.bench.ladder_picture MEASURED.json PICTURE.svg` draws what a sweep has kept.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from coldaisle.render.pictures.canvas import FAINT, FRAME, INK, LARGE, SMALL, Sheet
from tests.bench.ladder import PHASES, Climb

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 70, 60
INKS = ("#1b4f72", "#7a7a7a", "#117a65", "#7d3c98", "#9a6a00", "#b3261e")
TOTAL = "all"
LABEL_GAP = 14
"""Pixels between two labels at the right: lines that end together keep names apart."""


def picture(climbs: Sequence[Climb]) -> str:
    """Return the SVG of the curves; one line a phase, and one for their sum. Both scales are logarithmic."""
    found = sorted(climbs, key=lambda each: each.forks)
    hosts, loads = found[0].hosts, [each.load for each in found]
    title = f"Power-on to accepted of {hosts} light hosts"
    told = "; ".join(f"{each.forks} at once: {each.total_s:.0f} s" for each in found)
    sheet = Sheet("ladder", (WIDTH, HEIGHT), title, f"Seconds by phase against hosts at once. {told}.")
    sheet.text(title, (LEFT, 26), LARGE, bold=True)
    under = f"seconds of the clock; load average of the machine before each run {min(loads):.1f} to {max(loads):.1f}"
    sheet.text(under, (LEFT, 46), SMALL, ink=FAINT)
    lines = {phase: [each.wall_s[phase] for each in found] for phase in PHASES} | {
        TOTAL: [each.total_s for each in found]
    }
    _Axes(sheet, [each.forks for each in found], lines).draw()
    return sheet.svg()


class _Axes:
    """The frame, its scales and its lines."""

    def __init__(self, sheet: Sheet, forks: Sequence[int], lines: dict[str, list[float]]) -> None:
        self.sheet, self.forks, self.lines = sheet, forks, lines
        values = [max(value, 0.1) for line in lines.values() for value in line]
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(self, forks: float) -> float:
        first, last = math.log(self.forks[0]), math.log(self.forks[-1])
        part = (math.log(forks) - first) / (last - first) if last > first else 0.5
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, seconds: float) -> float:
        part = (math.log10(max(seconds, 0.1)) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def draw(self) -> None:
        self._scales()
        inks = dict(zip(PHASES, INKS, strict=True)) | {TOTAL: INK}
        below = float("-inf")
        for name, line in sorted(self.lines.items(), key=lambda each: -each[1][-1]):
            points = [(self.x(forks), self.y(seconds)) for forks, seconds in zip(self.forks, line, strict=True)]
            self.sheet.line(points, thick=3 if name == TOTAL else 1.5, ink=inks[name], dashed=name == "accept")
            below = max(points[-1][1] + 4, below + LABEL_GAP)
            self.sheet.text(f"{name} {line[-1]:.1f} s", (points[-1][0] + 8, below), SMALL, ink=inks[name])

    def _scales(self) -> None:
        left, right = LEFT, WIDTH - RIGHT
        for power in range(self.low, self.high + 1):
            y = self.y(10**power)
            self.sheet.line([(left, y), (right, y)], ink="#dddddd")
            self.sheet.text(f"{10**power:g} s", (left - 8, y + 4), SMALL, anchor="end")
        for forks in self.forks:
            self.sheet.line([(self.x(forks), TOP), (self.x(forks), HEIGHT - BOTTOM)], ink="#eeeeee")
            self.sheet.text(str(forks), (self.x(forks), HEIGHT - BOTTOM + 16), SMALL, anchor="middle")
        self.sheet.line([(left, TOP), (left, HEIGHT - BOTTOM), (right, HEIGHT - BOTTOM)], ink=FRAME)
        self.sheet.text("hosts that a play works on at once", ((left + right) / 2, HEIGHT - 18), SMALL, anchor="middle")


if __name__ == "__main__":
    measured = [Climb(**each) for each in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    Path(sys.argv[2]).write_text(picture(measured), encoding="utf-8")
