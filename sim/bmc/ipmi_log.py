"""IPMI's storage commands on the event log of a board: the log itself, and records that name its sensors."""

from __future__ import annotations

import struct
from collections.abc import Callable

from sim.bmc.event_log import MOST_ENTRIES, SENSORS, EventLog, Logged, Sensor

STORAGE = 0x0A
"""Network function of these commands (IPMI 2.0, chapters 31 and 33)."""

SDR_INFO, RESERVE_SDR, GET_SDR = 0x20, 0x22, 0x23
SEL_INFO, RESERVE_SEL, GET_ENTRY, CLEAR, GET_TIME = 0x40, 0x42, 0x43, 0x47, 0x48

ABSENT, OUT_OF_RANGE, CANCELED, UNKNOWN = 0xCB, 0xC9, 0xC5, 0xC1
"""Completion codes: no such record, a parameter out of range, a reservation that is over, no such command (5.2)."""

RESERVATION = bytes([1, 0])
LAST = 0xFFFF
VERSION, SYSTEM_EVENT, EVENT_ONLY, MESSAGE_VERSION = 0x51, 0x02, 0x03, 0x04
BMC_ADDRESS, LOG_BYTES, OVERFLOW, RESERVABLE, ERASED = 0x20, 16, 0x80, 0x02, 0x01
CLEAR_WORD = b"CLR"
ENDS = 0x80
"""Bit of an event's type: it is over (table 29-5)."""

Answer = tuple[int, bytes]


def storage_command(log: EventLog, command: int, data: bytes) -> Answer:
    """Return completion code and data of a storage command."""
    answers: dict[int, Callable[[], Answer]] = {
        SDR_INFO: lambda: (0, struct.pack("<BHHIIB", VERSION, len(SENSORS), 0, 0, 0, RESERVABLE)),
        RESERVE_SDR: lambda: (0, RESERVATION),
        GET_SDR: lambda: _sensor_record(*struct.unpack_from("<xxHBB", data)),
        SEL_INFO: lambda: (0, _sel_info(log)),
        RESERVE_SEL: lambda: (0, _reservation(log)),
        GET_ENTRY: lambda: _entry(log.entries(), *struct.unpack_from("<xxH", data)),
        CLEAR: lambda: _clear(log, data),
        GET_TIME: lambda: (0, struct.pack("<I", int(log.now()))),
    }
    return answers[command]() if command in answers else (UNKNOWN, b"")


def _sel_info(log: EventLog) -> bytes:
    entries = log.entries()
    added = int(entries[-1].at) if entries else 0
    free = (MOST_ENTRIES - len(entries)) * LOG_BYTES
    flags = RESERVABLE | (OVERFLOW if log.overflowed else 0)
    return struct.pack("<BHHIIB", VERSION, len(entries), free, added, int(log.erased_at), flags)


def _entry(entries: list[Logged], record: int) -> Answer:
    """Return a record and the number of the next; 0 asks for the first, 0xffff for the last."""
    number = len(entries) if record == LAST else max(record, 1)
    if not 1 <= number <= len(entries):
        return ABSENT, b""
    entry = entries[number - 1]
    sensor = entry.sensor
    head = struct.pack("<HBI", entry.number, SYSTEM_EVENT, int(entry.at))
    kind = sensor.reading | (0 if entry.begins else ENDS)
    body = bytes([BMC_ADDRESS, 0, MESSAGE_VERSION, sensor.kind, sensor.number, kind, sensor.offset, 0xFF, 0xFF])
    return 0, struct.pack("<H", number + 1 if number < len(entries) else LAST) + head + body


def _reservation(log: EventLog) -> bytes:
    """Return a reservation, which holds until something is logged."""
    return struct.pack("<H", len(log.entries()) + 1)


def _clear(log: EventLog, data: bytes) -> Answer:
    """Erase the log, or tell that it is erased (31.9)."""
    if data[2:5] != CLEAR_WORD:
        return OUT_OF_RANGE, b""
    if data[5:6] == b"\xaa":
        if data[:2] != _reservation(log):
            return CANCELED, b""
        log.clear()
    return 0, bytes([ERASED])


def _sensor_record(record: int, offset: int, size: int) -> Answer:
    """Return a part of a sensor's record, and the number of the next record; 0 asks for the first."""
    sensors = list(SENSORS.values())
    number = max(record, 1)
    if number > len(sensors):
        return ABSENT, b""
    whole = _event_only(number, sensors[number - 1])
    following = number + 1 if number < len(sensors) else LAST
    return 0, struct.pack("<H", following) + whole[offset : offset + size]


def _event_only(number: int, sensor: Sensor) -> bytes:
    """Return the record of a sensor that tells of events and has no reading (table 43-3)."""
    name = sensor.name.encode()
    body = bytes([BMC_ADDRESS, 0, sensor.number, 7, number, sensor.kind, sensor.reading, 0, 0, 0, 0, 0xC0 | len(name)])
    return struct.pack("<HBBB", number, VERSION, EVENT_ONLY, len(body) + len(name)) + body + name
