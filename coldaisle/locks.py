"""
Locks of hosts and of rollouts: files that say who holds them, let go by the kernel when the holder is gone.

The provider's runs take them, and the commands that take a node out of service: of two who would change the same hosts
one goes on, and the other is told of it before anything was done.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "locks"
"""Where they lie in a site's folder for state."""


class InUseError(Exception):
    """Somebody else holds a lock; the message says who, and since when."""


def of_pool(pool: str) -> str:
    """Return the name of the lock of all that changes a pool's hosts in waves."""
    return f"pool-{pool}"


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
