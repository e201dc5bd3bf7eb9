"""The time of a run."""

from __future__ import annotations

import time


class Clock:
    """Wall time that never jumps: the time of the start, and what a steady clock has counted since."""

    def __init__(self) -> None:
        """Start now."""
        self._wall, self._steady = time.time(), time.monotonic()

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        return self._wall + time.monotonic() - self._steady
