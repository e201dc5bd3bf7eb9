"""
How long ago something was written down, whatever became of the wall clock since.

A clock that is set back or forward must not end a lease early, forget a failed login, or keep either for good. As long
as the machine has not started anew, what counts is what its kernel has counted; over a restart the wall clock is all
that there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(NamedTuple):
    """Seconds since 1970 by the wall clock, which start of the machine it was, and seconds since then."""

    wall: float
    boot: str
    since_boot_s: float


def moment() -> Moment:
    """Return this moment. The kernel's count goes on while the machine sleeps."""
    boot = BOOT_ID.read_text(encoding="ascii").strip() if BOOT_ID.is_file() else ""
    return Moment(time.time(), boot, time.clock_gettime(time.CLOCK_BOOTTIME))


def passed_s(then: Moment, now: Moment) -> float:
    """Return how many seconds lie between; never less than none."""
    if then.boot and then.boot == now.boot:
        return max(0.0, now.since_boot_s - then.since_boot_s)
    return max(0.0, now.wall - then.wall)


def jumped_s(then: Moment, now: Moment) -> float:
    """Return by how much the wall clock was set between, as far as that can be known: positive is forward."""
    return now.wall - then.wall - passed_s(then, now)


def ticking(start: Moment) -> Callable[[], float]:
    """Return a clock that shows the wall clock's time at a moment, and goes on steadily whatever that does then."""
    return lambda: start.wall + time.clock_gettime(time.CLOCK_BOOTTIME) - start.since_boot_s


def stamp(now: Moment) -> dict[str, Any]:
    """Return a moment as a record has it."""
    return {"at": now.wall, "boot": now.boot, "since_boot_s": now.since_boot_s}


def stamped(record: Mapping[str, Any]) -> Moment:
    """Return the moment of a record; one of a release that kept the wall clock only has no other."""
    return Moment(float(record.get("at", 0.0)), str(record.get("boot", "")), float(record.get("since_boot_s", 0.0)))


def set_since_s(record: Mapping[str, Any] | None, now: Moment) -> float:
    """Return by how much the wall clock was set since a record was stamped; 0 where it does not say when that was."""
    return jumped_s(stamped(record), now) if record else 0.0


def age_s(record: Mapping[str, Any], now: Moment) -> float:
    """Return how many seconds ago a record was stamped."""
    return passed_s(stamped(record), now)
