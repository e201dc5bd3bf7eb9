"""Locks of hosts and of rollouts: files that say who holds them, let go by the kernel when the holder is gone."""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class InUseError(Exception):
    """Somebody else holds a lock; the message says who, and since when."""


def lock_all(folder: Path, names: Iterable[str], what: str) -> list[TextIO]:
    """
    Take every lock, or none; closing the files lets go.

    Args:
        folder: Where the files lie.
        names: What is locked: hosts, or pools of them.
        what: Who holds it, for others.

    Raises:
        InUseError: with who holds one of them, and since when.

    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    held: list[TextIO] = []
    for name in sorted(names):
        file = (folder / f"{name}.lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "an unknown run"
            for other in (*held, file):
                other.close()
            raise InUseError(f"{name} is being changed by {holder}; wait until that ends, then run again") from None
        file.truncate(0)
        file.write(f"{what}, process {os.getpid()}, since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}")
        file.flush()
        held.append(file)
    return held
