"""How long tests take: what they took at this site, where that is known, else what they are made to take. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from coldaisle.acceptance.records import Step

MARGIN_S = 600
"""Over the longest time that the steps themselves may take: logging in, and what is between them."""

Known = Mapping[str, float]
"""Seconds that a test took, by its name."""


def measured(bodies: Iterable[Mapping[str, Any]]) -> Known:
    """Return the median of what tests took, by the bodies of evidence; one that did not run took no time."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for body in bodies:
        for step in body.get("steps", ()):
            if step["seconds"] > 0:
                found[step["id"].rpartition("/")[2]].append(step["seconds"])
    return {test: median(seconds) for test, seconds in found.items()}


def expected_s(steps: Sequence[Step], forks: int, known: Known) -> float:
    """Return about how long steps take, on so many hosts side by side."""
    return _total_s(steps, forks, lambda step: known.get(step.test, step.takes_s))


def longest_s(steps: Sequence[Step], forks: int) -> int:
    """Return after how long a run is stuck: when each step has used all of its time."""
    return int(_total_s(steps, forks, lambda step: step.timeout_s)) + MARGIN_S


def _total_s(steps: Sequence[Step], forks: int, seconds: Callable[[Step], float]) -> float:
    """Return the time of all rounds, one after the other; hosts take turns where there are more than forks."""
    by_round: defaultdict[int, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for step in steps:
        by_round[step.round][step.host] += seconds(step)
    return sum(max(hosts.values()) * -(-len(hosts) // forks) for hosts in by_round.values())
