"""
End with the parent process.

The engine may be killed in a way that leaves no time for a goodbye. Every process that it started, and every process
that those started, then has to notice by itself: a thread asks twice a second whether the parent is still the same one.
(The kernel's own signal for this fires when the parent *thread* ends, which a Go program's threads do at any time.)
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_S = 0.5


def on_parent_death(action: Callable[[], None], poll_s: float = POLL_S) -> None:
    """Start a daemon thread that calls `action` once, as soon as this process has another parent than now."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(poll_s)
        action()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def exit_with_parent() -> None:
    """End this process without any clean-up as soon as its parent is gone."""
    on_parent_death(lambda: os._exit(1))
