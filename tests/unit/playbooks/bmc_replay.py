"""
A BMC that answers over HTTP what was written down of one, and nothing else.

A file has the resources that the BMC shows, and scenarios; `like` names a file whose resources it changes. Whatever is
read must be a resource of the file (null: 404); whatever is changed must be the next of the scenario's `writes`, to the
byte of its JSON and with its ETag. Anything else is answered with 500 and kept in `unexpected`, which fails the test.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "bmc_replays"
USER, PASSWORD = "admin", "correct-horse"  # of a BMC that lives for one test
HEAD = "# Written from the documentation of "
ROOT = "/redfish/v1"
HEADERS = ("ETag", "Allow")
"""Keys of a resource that are sent as headers."""

Json = dict[str, Any]


class Exchange:
    """One file: a vendor's resources and scenarios."""

    def __init__(self, name: str) -> None:
        """Read the file; it must say that no device has answered, and from where it is."""
        content = _content(name)
        self.scenarios: dict[str, Json] = content["scenarios"]
        self.sources: list[str] = content["sources"]
        self.vendor: str = content["vendor"]
        system = content["system"]
        self.resources: dict[str, Any] = {
            ROOT: {"@odata.id": f"{ROOT}/", "Id": "RootService", "Name": "Root", "RedfishVersion": "1.11.0",
                   "Systems": {"@odata.id": f"{ROOT}/Systems"}} | content.get("root", {}),
            f"{ROOT}/Systems": [system],
            **content["resources"],
        }  # fmt: skip


def _content(name: str) -> Json:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.startswith(HEAD), "an exchange tells that no device has answered"
    content: Json = yaml.load(text, Loader=yaml.CSafeLoader)
    if "like" not in content:
        return content
    base = _content(content["like"])
    return {**base, **content, "resources": _merged(base["resources"], content.get("resources", {}))}


class ReplayedBmc:
    """A running BMC that plays one scenario."""

    def __init__(self, exchange: Exchange, scenario: str) -> None:
        """Serve the exchange's resources, with what the scenario changes of them."""
        self.scenario = exchange.scenarios[scenario]
        self.resources = deepcopy(exchange.resources)
        self.merge(self.scenario.get("resources", {}))
        self.left: list[Json] = list(self.scenario.get("writes", []))
        self.unexpected: list[str] = []
        self.encodings: set[str | None] = set()
        handler = type("Handler", (_Handler,), {"bmc": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()

    def merge(self, change: Mapping[str, Any]) -> None:
        """Change resources: dictionaries by their keys, everything else as a whole."""
        for path, value in change.items():
            self.resources[path] = _merged(self.resources.get(path), value)

    def show(self, path: str) -> tuple[int, Json, Json]:
        """Return status, headers and body of a resource."""
        path = path.rstrip("/")
        if path not in self.resources:
            self.unexpected.append(f"GET {path}")
            return 500, {}, {"error": {"code": "Replay", "message": f"GET {path} is not in the exchange"}}
        found = self.resources[path]
        if found is None:
            return 404, {}, {"error": {"code": "Base.1.0.ResourceMissingAtURI", "message": path}}
        if isinstance(found, list):
            found = {"Name": "Collection", "Members": [{"@odata.id": member} for member in found]}
        body = {key: value for key, value in found.items() if key not in HEADERS}
        whole = {"@odata.id": path, "Id": path.rpartition("/")[2], "Name": path.rpartition("/")[2], **body}
        return 200, {key: found[key] for key in HEADERS if key in found}, whole

    def write(self, ask: str, body: Any, tag: str | None) -> tuple[int, Json]:  # noqa: ANN401 - JSON or nothing
        """Return status and body of the answer to a change; it must be the next one."""
        expected = self.left[0] if self.left else {}
        found = {"ask": ask, "body": body, "tag": tag}
        if found != {"ask": expected.get("ask"), "body": expected.get("body"), "tag": expected.get("tag")}:
            self.unexpected.append(f"{found}, expected {expected or 'nothing more'}")
            return 500, {"error": {"code": "Replay", "message": "not in the exchange"}}
        self.left.pop(0)
        self.merge(expected.get("then", {}))
        return expected.get("status", 200), _error(expected["error"]) if "error" in expected else {}


def _error(code: str) -> Json:
    """Return an error in Redfish's form; `code` is the message's id, with words behind it where they matter."""
    name, _, words = code.partition(" ")
    info = {"MessageId": name, "Message": words or name}
    return {"error": {"code": name, "message": words or name, "@Message.ExtendedInfo": [info]}}


def _merged(old: Any, new: Any) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(old, dict) or not isinstance(new, dict):
        return deepcopy(new)
    return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}


class _Handler(BaseHTTPRequestHandler):
    bmc: ReplayedBmc
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # the library's name
        self.bmc.encodings.add(self.headers.get("Accept-Encoding"))
        self._answer(*self.bmc.show(self.path))

    def do_PATCH(self) -> None:  # the library's name
        self._write()

    def do_POST(self) -> None:  # the library's name
        self._write()

    def _write(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        ask = f"{self.command} {self.path}"
        status, body = self.bmc.write(ask, json.loads(raw) if raw else None, self.headers.get("If-Match"))
        self._answer(status, {}, body)

    def _answer(self, status: int, headers: Json, body: Json) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(raw), **headers}.items():
            self.send_header(name, str(value))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_arguments: Any) -> None:  # noqa: ANN401 - the library's signature
        """Say nothing on the test's output."""
