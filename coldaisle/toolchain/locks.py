"""Letting one run at a time change a thing: the second waits, says for whom, and then finds the work done."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def one_at_a_time(lock: Path, what: str) -> Iterator[None]:
    """Hold a lock file. The kernel frees it when its holder dies, so there is nothing to clean up after a crash."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.seek(0)
            sys.stderr.write(f"{what}: process {held.read().strip() or '?'} is at it; waiting for it to end\n")
            fcntl.flock(held, fcntl.LOCK_EX)
        held.truncate(0)
        held.write(str(os.getpid()))
        held.flush()
        yield
