"""
The disks of a host as the kernel has them: what each is called, which serial it has, and who uses it.

`lsblk` says the same thing in two forms: up to util-linux 2.36 a device has one `mountpoint`, from 2.37 on a list of
`mountpoints`. Whoever reads one form only sees nothing mounted in the other (N11).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

COLUMNS = "NAME,KNAME,TYPE,SERIAL,MODEL,SIZE,FSTYPE"
HOLDING = ("crypt", "dm", "linear", "lvm", "md", "mpath", "raid")
"""Beginnings of the types of what stands on a disk while it is used: device mapper and md."""

MIB = 1 << 20
PART = 16 * MIB
"""So much of a disk is written or read at once."""


def read_disks() -> list[dict[str, Any]]:
    """
    Return the whole disks of this host as `lsblk` has them, each with its `children`.

    Raises:
        FactError: `lsblk` fails in both forms, or says something that is no JSON.

    """
    options = ("--json", "--bytes", "--all", "--output")
    try:
        text = run("lsblk", *options, f"{COLUMNS},MOUNTPOINTS")
    except FactError as newer:
        if "not installed" in str(newer):
            raise
        text = run("lsblk", *options, f"{COLUMNS},MOUNTPOINT")
    return parse_disks(text)


def parse_disks(text: str) -> list[dict[str, Any]]:
    """Return the whole disks in the output of `lsblk --json`, of any version."""
    try:
        devices: list[dict[str, Any]] = json.loads(text)["blockdevices"]
    except (ValueError, KeyError, TypeError) as error:
        raise FactError(f"lsblk said something that is no list of devices: {error}") from error
    return [device for device in devices if device.get("type") in {"disk", "loop"}]


def family(device: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a device and all that stands on it."""
    yield device
    for child in device.get("children") or ():
        yield from family(child)


def mounts_of(device: dict[str, Any]) -> list[str]:
    """Return where a device is mounted (`[SWAP]` for swap), in either form of `lsblk`."""
    found = device.get("mountpoints") or []
    one = device.get("mountpoint")
    return [str(point) for point in (*found, one) if point]


def uses_of(device: dict[str, Any]) -> list[str]:
    """Return who uses a disk, in words; empty where nobody does."""
    uses = []
    for each in family(device):
        name = str(each.get("kname") or each.get("name"))
        uses += [
            f"{name} is swap" if point == "[SWAP]" else f"{name} is mounted at {point}" for point in mounts_of(each)
        ]
        if str(each.get("type", "")).startswith(HOLDING):
            uses.append(f"{each.get('name')} ({each['type']}) stands on it")
        uses += [f"{holder} holds {name}" for holder in holders_of(name)]
    return list(dict.fromkeys(uses)) or _held(device_path(device))


def holders_of(name: str) -> list[str]:
    """Return the names of the kernel's devices that are made of this one (md, device mapper)."""
    folder = Path("/sys/class/block") / name / "holders"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _held(path: str) -> list[str]:
    """Ask the kernel for the disk alone: it refuses where anybody has it, in another mount namespace too."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return [f"the kernel does not give {path} out: {error.strerror}"]
    return []


def device_path(device: dict[str, Any]) -> str:
    """Return the path of a device; the kernel writes a folder in a name (cciss/c0d0) with an exclamation mark."""
    return f"/dev/{str(device.get('kname') or device['name']).replace('!', '/')}"


def partitions_of(device: dict[str, Any]) -> list[str]:
    """Return the paths of a disk's partitions."""
    return [device_path(child) for child in device.get("children") or () if child.get("type") == "part"]


def signatures_on(path: str) -> list[str]:
    """Return the types of the signatures that `wipefs` finds, read from the disk and not from memory."""
    run("blockdev", "--flushbufs", path)
    lines = run("wipefs", "--no-act", "--parsable", path).splitlines()
    return [line.split(",")[-1] for line in lines if line and not line.startswith("#")]


def overwrite(path: str) -> None:
    """Write zeros over a whole disk that the kernel gives to nobody else, and wait for it."""
    handle = os.open(path, os.O_RDWR | os.O_EXCL)
    zeros = bytes(PART)
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        at = 0
        while at < size:
            at += os.pwrite(handle, zeros[: min(PART, size - at)], at)
        os.fsync(handle)
    finally:
        os.close(handle)
    run("blockdev", "--flushbufs", path)


def is_zero(path: str) -> bool:
    """Tell whether every byte of a disk is zero, read from the disk and not from memory."""
    run("blockdev", "--flushbufs", path)
    zeros = bytes(PART)
    with Path(path).open("rb", buffering=0) as disk:
        while True:
            part = disk.read(PART)
            if not part:
                return True
            if part != zeros[: len(part)]:
                return False


def has_data_at_ends(path: str) -> bool:
    """Tell whether the first or the last MiB of a disk is anything but zeros."""
    with Path(path).open("rb", buffering=0) as disk:
        size = disk.seek(0, os.SEEK_END)
        for offset in (0, max(0, size - MIB)):
            disk.seek(offset)
            if disk.read(MIB).strip(b"\0"):
                return True
    return False
