"""An event loop whose time passes only while nothing else happens: hours of waiting cost nothing."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Mapping
from typing import Any

START = 1_800_000_000.0
"""When every trial begins: 2027-01-15 08:00 UTC, a Friday."""

TICKS = 1024
"""Of a second: time moves in steps that a float of the time of day can tell apart."""


class StuckError(Exception):
    """Everybody waits, and for nothing that time brings."""


class _Selector(selectors.BaseSelector):
    """Skips the time until the next timer instead of sleeping through it."""

    def __init__(self) -> None:
        self.now = 0.0
        self._files = selectors.DefaultSelector()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:  # noqa: ANN401 - the library's
        return self._files.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:  # noqa: ANN401 - the library's
        return self._files.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._files.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise StuckError
        self.now = math.ceil((self.now + timeout) * TICKS) / TICKS
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        found: Mapping[Any, selectors.SelectorKey] = self._files.get_map()
        return found

    def close(self) -> None:
        self._files.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose `time` is virtual: seconds since the trial began."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        """Return virtual seconds."""
        return self._virtual.now


def wall() -> float:
    """Return the time of day in the running trial, in seconds since the epoch."""
    return START + asyncio.get_running_loop().time()
