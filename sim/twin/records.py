"""What a twin found, in the form that people and programs read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["passed", "failed", "not run"]


@dataclass(frozen=True, slots=True)
class Check:
    """
    One check of what was planned.

    `expected` and `seen` are in the same words, so that they can be compared by eye; `details` name what differs. A
    check that was not run says in `seen` why.
    """

    name: str
    status: Status
    expected: str
    seen: str
    details: tuple[str, ...] = ()


def check(name: str, expected: str, seen: str, details: tuple[str, ...] = ()) -> Check:
    """Return a check that was run; it passed when what was seen is what was expected."""
    return Check(name, "passed" if expected == seen else "failed", expected, seen, details)


def not_run(name: str, expected: str, why: str) -> Check:
    """Return a check that could not be run, with the reason."""
    return Check(name, "not run", expected, why)


@dataclass(frozen=True, slots=True)
class Drill:
    """
    One thing that was taken down and put back while traffic went on.

    `outage_ms` is the longest time that any flow was without, from the moment of the failure on, and None where traffic
    did not come back; `restored_ms` is the time from putting it back until all routes were as planned. Of `flows`,
    `hit` lost packets. `resolution_ms` is the time between two packets of a flow.
    """

    kind: str
    name: str
    flows: int
    hit: int
    outage_ms: float | None
    restored_ms: float | None
    resolution_ms: float
    crossed: int


@dataclass(frozen=True, slots=True)
class TwinReport:
    """
    All that was found of one fabric.

    `plan` is the hash of the plan, `ends` says what traffic goes between, `times_s` are seconds by phase, `cabling` is
    the comparison of cables, and `not_survived` names the failures that the plan itself does not survive.
    """

    site: str
    fabric: str
    kind: str
    plan: str
    checks: tuple[Check, ...]
    switches: int
    hosts: int
    hosts_planned: int
    ends: str
    times_s: dict[str, float] = field(default_factory=dict)
    memory_mib: float | None = None
    drills: tuple[Drill, ...] = ()
    not_survived: tuple[str, ...] = ()
    cabling: dict[str, Any] = field(default_factory=dict)

    def count(self, status: Status) -> int:
        """Return how many checks ended in a way."""
        return sum(1 for each in self.checks if each.status == status)
