"""Python's garbage collector, while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """
    Pause the garbage collector.

    A plan of 2,048 nodes is some 400,000 objects that all stay; walking them again and again takes a third of the time.
    """
    ran = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ran:
            gc.enable()
