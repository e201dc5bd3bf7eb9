"""How far a read of many hosts is, as who waits for it is told."""

from __future__ import annotations

import pytest

from components.provider import counting
from components.provider.counting import Count
from components.provider.run import Event


def facts(host: str, **errors: str) -> Event:
    """Return the event of a host that was asked."""
    return {"kind": "facts", "host": host, "facts": {}, "errors": errors}


def task(host: str, state: str) -> Event:
    """Return the event of a task on a host."""
    return {"kind": "task", "host": host, "task": "Read", "state": state, "message": "", "where": ""}


def test_each_host_counts_once_and_who_could_not_tell_all_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comes first, of the reader or of Ansible: facts, or the end of the task."""
    monkeypatch.setattr(counting, "EVERY_S", 0.0)
    said: list[str] = []
    count = Count(4, [said.append])
    for event in (
        *(task("h1", "start"), facts("h1"), task("h1", "ok")),
        *(task("h2", "unreachable"), facts("h2")),
        *(facts("h3", power="no answer"), task("h3", "ok")),
        {"kind": "stats", "failed": [], "unreachable": [], "processed": ["h1"]},
    ):
        count.take(event)
    assert said[0] == "1 of 4 hosts asked"
    assert said[-1] == count.line() == "3 of 4 hosts asked, 2 could not tell all"


def test_a_short_read_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first line comes after two seconds, then one every two, and one at the end."""
    now, said = 100.0, []
    monkeypatch.setattr("time.monotonic", lambda: now)
    count = Count(5, [lambda line: said.append((now, line))], said_at=now)
    for number, now in enumerate((101.0, 102.0, 103.0, 104.5, 104.6), start=1):  # noqa: B007 - the clock
        count.take(facts(f"h{number}"))
    assert said == [
        (102.0, "2 of 5 hosts asked"),
        (104.5, "4 of 5 hosts asked"),
        (104.6, "5 of 5 hosts asked"),
    ]
    short = Count(1, [lambda line: said.append((now, line))], said_at=now)
    short.take(facts("h1"))
    assert len(said) == 3
