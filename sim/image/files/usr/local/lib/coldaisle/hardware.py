"""What the simulated hardware of this host is: the stand-ins of vendors' tools report it."""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOUND_FILE = Path("/run/coldaisle/hardware.json")
DISK = Path("/dev/disk/by-id/virtio-coldaisle-hw")


def read_hardware() -> dict[str, Any]:
    """
    Return the record of this host's hardware as it is now, with the faults that were injected.

    A container sees it as a file, a guest as a small disk, which is read past the page cache.
    """
    raw = BOUND_FILE.read_bytes() if BOUND_FILE.exists() else _read_direct(DISK)
    record: dict[str, Any] = json.loads(raw.rstrip(b"\0"))
    return record


def _read_direct(disk: Path) -> bytes:
    """Return the content of a small disk, from the disk itself."""
    descriptor = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        os.lseek(descriptor, 0, os.SEEK_SET)
        with mmap.mmap(-1, size) as page:
            os.readv(descriptor, [page])
            return bytes(page)
    finally:
        os.close(descriptor)
