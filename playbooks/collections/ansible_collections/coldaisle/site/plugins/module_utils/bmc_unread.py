"""What a BMC has logged since it was asked last, whatever protocol told it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry

NEWEST = 500
"""Entries of a log that are sent at most."""


@dataclass(frozen=True)
class Unread:
    """
    Entries that were not told before.

    Args:
        entries: They, the oldest of each log first.
        marks: What to ask with next time; JSON, which only the protocol's own module looks into.
        now: The BMC's own time, in ISO 8601 with its zone; empty where the entries' times are right already.
        full: Logs that take no more entries, or have lost some.
    """

    entries: list[Entry]
    marks: Mapping[str, Any]
    now: str
    full: list[str]

    def as_json(self) -> str:
        """Return it as the value of a fact; the marks are a text of their own there, the cursor of the next reading."""
        entries = [entry.as_json() for entry in self.entries]
        body = {"now": self.now, "entries": entries, "cursor": json.dumps(dict(self.marks)), "full": self.full}
        return json.dumps(body)
