"""
The power limit of the simulated BMCs: the two resources of Redfish that have one, on one setting of the board.

sushy-tools has a chassis without either; these are added to its application.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import flask
from sushy_tools import error

from sim.bmc.board import Board

CHASSIS = "/redfish/v1/Chassis"
RESOURCES = ("EnvironmentMetrics", "Power")


def add_limits(app: flask.Flask, board: Callable[[], Board]) -> None:
    """Add both resources to every chassis of an application; `board` is the one that a request means."""

    def environment_metrics(identity: str) -> Any:  # noqa: ANN401 - flask takes several forms
        asked = _asked("PowerLimitWatts", "SetPoint")
        return _set(board(), asked) if asked else _environment_metrics(identity, board())

    def power(identity: str) -> Any:  # noqa: ANN401 - flask takes several forms
        asked = _asked("PowerControl", 0, "PowerLimit", "LimitInWatts")
        return _set(board(), asked) if asked else _power(identity, board())

    for name, view in zip(RESOURCES, (environment_metrics, power), strict=True):
        app.add_url_rule(f"{CHASSIS}/<identity>/{name}", name, view, methods=["GET", "PATCH"])


def link_limits(response: flask.Response) -> flask.Response:
    """Put links to both resources into a chassis."""
    request = flask.request
    if request.endpoint == "chassis_resource" and request.method == "GET" and response.status_code == 200:  # noqa: PLR2004 - HTTP OK
        body = json.loads(response.get_data())
        body |= {name: {"@odata.id": f"{body['@odata.id']}/{name}"} for name in RESOURCES}
        response.set_data(json.dumps(body))
    return response


def _asked(*keys: str | int) -> list[Any]:
    """Return what a PATCH asks for at a place of its body, as a list of one; empty for a GET."""
    if flask.request.method == "GET":
        return []
    found: Any = flask.request.get_json(silent=True)
    for key in keys:
        try:
            found = found[key]
        except (KeyError, IndexError, TypeError):
            raise error.BadRequest(f"only {'/'.join(map(str, keys))} can be changed") from None
    return [found]


def _set(board: Board, asked: list[Any]) -> tuple[str, int]:
    (watts,) = asked
    if watts is not None and (isinstance(watts, bool) or not isinstance(watts, int | float) or watts <= 0):
        raise error.BadRequest(f"a power limit of {watts} is no number of watts")
    board.set_power_limit(watts)
    return "", 204


def _environment_metrics(identity: str, board: Board) -> dict[str, Any]:
    limit = board.power_limit_w
    control = {"SetPoint": limit, "ControlMode": "Disabled" if limit is None else "Automatic"}
    return _resource(identity, "EnvironmentMetrics", "1_1_0", {"PowerLimitWatts": control})


def _power(identity: str, board: Board) -> dict[str, Any]:
    control = {"MemberId": "0", "Name": "System Power Control", "PowerLimit": {"LimitInWatts": board.power_limit_w}}
    return _resource(identity, "Power", "1_5_0", {"PowerControl": [control]})


def _resource(identity: str, name: str, version: str, body: dict[str, Any]) -> dict[str, Any]:
    head = {"@odata.type": f"#{name}.v{version}.{name}", "@odata.id": f"{CHASSIS}/{identity}/{name}"}
    return {**head, "Id": name, "Name": name, **body}
