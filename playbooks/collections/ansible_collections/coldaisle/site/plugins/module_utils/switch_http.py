"""A switch over HTTPS: one login, and errors that say what to look at. Runs on the deploy host."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

import httpx
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials

CONNECT_S, ANSWER_S = 10.0, 180.0
"""A switch may work for minutes on a whole configuration before it answers."""

DENIED = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN})


class LostError(FactError):
    """The switch gave no answer."""


class RefusedError(FactError):
    """The switch answered with an error; `body` is what it said, which may quote secrets and is not shown as it is."""

    def __init__(self, status: int, body: Any) -> None:  # noqa: ANN401 - JSON
        """Keep both."""
        super().__init__(f"the switch answered with HTTP status {status}")
        self.status, self.body = status, body


def connect(access: Mapping[str, Any], port: int, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """
    Return a client that logs in to a switch by basic authentication and checks its certificate.

    Args:
        access: `address`, `credentials` (a reference) and `ca_file`.
        port: The TCP port of its API.
        transport: Answers instead of a network.

    Raises:
        FactError: the credentials or the authority's file cannot be read.

    """
    try:
        trusted = ssl.create_default_context(cafile=access.get("ca_file") or None)
    except OSError as error:
        raise FactError(f"{access['ca_file']}: {error.strerror or error}") from error
    return httpx.Client(
        base_url=httpx.URL(scheme="https", host=access["address"], port=port),
        auth=read_credentials(access["credentials"]),
        verify=trusted,
        timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
        transport=transport,
        trust_env=False,
    )


def asked(client: httpx.Client, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
    """
    Return a switch's JSON answer.

    Raises:
        LostError: there is none, or a certificate that is not trusted.
        RefusedError: it is an error of the switch.
        FactError: the switch refuses user or password, or does not answer in JSON.

    """
    try:
        answer = client.request(method, path, **more)
    except httpx.TransportError as error:
        raise LostError(_why_lost(client.base_url.netloc.decode(), error)) from error
    if answer.status_code in DENIED:
        raise FactError("the switch refuses user or password (look at the file or variables of switch_access)")
    try:
        body = answer.json() if answer.content else None
    except ValueError as error:
        raise FactError(f"the switch answered with HTTP status {answer.status_code} and no JSON") from error
    if answer.is_error:
        raise RefusedError(answer.status_code, body)
    return body


def _why_lost(where: str, error: httpx.TransportError) -> str:
    if "CERTIFICATE" in str(error).upper():
        return f"{where}: its certificate is not one that we trust (look at switch_access.ca_file, and both clocks)"
    why = str(error) or type(error).__name__
    return f"{where} gives no answer: {why} (look at its address, the management network, and whether its API is on)"
