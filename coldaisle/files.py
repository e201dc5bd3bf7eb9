"""Files that are whole or not there: what every part of the project writes that somebody else may read meanwhile."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def write_whole(path: Path, data: str | bytes, *, sync: bool = False) -> None:
    """
    Write a file beside its place, and name it when it is whole; its folder is made.

    Args:
        path: The file. What was there stays when it cannot be written.
        data: What it is to hold; text is written as UTF-8.
        sync: Wait until file and name are on the disk, and so outlive a loss of power.

    Raises:
        OSError: it cannot be written. A process that is killed leaves at most a hidden file.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name[:200]}.{uuid.uuid4().hex}.tmp")
    try:
        with scratch.open("xb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
    if sync:
        _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
