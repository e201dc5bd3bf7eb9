"""Values against their limits as the report shows them: a bar for the eye, and the same in words for everybody."""

from __future__ import annotations

from dataclasses import dataclass

from coldaisle.units import kilowatts, percent

FULL = 100.0
"""Width of a bar, in the units of its own drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """
    A bar that is full at its limit: filled to `now`, with a mark at `after`, the worst that may come.

    `words` says what it shows, and `over` that the limit is passed; the template writes that out.
    """

    now: float | None
    after: float | None
    over: bool
    words: str


def power_bar(load_w: float | None, after_w: float | None, limit_w: float, after: str = "after a loss") -> Bar:
    """Return the bar of a load: what it is, and what it is after the worst loss."""
    words = f"{kilowatts(load_w)} of {kilowatts(limit_w)}, {percent(load_w, limit_w)}"
    return Bar(
        now=_width(load_w, limit_w),
        after=_width(after_w, limit_w),
        over=max(load_w or 0.0, after_w or 0.0) > limit_w,
        words=f"{words}; {percent(after_w, limit_w)} {after}",
    )


def heat_bar(load_w: float | None, limit_w: float, full_w: float) -> Bar:
    """Return the bar of a cooling unit: full at what it removes with every unit running, marked without the spares."""
    words = f"{kilowatts(load_w)} of {kilowatts(limit_w)} with the spare units out, {percent(load_w, limit_w)}"
    return Bar(
        now=_width(load_w, full_w),
        after=_width(limit_w, full_w),
        over=(load_w or 0.0) > limit_w,
        words=words,
    )


def current_bar(load_a: float | None, after_a: float | None, limit_a: float) -> Bar:
    """Return the bar of a current: what it is, and what it is after the worst loss of another feed."""
    words = f"{_amperes(load_a)} of {_amperes(limit_a)}, {percent(load_a, limit_a)}"
    return Bar(
        now=_width(load_a, limit_a),
        after=_width(after_a, limit_a),
        over=max(load_a or 0.0, after_a or 0.0) > limit_a,
        words=f"{words}; {percent(after_a, limit_a)} after a loss",
    )


def _amperes(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} A"


def part_bar(value: float | None, limit: float | None, words: str) -> Bar | None:
    """Return the bar of a value, or None where there is no limit to hold it against."""
    if limit is None or limit <= 0:
        return None
    return Bar(now=_width(value, limit), after=None, over=(value or 0.0) > limit, words=words)


def _width(value: float | None, limit: float) -> float | None:
    """Return how far a bar is filled; what passes the limit fills it."""
    return None if value is None or limit <= 0 else round(min(value / limit, 1.0) * FULL, 1)
