"""
Redfish for the simulated BMCs: the application of sushy-tools with a driver of ours, by HTTPS at each address.

One application serves all BMCs; which board a request means follows from the address that it came in on.
"""

from __future__ import annotations

import base64
import json
import logging
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import flask
from sushy_tools import error
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems.base import AbstractSystemsDriver
from werkzeug.serving import BaseWSGIServer, make_server

from sim.bmc import account_service, log_service, update_service
from sim.bmc.account_service import link_service
from sim.bmc.bios import SECURE_BOOT, attributes, bios_views, stage
from sim.bmc.board import NETWORK, Board, Enabled
from sim.bmc.limits import add_limits, link_limits
from sim.bmc.parts import add_parts, system_view

PORT = 443
HANG_S = 3600
OPEN_PATHS = ("", "/redfish", "/redfish/v1")
"""What Redfish lets anybody read (DSP0266, protocol version and service root)."""

TARGETS = ["None", NETWORK, "Hdd", "Cd", "BiosSetup"]

_board: ContextVar[Board] = ContextVar("board")

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class BoardDriver(AbstractSystemsDriver):  # type: ignore[misc]  # sushy-tools has no types
    """The one system that the current BMC sees."""

    def _get(self, identity: str) -> Board:
        board = _board.get()
        if identity == board.machine.name:
            raise error.AliasAccessError(board.uuid)
        if identity != board.uuid:
            raise error.NotFound(f"this BMC has no system {identity}; its only one is {board.uuid}")
        return board

    @property
    def driver(self) -> str:
        """The driver's name."""
        return "<coldaisle>"

    @property
    def systems(self) -> list[str]:
        """The identities of the systems: one."""
        return [_board.get().uuid]

    def uuid(self, identity: str) -> str:
        """Return the UUID of a system."""
        return self._get(identity).uuid

    def name(self, identity: str) -> str:
        """Return the name of a system."""
        return self._get(identity).machine.name

    def get_power_state(self, identity: str) -> str:
        """Return "On" or "Off", as the machine is."""
        return "On" if self._get(identity).is_on() else "Off"

    def set_power_state(self, identity: str, state: str) -> None:
        """Do what a reset type of Redfish says."""
        board = self._get(identity)
        actions: Mapping[str, Callable[[], None]] = {
            "On": board.turn_on,
            "ForceOn": board.turn_on,
            "ForceOff": board.turn_off,
            "GracefulShutdown": board.shut_down,
            "GracefulRestart": board.cycle,
            "ForceRestart": board.cycle,
        }
        if state not in actions:
            raise error.NotSupportedError(f"this BMC cannot do {state}")
        actions[state]()

    def get_boot_device(self, identity: str) -> str:
        """Return the target of the boot override."""
        return self._get(identity).boot_override[0]

    def set_boot_device(self, identity: str, boot_source: str) -> None:
        """Set the boot override; how long it holds is in the same request."""
        board = self._get(identity)
        if boot_source not in TARGETS:
            raise error.BadRequest(f"BootSourceOverrideTarget {boot_source} is none of {', '.join(TARGETS)}")
        board.set_boot_override(boot_source, _requested_enabled(board))

    def get_boot_mode(self, identity: str) -> str:
        """Return the firmware's mode, in Redfish's words."""
        return "UEFI" if self._get(identity).machine.firmware == "uefi" else "Legacy"

    def set_boot_mode(self, identity: str, boot_mode: str) -> None:
        """Accept the mode that the firmware has, and no other."""
        if boot_mode != self.get_boot_mode(identity):
            raise error.NotSupportedError(f"the firmware of this system is {self.get_boot_mode(identity)} only")

    def get_nics(self, identity: str) -> list[dict[str, str]]:
        """Return the ports of the system that have a MAC address."""
        board = self._get(identity)
        new = board.hardware.get("macs", {})
        macs = [new.get(nic.name, nic.mac) for nic in board.machine.nics]
        return [{"id": mac, "mac": mac} for mac in macs if mac]

    def get_bios(self, identity: str) -> dict[str, Any]:
        """Return the BIOS attributes in force."""
        return attributes(self._get(identity))

    def set_bios(self, identity: str, wanted: dict[str, Any]) -> None:
        """Ask for BIOS attributes for the next power-on."""
        stage(self._get(identity), wanted)

    def get_secure_boot(self, identity: str) -> bool:
        """Return whether this boot was a secure one."""
        return bool(self._get(identity).bios.get(SECURE_BOOT))

    def set_secure_boot(self, identity: str, secure: bool) -> None:  # noqa: FBT001 - sushy-tools' signature
        """Ask for secure boot, or against it, for the next power-on."""
        stage(self._get(identity), {SECURE_BOOT: bool(secure)})

    def get_boot_image(self, identity: str, device: str) -> tuple[None, bool, bool]:
        """Return that nothing is in a virtual drive."""
        self._get(identity)
        del device
        return None, False, False


