"""
What the kernel has counted of a host's disks, and what NVMe drives log of themselves (module disk_facts).

A disk is slow by what was asked of it anyway, between two readings: nothing is read or written to find out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coldaisle.health.events import Event

Counted = Mapping[str, Sequence[int]]
"""By disk: reads and writes, bytes, milliseconds waited in all, milliseconds in which the disk had any to do."""

SLOW_WAIT_MS, SLOW_BYTES_S, ENOUGH = 100, 2**20, 10
"""
A disk is slow when a read or write waits so long on average and less than a MiB is moved in a second of its work; of
fewer than ten nothing is said. Ours: a full queue makes reads wait on a disk in order too, but then it moves much.
"""

WARNINGS = ("spare-low", "too-hot", "unreliable", "read-only", "backup-failed", "memory-region")
"""Bits of the critical warning in a drive's SMART log, from the lowest on (NVM Express base specification, log 02h)."""

WORN_PERCENT = 100


def disk_events(node: str, text: str, before: Counted, at: float) -> list[Event]:
    """Return what a host's disks tell, against what they had counted at the reading before."""
    found = []
    for disk, told in json.loads(text).items():
        part = f"disk {disk}" + (f" {told['serial']}" if told["serial"] else "")
        told_of = _of_disk(told, before.get(disk))
        found += [Event(node, part, "disk", code, 1, at, said, state) for code, said, state in told_of]
    return found


def counted_of(text: str) -> dict[str, list[int]]:
    """Return what each disk has counted."""
    return {disk: list(told["counted"]) for disk, told in json.loads(text).items()}


def _of_disk(told: Mapping[str, Any], before: Sequence[int] | None) -> Iterator[tuple[str, str, bool]]:
    """Yield code, text, and whether it is a state."""
    now = told["counted"]
    if before is None or any(new < old for new, old in zip(now, before, strict=True)):
        before = [0] * len(now)  # a first reading, or the host has started anew
    count, moved_bytes, waited_ms, busy_ms = (new - old for new, old in zip(now, before, strict=True))
    if count >= ENOUGH and waited_ms / count >= SLOW_WAIT_MS and moved_bytes * 1000 < SLOW_BYTES_S * busy_ms:
        rate_kib_s = moved_bytes * 1000 / busy_ms / 1024
        yield "slow", f"{waited_ms / count:.0f} ms a read or write, {rate_kib_s:.0f} KiB/s while at work", False
    smart = told["smart"]
    for bit, name in enumerate(WARNINGS):
        if smart.get("critical_warning", 0) >> bit & 1:
            yield name, f"critical warning: {name}", True
    if smart.get("media_errors"):
        yield "media-errors", f"{smart['media_errors']} media and data integrity errors", True
    if smart.get("percent_used", 0) >= WORN_PERCENT:
        yield "worn", f"{smart['percent_used']} % of its rated life is used", True
