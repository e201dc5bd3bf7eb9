"""
Which entries of a BMC's logs are new, over Redfish.

A mark is the newest entry that was told, for each log: its Id and when it was made. Times alone would not do: a BMC's
clock is set, or begins anew in 1970 when its battery is empty, and two entries may have the same second. Ids alone
would not either: they begin anew when somebody clears the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import (
    Entry,
    redfish_entry,
    redfish_logs,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_unread import NEWEST, Unread

Member = dict[str, Any]
NUMBER = re.compile(r"\d+(?:[_.:-]\d+)*")
"""An Id that gives its entry a place: `12`, and OpenBMC's `1690000000_1`."""


def redfish_unread(service: Service, marks: Mapping[str, Any]) -> Unread:
    """Return the entries of all logs that were made after those of the marks, and the next marks."""
    entries: list[Entry] = []
    after: dict[str, Any] = {}
    now, full = "", []
    for log in redfish_logs(service):
        path = log.entries
        if path is None:
            continue
        found, after[path], count = _unread(service, path, marks.get(path))
        entries += (redfish_entry(body, log.source) for body in found)
        now = now or str(log.service.get("DateTime") or log.owner.get("DateTime") or "")
        if is_full(log.service, count):
            full.append(log.source)
    return Unread(entries, after, now, full)


def _unread(service: Service, path: str, mark: Member | None) -> tuple[list[Member], Member | None, int]:
    """Return the entries of one log after a mark, the oldest first; its next mark; and how many entries it has."""
    members, count = _back_to(service, path, mark)
    order: Callable[[Member], tuple[Any, ...]] = _number
    if not all(map(_number, members)):
        members, order = [service.whole(member) for member in members], _made
    if mark and any(_is(service, member, mark) for member in members):
        members = [member for member in members if order(member) > order(mark)]
    bodies = [service.whole(member) for member in sorted(members, key=order)[-NEWEST:]]
    return bodies, mark_of(bodies[-1]) if bodies else mark, count


def _back_to(service: Service, path: str, mark: Member | None) -> tuple[list[Member], int]:
    """Return the members of a log, and how many it has; where the newest come first only those that may be sent."""
    members: list[Member] = []
    count = 0
    for page in service.pages(path):
        of_page: list[Member] = page.get("Members") or []
        members += of_page
        count = int(page.get("Members@odata.count") or len(members))
        falls = len(of_page) > 1 and _number(of_page[0]) > _number(of_page[-1])
        if falls and (len(members) >= NEWEST or any(mark and _is(service, member, mark) for member in of_page)):
            break
    return members, count


def _is(service: Service, member: Member, mark: Member) -> bool:
    return _id(member) == mark["Id"] and mark_of(service.whole(member)) == mark


def mark_of(entry: Member) -> Member:
    """Return what tells a whole entry from all others, also from one of the same Id before the log was cleared."""
    return {"Id": _id(entry), "Created": entry.get("Created")}


def _id(member: Member) -> str:
    return str(member.get("Id") or member["@odata.id"].rstrip("/").rpartition("/")[2])


def _number(member: Member) -> tuple[int, ...]:
    """Return the place of an entry by its Id, empty where that is no number."""
    found = _id(member)
    return tuple(map(int, re.split(r"\D", found))) if NUMBER.fullmatch(found) else ()


def _made(member: Member) -> tuple[str, str]:
    """Return the place of a whole entry whose Id is no number: when it was made."""
    return str(member.get("Created") or ""), _id(member)


def is_full(log: Member, count: int) -> bool:
    """Tell whether a log takes no more entries, or has lost some."""
    most = log.get("MaxNumberOfRecords")
    stops = log.get("OverWritePolicy") == "NeverOverWrites" and isinstance(most, int) and 0 < most <= count
    return bool(log.get("Overflow")) or stops
