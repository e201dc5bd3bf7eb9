"""
The disk of a light host, as its kernel would count it: files in the form of Linux's sysfs, over the machine's own.

The figures follow the drive's rate in the hardware record, so that a slow drive looks like one. They do not move.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sim.measures import DISK_MB_S
from sim.parts import serial_of

DISK = "nvme0n1"
REQUESTS, REQUEST_BYTES, WAIT_MS = 1000, 4096, 1
"""What a drive in order was asked for, and how long each waited."""

SLOWER = 1000
"""How much longer a read waits on a drive that moves a tenth of what it should: what is left is mostly retries."""


def write_disk(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the counters and the serial of the host's drive."""
    device = folder / DISK / "device"
    device.mkdir(parents=True, exist_ok=True)
    (device / "serial").write_text(f"{serial_of(str(record['host']), DISK)}\n")
    slow = record["disk_mb_s"] < DISK_MB_S / 2
    count = REQUESTS * (2 if slow else 1)
    wait_ms = count * WAIT_MS * (SLOWER if slow else 1)
    sectors = count * REQUEST_BYTES // 512
    # reads, merged, sectors, ms; the same of writes; under way, ms busy, ms in the queue
    (folder / DISK / "stat").write_text(f"{count} 0 {sectors} {wait_ms} 0 0 0 0 0 {wait_ms} {wait_ms}\n")
