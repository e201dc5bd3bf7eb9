"""What the simulated hardware of this host is: the stand-ins of vendors' tools report it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOUND_FILE = "/run/coldaisle/hardware.json"
DISK = "/dev/disk/by-id/virtio-coldaisle-hw"


def read_hardware() -> dict[str, Any]:
    """
    Return the record of this host's hardware as it is now, with the faults that were injected.

    A container sees it as a file, a guest as a small disk, which is read past the page cache.
    """
    try:
        with open(BOUND_FILE, "rb") as file:  # noqa: PTH123 - pathlib is dear, and every stand-in begins with this
            raw = file.read()
    except FileNotFoundError:
        raw = _read_direct(DISK)
    # Each stand-in begins with this, and importing json would be most of its cost. The simulation writes the record.
    record: dict[str, Any] = eval(raw.rstrip(b"\0"), {"true": True, "false": False, "null": None})  # noqa: S307
    return record


def _read_direct(disk: str) -> bytes:
    """Return the content of a small disk, from the disk itself."""
    import mmap  # noqa: PLC0415 - guests only

    descriptor = os.open(disk, os.O_RDONLY | os.O_DIRECT)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        os.lseek(descriptor, 0, os.SEEK_SET)
        with mmap.mmap(-1, size) as page:
            os.readv(descriptor, [page])
            return bytes(page)
    finally:
        os.close(descriptor)
