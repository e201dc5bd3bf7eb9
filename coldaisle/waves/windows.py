"""
Maintenance windows in the site's own time.

Times come in and go out as seconds since the epoch; days and hours are those of the wall clock at the site, so that a
window keeps its hours when daylight saving begins or ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from coldaisle.plan.model import WindowPlan

DAYS_AHEAD = 8
"""A window opens once a week at least, on the weekday of today at the latest."""

DAY_MIN = 24 * 60


def closes_at(windows: Sequence[WindowPlan], timezone: str, now: float) -> float | None:
    """Return when the window that is open now closes; None where none is open, infinity where there is no window."""
    if not windows:
        return float("inf")
    return max((end for start, end in _around(windows, timezone, now) if start <= now < end), default=None)


def opens_at(windows: Sequence[WindowPlan], timezone: str, now: float, needed_s: float = 0) -> float:
    """Return from when on a window is open for `needed_s` more seconds: now, or when the next such one starts."""
    closes = closes_at(windows, timezone, now)
    if closes is not None and now + needed_s <= closes:
        return now
    later = [start for start, end in _around(windows, timezone, now) if start > now and end - start >= needed_s]
    return min(later, default=float("inf"))


def local_text(timezone: str, moment: float) -> str:
    """Return a moment as people at the site read it."""
    return datetime.fromtimestamp(moment, ZoneInfo(timezone)).strftime("%a %Y-%m-%d %H:%M %Z")


def _around(windows: Sequence[WindowPlan], timezone: str, now: float) -> Iterator[tuple[float, float]]:
    zone = ZoneInfo(timezone)
    today = datetime.fromtimestamp(now, zone).date()
    for ahead in range(-1, DAYS_AHEAD):
        day = today + timedelta(days=ahead)
        for window in windows:
            if day.weekday() in window.days:
                past_midnight = window.closes_min <= window.opens_min
                yield (
                    _moment(datetime.combine(day, time()), window.opens_min, zone),
                    _moment(datetime.combine(day, time()) + timedelta(days=past_midnight), window.closes_min, zone),
                )


def _moment(day: datetime, minutes: int, zone: ZoneInfo) -> float:
    local = (day + timedelta(minutes=minutes)).replace(tzinfo=zone)
    return local.astimezone(UTC).timestamp()
