"""Whether what a run leaves behind can be written: the engine's state, the run's own files, and what hosts told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

BACKEND_VARIABLE = "PULUMI_BACKEND_URL"
NEEDED_BYTES = 16 << 20
"""
A stack's state under 300 resources has at most 2 MiB, and the engine writes it three times (itself, its backup, the
history); a run's events take 4 MiB on 1,000 hosts (measured: 4 KiB a host).
"""

_MIB = 1 << 20


class NoRoomError(Exception):
    """A disk is full; the message is complete."""


def require_room(state: Path) -> None:
    """
    Refuse a run whose end could not be written down: it would be done again, as if it had never been.

    Args:
        state: The folder of the site's state; the backend is looked at too, where it is a folder of this machine.

    Raises:
        NoRoomError: a disk has less than NEEDED_BYTES left.

    """
    for what, folder in (("the engine's state (PULUMI_BACKEND_URL)", backend_folder()), ("the site's state", state)):
        if folder is None:
            continue
        free = shutil.disk_usage(_existing(folder)).free
        if free < NEEDED_BYTES:
            raise NoRoomError(
                f"the disk of {what} is full, so that no play is begun\n  where: {folder}\n"
                f"  have: {free // _MIB} MiB free, of {NEEDED_BYTES // _MIB} MiB that a run needs\n"
                f"  fix:  make room there, then run again; nothing was changed on any host"
            )


def backend_folder() -> Path | None:
    """Return the folder of the engine's state; None where it is a service, or the engine's own choice."""
    url = urlsplit(os.environ.get(BACKEND_VARIABLE, ""))
    if url.scheme != "file":
        return None
    return Path(unquote(url.netloc + url.path)).expanduser()


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that there is."""
    return next(path for path in (folder, *folder.resolve().parents) if path.exists())
