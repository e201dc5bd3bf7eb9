"""
A small server that answers as NetBox' REST API does: a token, pages by limit and offset, filters by a site's slug.

The form is that of NetBox' documentation (REST API: pagination, authentication, filtering); `next` and `previous` are
whole addresses, as the API gives them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "nbt_4F9DAouzURLb.zjebxBPzICiPbWz0Wtx0fTL7bCKXKGTYhNzkgC2S"  # noqa: S105 - of a server that lives for one test
OLD_TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105 - the same, in the form before NetBox 4.5
APPS = {"ip-addresses": "ipam", "prefixes": "ipam"}


@dataclass
class Shelf:
    """What the server has, by endpoint, and what it was asked: paths with their queries."""

    tables: dict[str, list[dict[str, Any]]]
    asked: list[str] = field(default_factory=list)
    largest: int = 1000
    """NetBox' MAX_PAGE_SIZE: no page is larger, whatever is asked for."""
    grows: str = ""
    """An endpoint that gets one more object after its first page."""


@contextmanager
def served(files: Mapping[str, str]) -> Iterator[tuple[str, Shelf]]:
    """Serve an export; yield its address, and the shelf."""
    shelf = Shelf({name.removesuffix(".json"): json.loads(text)["results"] for name, text in files.items()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"shelf": shelf}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", shelf
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    shelf: Shelf

    def do_GET(self) -> None:  # the library's name
        self.shelf.asked.append(self.path)
        parts = urlsplit(self.path)
        if self.headers.get("Authorization") not in {f"Bearer {TOKEN}", f"Token {OLD_TOKEN}"}:
            self._answer(403, {"detail": "Invalid token"})
            return
        _, api, app, endpoint, *rest = parts.path.split("/")
        known = endpoint in self.shelf.tables and APPS.get(endpoint, "dcim") == app
        if api != "api" or rest != [""] or not known:
            self._answer(404, {"detail": "No Page matches the given query."})
            return
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self._answer(200, self._page(endpoint, query))

    def _page(self, endpoint: str, query: dict[str, str]) -> dict[str, Any]:
        rows = [
            row
            for row in self.shelf.tables[endpoint]
            if endpoint != "sites" or query.get("slug") in {None, row["slug"]}
        ]
        limit = min(int(query.get("limit", "50")), self.shelf.largest)
        offset = int(query.get("offset", "0"))
        here = f"http://{self.headers['Host']}{urlsplit(self.path).path}"
        more = {**query, "limit": limit, "offset": offset + limit}
        if self.shelf.grows == endpoint and offset == 0:
            self.shelf.tables[endpoint] = [*self.shelf.tables[endpoint], {"id": 10_000_000}]
        return {
            "count": len(rows),
            "next": f"{here}?{urlencode(more)}" if offset + limit < len(rows) else None,
            "previous": None if offset == 0 else f"{here}?{urlencode({**more, 'offset': max(0, offset - limit)})}",
            "results": rows[offset : offset + limit],
        }

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
