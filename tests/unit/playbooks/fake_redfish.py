"""A BMC that speaks Redfish on the loopback: one system, with the habits of vendors that tests ask for."""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USER, PASSWORD = "admin", "correct-horse"  # of a BMC that lives for one test
ROOT = "/redfish/v1"
SYSTEM = f"{ROOT}/Systems/1"
CHASSIS = f"{ROOT}/Chassis"


@dataclass
class Machine:
    """What the BMC shows and does; `patches` and `resets` are what it was asked for."""

    power: str = "Off"
    boot: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] | None = None
    options: tuple[dict[str, Any], ...] = ()
    manufacturer: str = "Example"
    refusals: list[tuple[int, str]] = field(default_factory=list)
    deaf: bool = False
    delay_s: float = 0
    chassis: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the name of each chassis, its resources: `Chassis`, `Power`, `EnvironmentMetrics`."""
    links: bool = True
    etag: str | None = None
    reads: list[str] = field(default_factory=list)
    """Paths that were asked for."""
    patches: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    resets: list[str] = field(default_factory=list)
    refuses_while_off: bool = False
    """Whether a change is refused while the machine is off."""

    def resource(self, path: str) -> dict[str, Any] | None:
        """Return the resource at a path, as the BMC shows it."""
        number = path.rpartition("/")[2]
        if path.startswith(f"{SYSTEM}/BootOptions/"):
            return self.options[int(number)]
        if path.startswith(f"{CHASSIS}/"):
            return self._of_chassis(*path.removeprefix(f"{CHASSIS}/").split("/"))
        found: dict[str, dict[str, Any] | None] = {
            ROOT: {"@odata.id": f"{ROOT}/", "Id": "Root", "Name": "Root", "RedfishVersion": "1.11.0",
                   "UUID": "92384634-2938-2342-8820-489239905423", "Systems": {"@odata.id": f"{ROOT}/Systems"},
                   "Chassis": {"@odata.id": CHASSIS}},
            CHASSIS: {"Name": "Chassis", "Members": self._chassis_links(), "Members@odata.count": len(self.chassis)},
            f"{ROOT}/Systems": {"Name": "Systems", "Members": [{"@odata.id": SYSTEM}], "Members@odata.count": 1},
            SYSTEM: self._system(),
            f"{SYSTEM}/Settings": self.settings,
            f"{SYSTEM}/BootOptions": {
                "Members": [{"@odata.id": f"{SYSTEM}/BootOptions/{index}"} for index in range(len(self.options))]
            },
        }  # fmt: skip
        return found.get(path.rstrip("/"))

    def _system(self) -> dict[str, Any]:
        reset = {"target": f"{SYSTEM}/Actions/Reset", "ResetType@Redfish.AllowableValues": ["On", "ForceOff"]}
        shown = {"@odata.id": SYSTEM, "Id": "1", "Name": "System", "PowerState": self.power, "Boot": self.boot,
                 "Manufacturer": self.manufacturer, "Actions": {"#ComputerSystem.Reset": reset}}  # fmt: skip
        if self.links:
            shown["Links"] = {"Chassis": self._chassis_links()}
        if self.settings is not None:
            shown["@Redfish.Settings"] = {"SettingsObject": {"@odata.id": f"{SYSTEM}/Settings"}}
        return shown

    def _chassis_links(self) -> list[dict[str, str]]:
        return [{"@odata.id": f"{CHASSIS}/{name}"} for name in self.chassis]

    def _of_chassis(self, name: str, resource: str = "Chassis") -> dict[str, Any] | None:
        """Return a chassis with links to its resources, or one of these; a link to None is a dead one."""
        found = self.chassis[name].get(resource)
        if resource != "Chassis":
            return found
        links = {each: {"@odata.id": f"{CHASSIS}/{name}/{each}"} for each in self.chassis[name] if each != "Chassis"}
        return {"@odata.id": f"{CHASSIS}/{name}", "Id": name, "Name": name, **links, **(found or {})}

    def change(self, path: str, change: dict[str, Any]) -> None:
        """Take a PATCH; a deaf BMC forgets it."""
        self.patches.append((path, change))
        if self.deaf:
            return
        if path.startswith(f"{CHASSIS}/"):
            name, resource = path.removeprefix(f"{CHASSIS}/").split("/")
            self._limit(self.chassis[name][resource], change)
        else:
            self.boot |= change["Boot"]

    @staticmethod
    def _limit(resource: dict[str, Any], change: dict[str, Any]) -> None:
        if "PowerLimitWatts" in change:
            resource["PowerLimitWatts"] |= change["PowerLimitWatts"]
        else:
            resource["PowerControl"][0]["PowerLimit"] = change["PowerControl"][0]["PowerLimit"]

    def reset(self, kind: str) -> None:
        """Take a power command."""
        self.resets.append(kind)
        if not self.deaf:
            self.power = {"On": "On", "ForceOff": "Off"}[kind]


def serve(machine: Machine) -> ThreadingHTTPServer:
    """Serve a machine's BMC until `shutdown`; its port is `server_address[1]`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"machine": machine}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    machine: Machine
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # the library's name
        self.machine.reads.append(self.path.rstrip("/"))
        found = self.machine.resource(self.path)
        if self._is_let_in():
            self._answer(200 if found else 404, found or {})

    def do_PATCH(self) -> None:  # the library's name
        change = self._body()
        if not self._is_let_in() or self._refused():
            return
        if self.machine.etag and self.headers.get("If-Match") != self.machine.etag:
            self._answer(428, {"error": {"code": "Base.1.0.PreconditionRequired", "message": "no ETag"}})
            return
        if self.machine.refuses_while_off and self.machine.power == "Off":
            self._answer(400, {"error": {"code": "Base.1.8.ResourceInStandby", "message": "the machine is off"}})
            return
        self.machine.change(self.path, change)
        self._answer(200, {})

    def do_POST(self) -> None:  # the library's name
        body = self._body()
        if self._is_let_in() and not self._refused():
            self.machine.reset(body["ResetType"])
            self._answer(200, {})

    def _is_let_in(self) -> bool:
        time.sleep(self.machine.delay_s)
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.path.rstrip("/") == ROOT or self.headers.get("Authorization") == wanted:
            return True
        self._answer(401, {"error": {"code": "Base.1.0.AccessDenied", "message": "no"}})
        return False

    def _refused(self) -> bool:
        if not self.machine.refusals:
            return False
        status, code = self.machine.refusals.pop(0)
        self._answer(status, {"error": {"code": code, "message": code}})
        return True

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        if self.machine.etag:
            self.send_header("ETag", self.machine.etag)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_arguments: Any) -> None:  # noqa: ANN401  # the library's signature
        """Say nothing on the test's output."""
