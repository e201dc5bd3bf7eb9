"""
Drills: tests that boot machines of their own, or cut every play at every step, and take minutes each.

They run last, and only as long as there is time: with COLDAISLE_TESTS_UNTIL, a time in seconds since the epoch, a drill
that would begin later is skipped with that reason. Without it all of them run.
"""

from __future__ import annotations

import os
import time

import pytest

UNTIL = "COLDAISLE_TESTS_UNTIL"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the drills behind all other tests, in their own order."""
    items.sort(key=lambda item: item.get_closest_marker("drill") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a drill that begins too late."""
    late = time.time() - float(os.environ.get(UNTIL) or "inf")
    if late > 0 and item.get_closest_marker("drill"):
        pytest.skip(f"no time left for drills: {UNTIL} passed {late / 60:.0f} min ago")
