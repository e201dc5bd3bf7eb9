"""Facts of the clock: its zone, who keeps it, whether it is in step, and by how much it is off."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    run,
    wait_until,
)
from ansible_collections.coldaisle.site.plugins.module_utils.services import unit_states

ZONES = Path("/usr/share/zoneinfo")
LOCALTIME = Path("/etc/localtime")
TIME_SERVICES = ("chrony", "chronyd", "systemd-timesyncd", "ntpsec")
"""Units that keep the clock, in the order in which one is chosen where none is on."""

OFFSET_COLUMN = 4
"""`chronyc -c tracking` prints the system time's offset from NTP time, in seconds, as its fifth value."""

SYNC_TIMEOUT_S = 15


def _read_timezone(_name: str) -> str:
    target = LOCALTIME.resolve()
    return str(target.relative_to(ZONES)) if target.is_relative_to(ZONES) else "not set"


def _set_timezone(_name: str, planned: Value, _context: Context) -> None:
    if not (ZONES / str(planned)).is_file():
        raise FactError(f"{ZONES / str(planned)} does not exist: is tzdata installed, and the zone's name right?")
    fresh = LOCALTIME.with_suffix(".coldaisle")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(ZONES / str(planned))
    fresh.rename(LOCALTIME)
    Path("/etc/timezone").write_text(f"{planned}\n", encoding="utf-8")


def _read_time_sync(_name: str) -> str:
    return "enabled" if "enabled" in unit_states(TIME_SERVICES).values() else "disabled"


def _set_time_sync(_name: str, _planned: Value, _context: Context) -> None:
    there = [unit for unit, state in unit_states(TIME_SERVICES).items() if state]
    if not there:
        raise FactError(f"none of {', '.join(TIME_SERVICES)} is installed in the image")
    run("systemctl", "enable", "--now", there[0])


def _read_synchronized(_name: str) -> bool:
    """Return what the kernel says, whoever keeps the clock."""
    return run("timedatectl", "show", "--property=NTPSynchronized", "--value").strip() == "yes"


def _read_offset_ms(_name: str) -> int:
    """Return by how many whole milliseconds the clock is off, rounded up."""
    values = run("chronyc", "-c", "tracking").strip().split(",")
    return -int(-abs(float(values[OFFSET_COLUMN])) * 1000 // 1)


def _step(name: str, planned: Value, _context: Context) -> None:
    """Let chrony put the clock right at once, instead of slewing it over hours."""
    run("chronyc", "makestep")
    wait_until(lambda: _in_time(name, planned), timeout_s=SYNC_TIMEOUT_S)


def _in_time(name: str, planned: Value) -> bool:
    return _read_offset_ms(name) <= int(planned)


FACTS: dict[str, Fact] = {
    "timezone": Fact(_read_timezone, _set_timezone, rule="zone"),
    "time_sync": Fact(_read_time_sync, _set_time_sync),
    "clock_synchronized": Fact(
        _read_synchronized,
        None,
        "timedatectl timesync-status or chronyc sources: do the site's servers answer?",
        follows=True,
    ),
    "clock_offset_ms": Fact(_read_offset_ms, _step, "chronyc tracking and chronyc sources -v", rule="at_most"),
}
