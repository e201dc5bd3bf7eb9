"""
Settings of the firmware at the simulated BMCs: BIOS attributes and secure boot, asked for now, in force at a power-on.

sushy-tools has both resources and a registry of attributes; that a change waits for a power-on is added here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import flask

from sim.bmc.board import Board

REGISTRY = "BiosAttributeRegistry.v1_0_0"
"""The registry that sushy-tools serves; the one that its BIOS names is not there."""

SECURE_BOOT = "SecureBoot"
"""Key of secure boot among the settings; no attribute of the registry has this name."""


def attributes(board: Board) -> dict[str, Any]:
    """Return the BIOS attributes in force."""
    return {name: value for name, value in board.bios.items() if name != SECURE_BOOT}


def stage(board: Board, wanted: dict[str, Any]) -> None:
    """Ask for BIOS attributes for the next power-on."""
    board.stage_bios(wanted)


def bios_views(board: Callable[[], Board]) -> Callable[[flask.Response], flask.Response]:
    """Return what puts into the answers of sushy-tools what is pending, and what is in force."""

    def complete(response: flask.Response) -> flask.Response:
        view = _VIEWS.get(str(flask.request.endpoint))
        if view and flask.request.method == "GET" and response.status_code == 200:  # noqa: PLR2004 - HTTP OK
            body = json.loads(response.get_data())
            body |= view(board())
            response.set_data(json.dumps(body))
        return response

    return complete


def _bios(_board: Board) -> dict[str, Any]:
    return {"AttributeRegistry": REGISTRY}


def _settings(board: Board) -> dict[str, Any]:
    pending = {name: value for name, value in board.staged_bios.items() if name != SECURE_BOOT}
    return {"AttributeRegistry": REGISTRY, "Attributes": pending}


def _secure_boot(board: Board) -> dict[str, Any]:
    now = bool(board.bios.get(SECURE_BOOT))
    wanted = bool(board.staged_bios.get(SECURE_BOOT, now))
    return {"SecureBootEnable": wanted, "SecureBootCurrentBoot": "Enabled" if now else "Disabled"}


_VIEWS: dict[str, Callable[[Board], dict[str, Any]]] = {
    "bios": _bios,
    "bios_settings": _settings,
    "secure_boot": _secure_boot,
}
