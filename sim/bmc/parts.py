"""
What the simulated BMCs show of their machines' parts, and what follows when the feed comes back.

Processors, memory modules and serials are those of the hardware record, with its faults; sushy-tools has none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import flask
from sushy_tools import error

from sim.bmc.board import POLICIES, Board

Views = dict[str, dict[str, Any]]

SYSTEMS = "/redfish/v1/Systems"


def add_parts(app: flask.Flask, board: Callable[[], Board]) -> None:
    """Let an application answer for parts and for the power policy before sushy-tools does."""
    app.before_request(lambda: _part(board) if flask.request.method == "GET" else _policy(board))


def system_view(board: Board, path: str) -> dict[str, Any]:
    """Return what a system shows of its parts and its power policy."""
    return {
        "Model": board.hardware.get("model", ""),
        "SerialNumber": board.hardware.get("serial", ""),
        "PowerRestorePolicy": board.power_policy,
        "LogServices": {"@odata.id": f"{path}/LogServices"},
        **{kind: {"@odata.id": f"{path}/{kind}"} for kind in _KINDS},
    }


def _part(board: Callable[[], Board]) -> flask.Response | None:
    """Return a collection of parts, or one of them; None where another resource is asked for."""
    kind, _, identity = flask.request.path.removeprefix(f"{SYSTEMS}/").partition("/")[2].partition("/")
    if kind not in _KINDS or not flask.request.path.startswith(SYSTEMS):
        return None
    found = _KINDS[kind](board())
    path = flask.request.path.rstrip("/")
    if not identity:
        members = [{"@odata.id": f"{path}/{name}"} for name in found]
        return flask.jsonify({"@odata.id": path, "Name": kind, "Members": members, "Members@odata.count": len(members)})
    if identity not in found:
        raise error.NotFound(f"there is no {identity} in {kind}")
    return flask.jsonify({"@odata.id": path, "Id": identity, "Name": identity, **found[identity]})


def _processors(board: Board) -> Views:
    return {
        str(gpu["slot"]): {"ProcessorType": "GPU", "Model": gpu["name"], "SerialNumber": gpu["serial"]}
        for gpu in _listed(board, "gpus")
    }


def _memory(board: Board) -> Views:
    return {
        str(dimm["slot"]): {"CapacityMiB": dimm["size_mib"], "SerialNumber": dimm["serial"]}
        for dimm in _listed(board, "dimms")
    }


def _listed(board: Board, kind: str) -> Iterable[dict[str, Any]]:
    found: list[dict[str, Any]] = board.hardware.get(kind, [])
    return found


_KINDS: dict[str, Callable[[Board], Views]] = {"Processors": _processors, "Memory": _memory}


def _policy(board: Callable[[], Board]) -> tuple[str, int] | None:
    """Take a power policy where a request asks for one, and nothing else in that request."""
    body = flask.request.get_json(silent=True) if flask.request.method == "PATCH" else None
    wanted = body.get("PowerRestorePolicy") if isinstance(body, dict) else None
    if wanted is None:
        return None
    if wanted not in POLICIES:
        raise error.BadRequest(f"PowerRestorePolicy {wanted} is none of {', '.join(POLICIES)}")
    board().set_power_policy(wanted)
    return "", 204
