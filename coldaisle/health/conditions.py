"""
Node conditions, in Kubernetes' words: type, status, reason, message, and when the status last changed.

As the node problem detector's, `True` is a problem. Types that NVIDIA's health service (NVSentinel) has are called as
there, so that what is built on them works with either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from coldaisle.health.events import Event, Kind

TYPES: Mapping[Kind, str] = {
    "xid": "SysLogsXIDError",
    "ecc": "GpuMemWatch",
    "ras": "GpuMemWatch",
    "nvlink": "GpuNvlinkWatch",
    "thermal": "GpuThermalWatch",
    "pcie": "GpuPcieWatch",
    "gpu-lost": "GpuCountMismatch",
    "link": "NicLinkFlap",
    "sel": "BmcEventLog",
    "bmc": "BmcWatch",
    "disk": "DiskWatch",
    "clock": "HostClockOff",
}
"""Type of the condition of each kind of event; the last six are ours."""

LINES = 3
MESSAGE_CHARACTERS = 512
"""A condition is read in `kubectl describe node`: what is longer is in the ticket."""


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """A condition of a node; `last_transition` is in seconds since 1970."""

    node: str
    type: str
    status: Literal["True", "False"]
    reason: str
    message: str
    last_transition: float

    def as_kubernetes(self, now: float) -> dict[str, str]:
        """Return the condition as the status of a Node has it."""
        return {
            "type": self.type,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": rfc3339(self.last_transition),
            "lastHeartbeatTime": rfc3339(now),
        }


def conditions_of(before: Iterable[Condition], events: Iterable[Event], now: float) -> tuple[Condition, ...]:
    """Return the conditions of all nodes: those that events speak of are true, and what was true before is false."""
    known = {(condition.node, condition.type): condition for condition in before}
    told: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in sorted(events):
        told[event.node, TYPES[event.kind]].append(event)
    found = [_true(key, told[key], known.get(key), now) for key in told]
    found += [_false(condition, now) for key, condition in known.items() if key not in told]
    return tuple(sorted(found))


def _true(key: tuple[str, str], events: list[Event], before: Condition | None, now: float) -> Condition:
    node, type_ = key
    since = before.last_transition if before and before.status == "True" else now
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for event in events:
        counts[event.part, f"{event.kind} {event.code}"] += event.count
    lines = [f"{part}: {what} ({times})" for (part, what), times in sorted(counts.items())]
    more = f" and {len(lines) - LINES} more" if len(lines) > LINES else ""
    message = ("; ".join(lines[:LINES]) + more)[:MESSAGE_CHARACTERS]
    return Condition(node, type_, "True", f"{type_}IsNotHealthy", message, since)


def _false(before: Condition, now: float) -> Condition:
    since = before.last_transition if before.status == "False" else now
    return Condition(before.node, before.type, "False", f"{before.type}IsHealthy", "No Health Failures", since)


def rfc3339(at: float) -> str:
    """Return a time as Kubernetes writes it, in whole seconds."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
