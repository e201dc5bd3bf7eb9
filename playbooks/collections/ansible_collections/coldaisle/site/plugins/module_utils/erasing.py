"""
Emptying a whole disk by the way that its kind has, so that nothing but zeros is read from it afterwards.

An NVMe drive erases itself, with the blocks that it does not show. Of other flash every block is written and then given
back, so that the drive may erase it. A disk that turns is written. Whatever a drive says of itself, all of it is read
back by who calls this, and what is not zero is written over.
"""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.disks import device_path, is_zero, overwrite
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT, DISCARD, OVERWRITE = "format", "discard", "overwrite"
"""What was done: the drive's own erase; zeros, and every block given back; zeros."""

USER_DATA_ERASE = "1"
"""Secure erase setting of NVM Express's command Format NVM: all user data, by the drive itself."""

ERASE_S = 4 * 3600
"""Seconds that a drive may take to erase itself or to take its blocks back: large ones need hours."""

_NAMESPACE = re.compile(r"(nvme\d+)n\d+$")
_BLOCK = Path("/sys/block")


def erase(device: dict[str, Any]) -> str:
    """
    Empty a disk, and return by which way; one that its drive refuses falls back to the next.

    Raises:
        FactError, OSError: it cannot be written either.

    """
    path, name = device_path(device), str(device.get("kname") or device["name"])
    if is_alone(name) and _did("nvme", "format", path, f"--ses={USER_DATA_ERASE}", "--force"):
        if not is_zero(path):
            overwrite(path)
        return FORMAT
    overwrite(path)
    if not takes_back(name) or not _did("blkdiscard", path):
        return OVERWRITE
    if not is_zero(path):  # such a drive tells anything of a block that it has taken back
        overwrite(path)
    return DISCARD


def is_alone(name: str) -> bool:
    """Tell whether a disk is the only namespace of an NVMe drive: many drives format all of theirs at once."""
    found = _NAMESPACE.match(name)
    if found is None:
        return False
    return [path.name for path in _BLOCK.glob(f"{found[1]}n*")] == [name]


def takes_back(name: str) -> bool:
    """Tell whether a disk is flash that takes blocks back."""
    queue = _BLOCK / name / "queue"
    return _number(queue / "rotational") == 0 and _number(queue / "discard_max_bytes") > 0


def _number(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return -1


def _did(*command: str) -> bool:
    try:
        run(*command, timeout_s=ERASE_S)
    except FactError:
        return False
    return True
