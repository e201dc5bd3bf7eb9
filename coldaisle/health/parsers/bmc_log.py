"""
Entries of a BMC's event log (IPMI's SEL, Redfish's LogServices), as our reader gives them.

Vendors word them as they like, so what an entry is of is told by the words of IPMI's sensor types (IPMI 2.0, table
42-3) and severity by the BMC's own. What has none of the words is `other`, and never more than watched by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from coldaisle.health.events import Event

TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (topic, re.compile(words, re.IGNORECASE))
    for topic, words in (
        ("memory", r"\b(dimm|memory|ecc)\b"),
        ("power", r"\b(psu|power suppl\w+|ac lost|power unit|voltage)\b"),
        ("fan", r"\bfan\w*\b"),
        ("thermal", r"\b(temp|temperature|thermal\w*|overheat\w*)\b"),
        ("pcie", r"\b(pci|pcie|pci-e|critical interrupt|slot)\b"),
        ("processor", r"\b(cpu|processor|ierr|mce|machine check)\b"),
        ("disk", r"\b(drive|disk|nvme|ssd)\b"),
        ("leak", r"\b(leak\w*|coolant)\b"),
    )
)
"""What an entry is of, by its words; the first that fits."""

PART = re.compile(r"\b(dimm|psu|fan|cpu|slot|drive|gpu)[\s_#-]*([a-z]?\d+[a-z]?\d*)\b", re.IGNORECASE)
GOOD_NEWS = re.compile(r"\b(deassert\w*|de-asserted|returned to normal|presence detected|ok)\b", re.IGNORECASE)


SET_SINCE = datetime(2010, 1, 1, tzinfo=UTC).timestamp()
"""A time before this one is of a clock that nobody has set yet: BMCs begin in 1970, or in 2000."""


def bmc_events(
    node: str, entries: Iterable[Mapping[str, str]], shift_s: float = 0.0, untimed: float | None = None
) -> list[Event]:
    """
    Return what entries with `at`, `severity`, `text` and `source` tell.

    Args:
        node: The node of the BMC.
        entries: As coldaisle's reader gives them.
        shift_s: What is added to the BMC's own time.
        untimed: When those were that have no time, or one of a clock that was not set; without it they are passed over.
    """
    found = []
    for entry in entries:
        own = seconds(entry.get("at", ""))
        at = untimed if own is None or own + shift_s < SET_SINCE else own + shift_s
        bad = entry.get("severity") in {"warning", "critical"} and not GOOD_NEWS.search(entry["text"])
        if at is not None and bad:
            topic = next((name for name, words in TOPICS if words.search(entry["text"])), "other")
            code = f"{topic}-{entry['severity']}"
            found.append(Event(node, _part(entry["text"], topic), "sel", code, 1, at, entry["text"]))
    return found


def seconds(text: str) -> float | None:
    """Return the time of an entry in seconds since 1970, or None; a BMC that names no zone is taken to keep UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _part(text: str, topic: str) -> str:
    found = PART.search(text)
    return f"{found[1].lower()} {found[2].upper()}" if found else topic
