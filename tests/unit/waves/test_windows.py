"""Maintenance windows by the wall clock of the site."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from coldaisle.plan.model import WindowPlan
from coldaisle.waves.windows import closes_at, opens_at

BERLIN = "Europe/Berlin"
NIGHTS = (WindowPlan(days=(5,), opens_min=23 * 60, closes_min=5 * 60),)
"""Saturdays from 23 to 5 o'clock."""


def at(text: str) -> float:
    """Return a local time in Berlin as seconds since the epoch."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(BERLIN)).timestamp()


@pytest.mark.parametrize(
    ("now", "closes"),
    [
        ("2027-01-16T22:59", None),
        ("2027-01-16T23:00", "2027-01-17T05:00"),
        ("2027-01-17T04:59", "2027-01-17T05:00"),
        ("2027-01-17T05:00", None),
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_that_it_opens_on(now: str, closes: str | None) -> None:
    """It is open on Saturday night and on Sunday morning."""
    assert closes_at(NIGHTS, BERLIN, at(now)) == (at(closes) if closes else None)


def test_a_window_keeps_its_hours_when_daylight_saving_begins() -> None:
    """The night of 28 March 2027 has an hour less."""
    opens = opens_at(NIGHTS, BERLIN, at("2027-03-27T12:00"))
    assert opens == at("2027-03-27T23:00")
    assert (closes_at(NIGHTS, BERLIN, opens) or 0) - opens == 5 * 3600


def test_work_that_does_not_fit_into_the_rest_waits_for_the_next_window() -> None:
    """A wave of an hour does not begin half an hour before the end; one of seven hours never begins."""
    now = at("2027-01-17T04:30")
    assert opens_at(NIGHTS, BERLIN, now, 3600) == at("2027-01-23T23:00")
    assert opens_at(NIGHTS, BERLIN, now, 7 * 3600) == float("inf")


def test_without_windows_it_is_always_open() -> None:
    """A site that names none is asked nothing."""
    assert opens_at((), BERLIN, 0.0, 10**9) == 0.0
