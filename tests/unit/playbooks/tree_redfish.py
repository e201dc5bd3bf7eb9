"""A Redfish service that is a tree of resources by their paths, for what is read and for simple collections."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Tree = dict[str, dict[str, Any]]
ROOT = "/redfish/v1"


def collection(path: str, **members: Mapping[str, Any]) -> Tree:
    """Return a collection and its members, by their names."""
    listed = [{"@odata.id": f"{path}/{name}"} for name in members]
    tree: Tree = {path: {"@odata.id": path, "Members": listed, "Members@odata.count": len(listed)}}
    for name, body in members.items():
        tree[f"{path}/{name}"] = {"@odata.id": f"{path}/{name}", "Id": name, **body}
    return tree


def at(path: str) -> dict[str, str]:
    """Return a link."""
    return {"@odata.id": path}


class _Handler(BaseHTTPRequestHandler):
    tree: Tree

    def do_GET(self) -> None:  # the library's name
        found = self.tree.get(self.path.rstrip("/"))
        self._answer(200 if found else 404, found or {"error": {"code": "Base.1.0.ResourceNotFound", "message": "no"}})

    def do_POST(self) -> None:  # the library's name
        path = self.path.rstrip("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        members = self.tree[path]["Members"]
        name = f"{path}/{len(members) + 1}"
        members.append(at(name))
        self.tree[name] = {"@odata.id": name, "Id": name.rpartition("/")[2], **body}
        self._answer(201, self.tree[name])

    def do_DELETE(self) -> None:  # the library's name
        path = self.path.rstrip("/")
        del self.tree[path]
        self.tree[path.rpartition("/")[0]]["Members"].remove(at(path))
        self._answer(200, {})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Say nothing on the test's output."""


@contextlib.contextmanager
def serve_tree(tree: Tree, context: ssl.SSLContext | None = None, address: str = "127.0.0.1") -> Iterator[int]:
    """Serve a tree on the loopback, over TLS with a context, and give its port."""
    server = ThreadingHTTPServer((address, 0), type("Handler", (_Handler,), {"tree": tree}))
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
