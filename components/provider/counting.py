"""How far a read of many hosts is, in a line for a person: who waits for thousands wants to know it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.provider.run import Event

EVERY_S = 2.0
"""Seconds between two lines, and before the first one: a read that is over sooner says nothing."""

_BAD = frozenset({"unreachable", "failed"})


@dataclass(slots=True)
class Count:
    """Counts the hosts of a read that have been asked, and those of them that did not tell all they were asked for."""

    total: int
    listeners: list[Callable[[str], None]]
    asked: dict[str, bool] = field(default_factory=dict)
    said_at: float = field(default_factory=time.monotonic)
    begun: bool = False

    def take(self, event: Event) -> None:
        """Take an event of the read, and say how far it is, now and then."""
        short = bool(event.get("errors")) if event["kind"] == "facts" else event.get("state") in _BAD
        if event["kind"] == "facts" or short:
            self.asked[event["host"]] = short or self.asked.get(event["host"], False)
            self._say(time.monotonic())

    def _say(self, now: float) -> None:
        """Say it when it is time to, and at the end where something was said before: who follows it sees it end."""
        ends = self.begun and len(self.asked) == self.total
        if now - self.said_at < EVERY_S and not ends:
            return
        self.said_at, self.begun = now, True
        for say in self.listeners:
            say(self.line())

    def line(self) -> str:
        """Return the line: how many of how many, and how many did not tell all."""
        short = sum(self.asked.values())
        return f"{len(self.asked)} of {self.total} hosts asked" + (f", {short} could not tell all" if short else "")