def _requested_enabled(board: Board) -> Enabled:
    """Return how long the override of the current request holds; without a word it stays as it was."""
    boot = (flask.request.get_json(silent=True) or {}).get("Boot", {})
    enabled: Enabled = boot.get("BootSourceOverrideEnabled") or board.boot_override[1]
    return enabled


def application(scratch: Path) -> flask.Flask:
    """Return sushy-tools' application, which serves the boards; `scratch` is a folder for its own files."""
    _APP.configure(extra_config={"SUSHY_EMULATOR_STATE_DIR": str(scratch), "SUSHY_EMULATOR_FEATURE_SET": "full"})
    _APP.logger.setLevel(logging.WARNING)
    served: flask.Flask = _APP
    return served


def _disable_override() -> None:
    """Do what sushy-tools leaves out: a request that only says how long the override holds."""
    boot = (flask.request.get_json(silent=True) or {}).get("Boot", {}) if flask.request.method == "PATCH" else {}
    enabled = boot.get("BootSourceOverrideEnabled")
    if enabled and "BootSourceOverrideTarget" not in boot:
        board = _board.get()
        target = "None" if enabled == "Disabled" else board.boot_override[0]
        board.set_boot_override(target, enabled)
        boot["BootSourceOverrideTarget"] = target


def _complete_system(response: flask.Response) -> flask.Response:
    """Put into a system what sushy-tools' template fixes: how long the boot override holds, and the targets."""
    is_system = flask.request.endpoint == "system_resource" and flask.request.method == "GET"
    if is_system and response.status_code == 200:  # noqa: PLR2004 - HTTP OK
        body = json.loads(response.get_data())
        body["Boot"]["BootSourceOverrideEnabled"] = _board.get().boot_override[1]
        body["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"] = TARGETS
        body["Manufacturer"] = "Coldaisle"
        body["HostName"] = _board.get().machine.name
        body |= system_view(_board.get(), flask.request.path.rstrip("/"))
        response.set_data(json.dumps(body))
    return response


_APP: Any = emulator.app
"""sushy-tools' own kind of Flask application; it carries no types."""
_DRIVER = BoardDriver()
# sushy-tools chooses its driver by what it finds installed, and has no place to name one.
type(_APP).systems = property(lambda _: _DRIVER)
add_parts(_APP, _board.get)
_APP.before_request(_disable_override)
_APP.after_request(_complete_system)
_APP.after_request(link_limits)
_APP.after_request(bios_views(_board.get))
_APP.after_request(link_service("AccountService", account_service.SERVICE))
_APP.after_request(link_service("Tasks", update_service.TASK_SERVICE))
add_limits(_APP, _board.get)
log_service.add_logs(_APP, _board.get)
account_service.add_accounts(_APP, _board.get)
update_service.add_updates(_APP, _board.get)


class BmcGate:
    """What stands before the application at one BMC's address: the board, its faults and its password."""

    def __init__(self, app: flask.Flask, board: Board) -> None:
        """Guard `app` for `board`."""
        self._app = app
        self._board = board

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if self._board.hangs():
            time.sleep(HANG_S)
        time.sleep(self._board.next_delay_s())
        if self._board.firmware.away():
            # A BMC that starts again answers nobody: the connection ends.
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            return []
        if environ.get("PATH_INFO", "").rstrip("/") not in OPEN_PATHS and not self._is_known(environ):
            return _refuse(start_response)
        locked = account_service.account_to_change(self._board, _user(environ)[0], environ)
        if locked:
            return _answer(start_response, "403 Forbidden", account_service.must_change(locked))
        token = _board.set(self._board)
        try:
            return self._app(environ, start_response)
        finally:
            _board.reset(token)

    def _is_known(self, environ: Environ) -> bool:
        user, password = _user(environ)
        return bool(user) and self._board.lets_in(user, password)


def _user(environ: Environ) -> tuple[str, str]:
    """Return user and password of a request, empty where it has none."""
    kind, _, value = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    try:
        user, _, password = base64.b64decode(value).decode().partition(":")
    except ValueError:
        return "", ""
    return (user, password) if kind.lower() == "basic" else ("", "")


def _refuse(start_response: StartResponse) -> Iterable[bytes]:
    """Answer that the user or the password is wrong, in Redfish's form."""
    message = {"code": "Base.1.0.AccessDenied", "message": "the user name or the password is wrong"}
    return _answer(start_response, "401 Unauthorized", message)


def _answer(start_response: StartResponse, status: str, problem: Mapping[str, Any]) -> Iterable[bytes]:
    body = json.dumps({"error": problem}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    challenge = [("WWW-Authenticate", 'Basic realm="redfish"')] if status.startswith("401") else []
    start_response(status, headers + challenge)
    return [body]


def https_server(app: flask.Flask, board: Board, address: str, certificate: Path, key: Path) -> BaseWSGIServer:
    """
    Return the HTTPS server of one BMC, bound to its address.

    The handshake is left to the thread of the connection: a client that connects and says nothing holds up nobody.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = make_server(address, PORT, BmcGate(app, board), threaded=True)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.ssl_context = context
    return server
