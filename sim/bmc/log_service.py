"""The event log of the simulated BMCs over Redfish: a log service of the system, which sushy-tools has not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import flask
from sushy_tools import error

from sim.bmc.board import Board
from sim.bmc.event_log import MOST_ENTRIES, EventLog, Logged

LOGS = "/redfish/v1/Systems/<identity>/LogServices"
CLEAR = "Actions/LogService.ClearLog"
PAGE = 50
"""Entries a page of the collection."""


def add_logs(app: flask.Flask, board: Callable[[], Board]) -> None:
    """Let an application show the log of a system, and clear it; `board` is the one that a request means."""

    def log(identity: str) -> EventLog:
        if identity != board().uuid:
            raise error.NotFound(f"this BMC has no system {identity}")
        return board().log

    app.add_url_rule(LOGS, "logs", _collection)
    app.add_url_rule(f"{LOGS}/SEL", "sel", lambda identity: _service(_path(identity), log(identity)))
    app.add_url_rule(f"{LOGS}/SEL/Entries", "entries", lambda identity: _entries(_path(identity), log(identity)))
    app.add_url_rule(f"{LOGS}/SEL/{CLEAR}", "clear", lambda identity: _clear(log(identity)), methods=["POST"])


def _path(identity: str) -> str:
    return LOGS.replace("<identity>", identity)


def _collection(identity: str) -> dict[str, Any]:
    path = _path(identity)
    members = [{"@odata.id": f"{path}/SEL"}]
    return {"@odata.id": path, "Name": "Log Services", "Members": members, "Members@odata.count": 1}


def _service(path: str, log: EventLog) -> dict[str, Any]:
    path = f"{path}/SEL"
    return {
        "@odata.type": "#LogService.v1_4_0.LogService",
        "@odata.id": path,
        "Id": "SEL",
        "Name": "System Event Log",
        "LogEntryType": "SEL",
        "DateTime": _time(log.now()),
        "MaxNumberOfRecords": MOST_ENTRIES,
        "OverWritePolicy": "NeverOverWrites",
        "Overflow": log.overflowed,
        "Entries": {"@odata.id": f"{path}/Entries"},
        "Actions": {"#LogService.ClearLog": {"target": f"{path}/{CLEAR}"}},
    }


def _entries(path: str, log: EventLog) -> dict[str, Any]:
    """Return a page of the entries, the oldest first, each whole."""
    path = f"{path}/SEL/Entries"
    skip = flask.request.args.get("$skip", 0, int)
    found = log.entries()
    body = {"@odata.id": path, "Name": "Log Entries", "Members@odata.count": len(found)}
    if skip + PAGE < len(found):
        body["Members@odata.nextLink"] = f"{path}?$skip={skip + PAGE}"
    return {**body, "Members": [_shown(path, entry) for entry in found[skip : skip + PAGE]]}


def _shown(path: str, entry: Logged) -> dict[str, Any]:
    sensor, ended = entry.sensor, "" if entry.begins else " deasserted"
    return {
        "@odata.type": "#LogEntry.v1_11_0.LogEntry",
        "@odata.id": f"{path}/{entry.number}",
        "Id": str(entry.number),
        "Name": "Log Entry",
        "EntryType": "SEL",
        "Created": _time(entry.at),
        "Severity": sensor.severity if entry.begins else "OK",
        "SensorNumber": sensor.number,
        "Message": f"{sensor.name}: {sensor.text}{ended}",
    }


def _clear(log: EventLog) -> tuple[str, int]:
    log.clear()
    return "", 204


def _time(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).isoformat()
