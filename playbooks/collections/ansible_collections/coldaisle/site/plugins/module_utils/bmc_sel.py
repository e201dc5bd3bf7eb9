"""
IPMI's system event log (IPMI 2.0, chapter 31): one command tells whether it has changed, and only what is new is read.

Each entry is a command, and a log holds thousands; a burst of commands silences some BMCs.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry, ipmi_entry
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_unread import NEWEST, Unread
from pyghmi.ipmi.command import Command
from pyghmi.ipmi.events import EventHandler, _fix_sel_time

if TYPE_CHECKING:
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc

STORAGE, GET_SEL_INFO = 0x0A, 0x40
INFO = struct.Struct("<xHxxIIB")
"""Its answer (31.2): version, number of entries, free space, times of the last addition and erasure, flags."""

OVERFLOW = 0x80
"""Flag: events were dropped, since there was no room."""

SOURCE = "SEL"


@dataclass(frozen=True)
class SelState:
    """How a log stands: `changes` are its number of entries and the times of the last addition and erasure."""

    changes: list[int]
    overflow: bool


class SelReader(EventHandler):  # type: ignore[misc]  # pyghmi carries no types
    """pyghmi's reader of the log, which itself reads all of it each time."""

    def __init__(self, library: Command) -> None:
        """Learn which sensors there are."""
        super().__init__(library.init_sdr(), library)
        self._library = library

    def read(self, first: int) -> list[dict[str, Any]]:
        """Return the events from a record on, the oldest first; their times are corrected by the BMC's clock."""
        found: list[dict[str, Any]] = []
        self._fetch_entries(self._library, first, found)
        _fix_sel_time(found, self._library)
        return found


def sel_state(bmc: IpmiBmc) -> SelState:
    """Return how the log of a BMC stands."""
    *changes, flags = INFO.unpack_from(bytes(bmc.command(STORAGE, GET_SEL_INFO, (), "Get SEL Info")))
    return SelState(changes, bool(flags & OVERFLOW))


def sel_unread(bmc: IpmiBmc, mark: Mapping[str, Any]) -> Unread:
    """
    Return the entries after those of a mark, and the next mark.

    A mark has the state of the log, and the record and the time of its last entry: records begin anew when somebody
    clears the log. Where that entry is not there any more all are new.
    """
    state = sel_state(bmc)
    full = [SOURCE] if state.overflow else []
    if mark.get("changes") == state.changes:
        return Unread([], mark, "", full)
    events = _after(bmc, mark.get("last")) if state.changes[0] else []
    last = event_identity(events[-1]) if events else mark.get("last")
    entries = [_zoned(ipmi_entry(event)) for event in events[-NEWEST:]]
    return Unread(entries, {"changes": state.changes, "last": last}, "", full)


def _after(bmc: IpmiBmc, last: list[int] | None) -> list[dict[str, Any]]:
    """Return the events after the last one that was told."""
    if last:
        try:
            found = list(bmc.events(last[0]))
        except BmcError as error:
            if error.kind != "refused":
                raise
            found = []
        if found and event_identity(found[0]) == last:
            return found[1:]
    return list(bmc.events())


def event_identity(event: dict[str, Any]) -> list[int]:
    """Return what tells an event from all others: its record, which begins anew in a cleared log, and its time."""
    return [event["record_id"], event.get("timecode", 0)]


def _zoned(entry: Entry) -> Entry:
    """Give a time its zone: pyghmi's are of this host's, and do not say so."""
    try:
        at = datetime.fromisoformat(entry.at).astimezone().isoformat()
    except ValueError:
        return entry
    return Entry(at, entry.severity, entry.text, entry.source)
