"""
A figure against what the same test measured before: how much worse may it be? Pure.

A floor tells a broken host from a good one; it does not tell that a new driver costs a fifth of the bandwidth. What
the same host reached before does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.acceptance.records import Measured, Step

Key = tuple[str, str, str | None]
"""A step's id, a metric, and the part that it is about."""


@dataclass(frozen=True, slots=True)
class Before:
    """What one body of evidence measured, by step, metric and part; `when` is told beside a figure."""

    when: str
    figures: Mapping[Key, float]

    @classmethod
    def of(cls, body: Mapping[str, Any], when: str) -> Before:
        """Return the figures of a body."""
        return cls(when, dict(_figures(body)))


def _figures(body: Mapping[str, Any]) -> Iterator[tuple[Key, float]]:
    for step in body.get("steps", ()):
        for figure in step.get("measured", ()):
            yield (step["id"], figure["metric"], figure["of"]), float(figure["value"])


@dataclass(frozen=True, slots=True)
class Compared:
    """Holds figures against those of the same host; `max_loss_percent` of them may be lost."""

    before: Mapping[str, Before]
    max_loss_percent: int

    def __call__(self, step: Step, figure: Measured) -> str:
        """Return what a figure was and has become, where it is worse by more than may be; else nothing."""
        kinds = {limit.metric: limit.kind for limit in step.limits}
        known = self.before.get(step.host)
        was = known.figures.get(key_of(step, figure)) if known else None
        if known is None or not was or figure.metric not in kinds:
            return ""
        change = (figure.value - was) / was * 100
        if (-change if kinds[figure.metric] == "floor" else change) <= self.max_loss_percent:
            return ""
        was_text = f"was {was:g} on {known.when}"
        return (
            f"{figure.metric} is {figure.value:g}, {was_text}: {change:+.0f} %, {self.max_loss_percent} % may be lost"
        )


def key_of(step: Step, figure: Measured) -> Key:
    """Return what tells a figure of a step from all others."""
    return step.id, figure.metric, figure.where.name if figure.where else None
