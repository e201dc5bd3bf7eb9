"""
A small asynchronous client of the Kubernetes API: get, patch, apply, and a watch that survives restarts of the server.

The agent watches pods and a few custom resources; a generic client with types for every kind would cost it tens of
megabytes and several seconds of start-up.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Json = dict[str, Any]
FIELD_MANAGER = "coldaisle-sim"
WATCH_S = 240
RETRY_S = 1.0
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
_NOT_FOUND = 404
_FIRST_ERROR = 400


class ApiError(Exception):
    """The API server refused; `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the status beside the server's message."""
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A session with one API server, opened as an asynchronous context."""

    def __init__(self, kubeconfig: Path) -> None:
        """Read the first cluster and user of a kubeconfig that is written as JSON."""
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self.server: str = cluster["server"]
        self._tls = _client_context(cluster, config["users"][0]["user"])
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the session."""
        connector = aiohttp.TCPConnector(ssl=self._tls, limit=32)
        self._session = aiohttp.ClientSession(self.server, connector=connector)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()

    async def request(self, method: str, path: str, body: Json | None = None, content_type: str | None = None) -> Json:
        """Send one request and return the answer. Raises ApiError when the server refuses."""
        headers = {"Content-Type": content_type or "application/json"}
        data = None if body is None else json.dumps(body).encode()
        async with self._open().request(method, path, data=data, headers=headers) as response:
            text = await response.text()
            if response.status >= _FIRST_ERROR:
                raise ApiError(response.status, _message(text))
            return dict(json.loads(text)) if text.startswith("{") else {"text": text}

    async def get(self, path: str) -> Json | None:
        """Return an object, or None when it is not there."""
        try:
            return await self.request("GET", path)
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    async def apply(self, path: str, manifest: Json) -> Json:
        """Apply a manifest on the server's side, as the simulated site."""
        query = f"{path}?fieldManager={FIELD_MANAGER}&force=true"
        return await self.request("PATCH", query, manifest, APPLY)

    async def watch(self, path: str) -> AsyncIterator[tuple[str, Json]]:
        """
        Yield (event, object) for ever: SYNC with the list's items under `items`, then ADDED, MODIFIED, DELETED.

        A lost connection or an expired version starts again with SYNC.
        """
        while True:
            try:
                listed = await self.request("GET", path)
                yield "SYNC", listed
                async for event in self._events(path, listed["metadata"]["resourceVersion"]):
                    yield event
            except (aiohttp.ClientError, ApiError, TimeoutError):
                await asyncio.sleep(RETRY_S)

    async def _events(self, path: str, version: str) -> AsyncIterator[tuple[str, Json]]:
        joint = "&" if "?" in path else "?"
        query = f"{path}{joint}watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={WATCH_S}"
        timeout = aiohttp.ClientTimeout(total=None, sock_read=WATCH_S + 30)
        async with self._open().get(query, timeout=timeout) as response:
            buffer = b""
            async for chunk in response.content.iter_any():
                *lines, buffer = (buffer + chunk).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return
                    if event["type"] != "BOOKMARK":
                        yield event["type"], event["object"]

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("Api is used as `async with Api(...) as api`")
        return self._session


def resource_path(manifest: Json, plural: str | None = None) -> str:
    """Return the path of an object: `/apis/apps/v1/namespaces/x/deployments/y`. `plural` is guessed when not given."""
    group = manifest["apiVersion"]
    root = f"/api/{group}" if "/" not in group else f"/apis/{group}"
    namespace = manifest["metadata"].get("namespace")
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{middle}/{plural or _plural(manifest['kind'])}/{manifest['metadata']['name']}"


def _plural(kind: str) -> str:
    lower = kind.lower()
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def _client_context(cluster: Json, user: Json) -> ssl.SSLContext:
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
        context.load_cert_chain(pair)
    return context


def _message(text: str) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:300]
