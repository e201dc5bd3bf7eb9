"""
Drift that is known, and may stay until a date.

An entry names what it covers, why, and until when; after that day it no longer covers anything, and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coldaisle.drift.report import Item, Report

KEYS = frozenset({"resource", "host", "thing", "until", "reason"})


class IgnoreFileError(Exception):
    """The file of known drift cannot be used; the message names every problem in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    One entry. `resource`, `host` and `thing` are shell patterns; `*` where they are left out.

    `until` is the last day on which it counts.
    """

    resource: str
    host: str
    thing: str
    until: date
    reason: str

    def covers(self, item: Item) -> bool:
        """Say whether an item is one of those that the entry means."""
        places = ((item.resource, self.resource), (item.host or "", self.host), (item.thing, self.thing))
        return all(fnmatchcase(place, pattern) for place, pattern in places)


def parse(entries: Any, file: str) -> tuple[Known, ...]:  # noqa: ANN401 - whatever the file holds
    """
    Return the entries of a file's content.

    Raises:
        IgnoreFileError: with every problem.

    """
    if not isinstance(entries, list):
        raise IgnoreFileError(f"{file}: must be a list of entries, each with {', '.join(sorted(KEYS))}")
    problems = [
        f"{file}: entry {number}: {problem}"
        for number, entry in enumerate(entries, start=1)
        for problem in _problems(entry)
    ]
    if problems:
        raise IgnoreFileError("\n".join(problems))
    return tuple(_known(entry) for entry in entries)


def _problems(entry: Any) -> Iterable[str]:  # noqa: ANN401 - whatever the file holds
    if not isinstance(entry, dict):
        yield "must have keys and values"
        return
    yield from (f"unknown key {key}; the keys are {', '.join(sorted(KEYS))}" for key in sorted(entry.keys() - KEYS))
    if not entry.get("reason"):
        yield "a reason is missing"
    if not isinstance(entry.get("until"), date):
        yield "until must be a date, such as 2027-01-31"
    if not entry.keys() & {"resource", "host", "thing"}:
        yield "it must name a resource, a host or a thing: an entry for everything would hide everything"


def _known(entry: Mapping[str, Any]) -> Known:
    return Known(
        resource=entry.get("resource", "*"),
        host=entry.get("host", "*"),
        thing=entry.get("thing", "*"),
        until=entry["until"],
        reason=entry["reason"],
    )


def apply(report: Report, known: Iterable[Known], today: date) -> Report:
    """Return the report with known drift marked; entries that are over, or cover nothing, are noted."""
    entries = tuple(known)
    current = [entry for entry in entries if today <= entry.until]
    items = tuple(_marked(item, current) for item in report.items)
    over = [
        f"no longer ignored since {entry.until}: {_what(entry)} ({entry.reason})"
        for entry in entries
        if entry not in current
    ]
    idle = [f"ignored, but as planned: {_what(entry)}" for entry in current if not any(map(entry.covers, report.items))]
    return replace(report, items=items, notes=(*report.notes, *over, *idle))


def _what(entry: Known) -> str:
    return f"resource {entry.resource}, host {entry.host}, thing {entry.thing}"


def _marked(item: Item, entries: list[Known]) -> Item:
    entry = next((entry for entry in entries if entry.covers(item)), None)
    return replace(item, ignored_because=f"{entry.reason} (until {entry.until})") if entry else item
