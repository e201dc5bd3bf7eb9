"""What a simulated BMC has logged, whatever protocol shows it: a file that faults append to, and its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import SimError
from sim.fault_records import active_faults
from sim.state import State, read_json, write_json

MOST_ENTRIES = 512
"""Entries that a log takes; later ones are lost until somebody clears it."""

EVENT, CLOCK = "bmc-event", "bmc-clock"
"""The faults that log something, and that make the BMC's clock wrong (`ahead_s`)."""

DISCRETE, THRESHOLD = 0x6F, 0x01
"""Kinds of readings: offsets of their own for each sensor type, and thresholds (IPMI 2.0, table 42-1)."""


@dataclass(frozen=True, slots=True)
class Sensor:
    """
    A sensor and the event that it can tell of.

    Args:
        number: Of the sensor, in IPMI.
        name: Of the sensor.
        kind: Its type (IPMI 2.0, table 42-3).
        reading: DISCRETE or THRESHOLD.
        offset: Of the event, in its kind of reading.
        severity: In Redfish's words.
        text: What Redfish shows when it begins.
    """

    number: int
    name: str
    kind: int
    reading: int
    offset: int
    severity: str
    text: str


SENSORS: Mapping[str, Sensor] = {
    "memory": Sensor(0x11, "DIMM B2", 0x0C, DISCRETE, 1, "Critical", "uncorrectable memory error"),
    "processor": Sensor(0x12, "CPU 1 Status", 0x07, DISCRETE, 0, "Critical", "internal error (IERR)"),
    "pcie": Sensor(0x13, "Slot 5", 0x13, DISCRETE, 10, "Critical", "fatal error of the PCIe bus"),
    "power-supply": Sensor(0x14, "PSU 1 Status", 0x08, DISCRETE, 3, "Critical", "power supply input lost"),
    "temperature": Sensor(0x15, "Inlet Temp", 0x01, THRESHOLD, 7, "Warning", "temperature above its upper limit"),
}
"""By the name that a fault gives."""


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry: its number from 1, the BMC's time in seconds since 1970, its sensor, and whether it began or ended."""

    number: int
    at: float
    sensor: Sensor
    begins: bool


class EventLog:
    """The event log of one BMC."""

    def __init__(self, path: Path, ahead_s: Callable[[], float] = lambda: 0.0) -> None:
        """Keep entries at `path`; the clock is `ahead_s` ahead of this machine's."""
        self._path = path
        self._ahead_s = ahead_s

    def now(self) -> float:
        """Return the BMC's time, in seconds since 1970."""
        return max(time.time() + self._ahead_s(), 0.0)

    def entries(self) -> list[Logged]:
        """Return all entries, the oldest first."""
        found = enumerate(read_json(self._path).get("entries", []), 1)
        return [Logged(number, it["at"], SENSORS[it["sensor"]], it["begins"]) for number, it in found]

    @property
    def erased_at(self) -> float:
        """When it was cleared last, in the BMC's time; 0 where it never was."""
        return float(read_json(self._path).get("erased_at", 0.0))

    @property
    def overflowed(self) -> bool:
        """Whether entries were lost."""
        return bool(read_json(self._path).get("lost", 0))

    def add(self, sensor: str, *, begins: bool = True, count: int = 1) -> None:
        """Log what a sensor tells, `count` times. SimError names the sensors that there are."""
        if sensor not in SENSORS:
            have = f"sensors: {', '.join(SENSORS)}"
            raise SimError(EVENT, f"there is no sensor {sensor}", have, "choose one of them with --set sensor=")
        kept = read_json(self._path)
        fresh = [{"at": self.now(), "sensor": sensor, "begins": begins}] * count
        entries: list[dict[str, Any]] = [*kept.get("entries", []), *fresh]
        lost = kept.get("lost", 0) + max(len(entries) - MOST_ENTRIES, 0)
        write_json(self._path, {**kept, "entries": entries[:MOST_ENTRIES], "lost": lost})

    def clear(self) -> None:
        """Erase all entries; the next one has number 1 again."""
        write_json(self._path, {"entries": [], "erased_at": self.now()})


def log_of(state: State, name: str) -> EventLog:
    """Return the log of a machine's BMC, with the clock that its faults leave it."""
    return EventLog(state.bmcs / f"{name}.log.json", lambda: _ahead_s(active_faults(state, name)))


def _ahead_s(faults: Mapping[str, Any]) -> float:
    return float(faults[CLOCK].get("ahead_s", 3600)) if CLOCK in faults else 0.0
