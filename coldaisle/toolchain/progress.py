"""
How far the builds are, and how long they will still take.

The estimate starts from the measured table in `pins` and corrects itself by what the finished builds of this run
took, so that a machine with a warm Go cache or more cores is soon told the truth.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldaisle.toolchain import pins
    from coldaisle.toolchain.store import Store

PARALLEL = 0.94
"""Share of the cores that a build keeps busy, as measured on two."""

USEFUL_CORES = 8
"""More cores than this no longer shorten a build much: its last step is one linker."""

QUIET_S = 60.0
"""A log that is not a terminal gets a line this often."""


def expected_s(tools: Iterable[pins.Tool], cores: int | None = None) -> float:
    """Return the wall seconds that building these tools takes from an empty cache."""
    width = min(cores or os.cpu_count() or 1, USEFUL_CORES)
    return sum(each.build_cpu_s for each in tools) / (width * PARALLEL)


def minutes(seconds: float) -> str:
    """Return a duration for people: `40 s`, `12 min`."""
    return f"{max(seconds, 0):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"  # noqa: PLR2004 - a minute and a half


@dataclass
class Display:
    """Prints the state of the builds: one line that is rewritten on a terminal, a line a minute in a log."""

    store: Store
    tools: list[pins.Tool]
    out: TextIO = field(default_factory=lambda: sys.stderr)
    started: float = field(default_factory=time.monotonic)
    printed: float = 0.0
    done: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take what is ready already as done, so that it is not announced."""
        self.done = {each.name for each in self.tools if self.store.ready(each)}
        self.found = frozenset(self.done)

    def show(self) -> None:
        """Announce tools that became ready, and now and then what is being built."""
        for each in self.tools:
            if each.name not in self.done and self.store.ready(each):
                self.done.add(each.name)
                self._line(f"ready {each.name} {each.version}")
        now, live = time.monotonic(), self.out.isatty()
        if now - self.printed >= (1.0 if live else QUIET_S) and len(self.done) < len(self.tools):
            self.printed = now
            self._line(self.status(), rewrite=live)

    def status(self) -> str:
        """Return one line: what is built, for how long, how many are left and the time to go."""
        noted = self.store.noted()
        since = noted.get("since")
        current = f"building {noted.get('tool')}" if noted else "waiting for the builder"
        taken = f" ({minutes(time.time() - since)})" if isinstance(since, int | float) else ""
        elapsed = time.monotonic() - self.started
        return (
            f"{current}{taken}; {len(self.done)} of {len(self.tools)} tools ready; "
            f"{minutes(elapsed)} so far, about {minutes(self.left_s(elapsed))} to go"
        )

    def left_s(self, elapsed: float) -> float:
        """Return the seconds to go: what is expected, times how this run compares with what was expected of it."""
        ran = expected_s(each for each in self.tools if each.name in self.done - self.found)
        left = expected_s(each for each in self.tools if each.name not in self.done)
        pace = min(max(elapsed / ran, 0.05), 3.0) if ran else 1.0
        return max(left * pace - (elapsed if not ran else 0.0), 1.0)

    def _line(self, text: str, *, rewrite: bool = False) -> None:
        clear = "\r\x1b[K" if self.out.isatty() else ""
        self.out.write(f"{clear}tools: {text}" + ("" if rewrite else "\n"))
        self.out.flush()
