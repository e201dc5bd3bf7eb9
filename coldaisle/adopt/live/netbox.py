"""
A NetBox as it is now, by its REST API: page after page of each endpoint, as one whole answer a reader takes.

Pages are followed by their offset at the address that was given: `next` may name another host, and a token goes to none
but the one that it is for.
"""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import httpx

from coldaisle.adopt.facts import Source
from coldaisle.adopt.live import AskError, Say, Taken, quiet
from coldaisle.adopt.live.sources import NetBoxSource

Row = dict[str, Any]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

BY_SITE = ("locations", "racks", "devices", "interfaces", "cables", "power-panels", "power-feeds")
"""Endpoints of dcim that are asked for one site only. Addresses and prefixes have no such question in every release."""

V2_TOKEN = "nbt_"  # noqa: S105 - what such a token begins with
"""Tokens since NetBox 4.5 begin so and are sent as Bearer; older ones are sent as Token (NetBox, REST API, tokens)."""

RETRIES = 2
FORBIDDEN = (401, 403)


@dataclass(frozen=True)
class NetBoxLive:
    """A NetBox with its token, which is nowhere shown."""

    asked: NetBoxSource
    token: str
    source: Source = "netbox"

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"netbox {self.asked.url}"

    def __repr__(self) -> str:
        """Leave the token out."""
        return f"NetBoxLive({self.asked.url})"

    def take(self, say: Say = quiet) -> Taken:
        """Read every endpoint that a reader uses; AskError where one of them does not come whole."""
        kind = "Bearer" if self.token.startswith(V2_TOKEN) else "Token"
        headers = {"Authorization": f"{kind} {self.token}", "Accept": "application/json"}
        verify, base = _authority(self.asked.ca_file), f"{self.asked.url}/api/"
        with httpx.Client(base_url=base, headers=headers, timeout=self.asked.timeout_s, verify=verify) as client:
            tables = dict(self._tables(client, say))
        return Taken({"netbox": {f"{name}.json": _whole(rows) for name, rows in tables.items()}})

    def _tables(self, client: httpx.Client, say: Say) -> Iterator[tuple[str, list[Row]]]:
        site = self.asked.site
        sites = self._rows(client, say, "dcim/sites", {"slug": site} if site else {})
        if not sites:
            raise AskError(
                f"{self.name}: there is no site {site or 'at all'}; look at its slug, and what the token may"
            )
        yield "sites", sites
        found = {name: self._rows(client, say, f"dcim/{name}", {"site": site} if site else {}) for name in BY_SITE}
        yield from found.items()
        devices = {row.get("name") for row in found["devices"]}
        addresses = [
            row for row in self._rows(client, say, "ipam/ip-addresses", {}) if not site or _is_of(row, devices)
        ]
        yield "ip-addresses", addresses
        prefixes = self._rows(client, say, "ipam/prefixes", {})
        inside = list(_ips(addresses))
        yield "prefixes", [row for row in prefixes if not site or _holds(row, inside)]

    def _rows(self, client: httpx.Client, say: Say, endpoint: str, query: Mapping[str, str]) -> list[Row]:
        """Return every row of an endpoint; a table that changes between two pages is told, and not read in part."""
        rows: dict[Any, Row] = {}
        count: int | None = None
        offset = 0
        while True:
            page = self._page(client, endpoint, {**query, "limit": str(self.asked.page), "offset": str(offset)})
            if count not in {None, page["count"]}:
                raise AskError(f"{self.name}: {endpoint} changed while it was read, ask again")
            count = page["count"]
            rows |= {row.get("id"): row for row in page["results"]}
            offset += len(page["results"])
            say(f"{endpoint}: {offset} of {count}")
            if not page.get("next") or not page["results"]:
                break
        if len(rows) != count:
            raise AskError(f"{self.name}: {endpoint} counts {count} and gave {len(rows)}, ask again")
        return list(rows.values())

    def _page(self, client: httpx.Client, endpoint: str, query: Mapping[str, str]) -> Row:
        try:
            answer = _get(client, f"{endpoint}/", query)
            body = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise AskError(f"{self.name}: {endpoint}: {type(error).__name__}: {error}") from error
        if answer.status_code in FORBIDDEN:
            raise AskError(f"{self.name}: {endpoint}: {answer.status_code}: look at the token and its rights to read")
        if answer.status_code != httpx.codes.OK or not isinstance(body, dict) or "results" not in body:
            raise AskError(f"{self.name}: {endpoint}: {answer.status_code}: no answer of the REST API; look at the url")
        return body


def _get(client: httpx.Client, path: str, query: Mapping[str, str]) -> httpx.Response:
    """Ask, and once more where the connection broke: a read harms nobody."""
    for _ in range(RETRIES):
        try:
            return client.get(path, params=query)
        except httpx.TransportError:
            continue
    return client.get(path, params=query)


def _authority(ca_file: str | None) -> ssl.SSLContext | bool:
    return ssl.create_default_context(cafile=str(Path(ca_file).expanduser())) if ca_file else True


def _whole(rows: list[Row]) -> str:
    return dumps({"count": len(rows), "next": None, "previous": None, "results": rows})


def _is_of(row: Row, devices: set[Any]) -> bool:
    there = row.get("assigned_object")
    device = there.get("device") if isinstance(there, dict) else None
    return isinstance(device, dict) and device.get("name") in devices


def _ips(rows: list[Row]) -> Iterator[Address]:
    for row in rows:
        with contextlib.suppress(ValueError):
            yield ipaddress.ip_interface(str(row.get("address"))).ip


def _holds(row: Row, addresses: list[Address]) -> bool:
    """Tell whether a prefix holds one of the addresses."""
    try:
        prefix = ipaddress.ip_network(str(row.get("prefix")), strict=False)
    except ValueError:
        return False
    return any(each in prefix for each in addresses)
