"""
What a host tells of its disks' health: what the kernel has counted of each, and an NVMe drive's own health log.

As with the other facts of health, the deploy host makes sense of it (coldaisle.health.parsers.disks).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, read_text, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLOCK = Path("/sys/block")
READS, SECTORS_READ, READ_MS, WRITES, SECTORS_WRITTEN, WRITE_MS, BUSY_MS = 0, 2, 3, 4, 6, 7, 9
"""Columns of a disk's `stat` (Linux: Documentation/block/stat.rst); its sectors have 512 bytes on every disk."""

SECTOR_BYTES = 512
SMART = ("critical_warning", "avail_spare", "spare_thresh", "percent_used", "media_errors")
"""What is sent of an NVMe drive's SMART log, by nvme-cli's names."""


def _read_disk_health(_name: str) -> str:
    """
    Return JSON by disk: `serial`, `counted` since the start of the host, and `smart` where nvme-cli tells it.

    `counted` is the number of reads and writes, their bytes, the milliseconds that they waited in all, and those in
    which the disk had any. What has no device of its own (loops, RAID, volumes) is made of disks that have.
    """
    return json.dumps({path.name: _disk(path) for path in sorted(BLOCK.iterdir()) if (path / "device").exists()})


def _disk(path: Path) -> dict[str, Any]:
    stat = [int(word) for word in read_text(path / "stat").split()]
    counted = [
        stat[READS] + stat[WRITES],
        (stat[SECTORS_READ] + stat[SECTORS_WRITTEN]) * SECTOR_BYTES,
        stat[READ_MS] + stat[WRITE_MS],
        stat[BUSY_MS],
    ]
    serial = path / "device" / "serial"
    return {
        "serial": read_text(serial) if serial.is_file() else "",
        "counted": counted,
        "smart": _smart(path.name) if path.name.startswith("nvme") else {},
    }


def _smart(disk: str) -> dict[str, int]:
    """Return the drive's own log; nothing where nvme-cli is not installed, or the drive does not give it."""
    controller = re.sub(r"n\d+$", "", disk)
    try:
        told = json.loads(run("nvme", "smart-log", f"/dev/{controller}", "--output-format=json"))
    except (FactError, ValueError):
        return {}
    return {name: int(told[name]) for name in SMART if isinstance(told.get(name), int)}


FACTS: dict[str, Fact] = {
    "disk_health": Fact(_read_disk_health, None, "/sys/block/*/stat, and nvme smart-log"),
}
