"""What a comparison of cables found, as records, as JSON and as lines to print."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from coldaisle.plan.model import End

Kind = Literal["swapped", "wrong-rail", "wrong-port", "extra", "unpowered", "missing"]
KINDS: tuple[Kind, ...] = ("unpowered", "swapped", "wrong-rail", "wrong-port", "extra", "missing")
"""Kinds in the order in which they are worth mending."""
SHOWN_EACH = 5
"""Cables that a reason of the text form names before it counts the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One mistake, and how to mend it.

    `ends` are: of a swap the two plugs to exchange, of a wrong port or rail the port that the plug is in and the one
    that it belongs into, of others the cable's ends. `cables` are the planned cables that it breaks. `step` and `steps`
    number the findings that must be mended in their order.
    """

    kind: Kind
    what: str
    fix: str
    ends: tuple[End, ...]
    cables: tuple[tuple[End, End], ...] = ()
    wrong_rail: bool = False
    step: int = 1
    steps: int = 1
    devices: frozenset[str] = frozenset()

    @property
    def order(self) -> tuple[object, ...]:
        """Return what findings are sorted by: by kind, those that go together beside each other."""
        group = min(self.devices, default=self.ends[0].device)
        return KINDS.index(self.kind), group, self.steps, self.step, *((end.device, end.port) for end in self.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """What could not be told of a cable or of a link, and why."""

    reason: str
    a: End
    b: End

    def __lt__(self, other: Unknown) -> bool:
        """Sort by reason, then by both ends."""
        return self._key < other._key

    @property
    def _key(self) -> tuple[str, ...]:
        return self.reason, self.a.device, self.a.port, self.b.device, self.b.port


@dataclass(frozen=True, slots=True, kw_only=True)
class CablingReport:
    """All that was found. `planned` counts the plan's cables in question, and `as_planned` those that are so."""

    planned: int
    as_planned: int
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    notes: tuple[str, ...] = ()
    ignored: int = 0
    places: dict[str, tuple[str, int]] = field(default_factory=dict)

    def where(self, end: End) -> str:
        """Return rack and rack unit of an end, as `r01 u40`; a dash where nothing is known."""
        place = self.places.get(end.device)
        return f"{place[0]} u{place[1]:02d}" if place else "-"

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "cables": {"planned": self.planned, "as_planned": self.as_planned},
            "findings": [self._finding(one) for one in self.findings],
            "could_not_tell": [
                {"reason": one.reason, "a": self._end(one.a), "b": self._end(one.b)} for one in self.unknown
            ],
            "notes": list(self.notes),
            "neighbours_ignored": self.ignored,
        }

    def _finding(self, one: Finding) -> dict[str, Any]:
        return {
            "kind": one.kind,
            "wrong_rail": one.wrong_rail,
            "what": one.what,
            "fix": one.fix,
            "ends": [self._end(end) for end in one.ends],
            "cables": [[self._end(end) for end in cable] for cable in one.cables],
            "step": one.step,
            "steps": one.steps,
        }

    def _end(self, end: End) -> dict[str, Any]:
        rack, unit = self.places.get(end.device, (None, None))
        return {"device": end.device, "port": end.port, "rack": rack, "unit": unit}

    def reasons(self) -> list[tuple[str, list[Unknown]]]:
        """Return what could not be told by its reason, the most frequent one first."""
        counts = Counter(one.reason for one in self.unknown)
        return [(why, [one for one in self.unknown if one.reason == why]) for why, _ in counts.most_common()]
