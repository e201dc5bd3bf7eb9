"""
Names of Services for the real processes, as the text of their /etc/hosts: the cluster's DNS of the simulated site.

A name leads to the first ready pod of the Service, at the pod's own port: nothing here routes Service addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.api import Api

Json = dict[str, Any]
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
SERVICE_LABEL = "kubernetes.io/service-name"


class Names:
    """Ready addresses by Service, kept up to date from the endpoint slices."""

    changed: Callable[[], None] | None = None
    """Called after each change."""

    def __init__(self, api: Api) -> None:
        """Start with none."""
        self._api = api
        self._slices: dict[tuple[str, str], Json] = {}

    async def run(self) -> None:
        """Follow the cluster's endpoint slices for ever."""
        async for event, found in self._api.watch(SLICES):
            if event == "SYNC":
                self._slices = {_key(item): item for item in found["items"]}
            elif event == "DELETED":
                self._slices.pop(_key(found), None)
            else:
                self._slices[_key(found)] = found
            if self.changed is not None:
                self.changed()

    def text(self) -> str:
        """Return the text of /etc/hosts."""
        return hosts_text(list(self._slices.values()))


def hosts_text(slices: list[Json]) -> str:
    """Return /etc/hosts for some endpoint slices: one line a Service that has a ready pod."""
    lines = ["127.0.0.1 localhost"]
    for item in sorted(slices, key=_key):
        addresses = ready_addresses(item)
        service = item["metadata"].get("labels", {}).get(SERVICE_LABEL)
        if addresses and service:
            short = f"{service}.{item['metadata']['namespace']}"
            lines.append(f"{addresses[0]} {short}.svc.cluster.local {short}.svc {short}")
    return "\n".join(lines) + "\n"


def ready_addresses(item: Json) -> list[str]:
    """Return the addresses of an endpoint slice that are ready, in order."""
    endpoints = item.get("endpoints") or []
    ready = (endpoint for endpoint in endpoints if endpoint.get("conditions", {}).get("ready", True))
    return sorted(address for endpoint in ready for address in endpoint["addresses"])


def _key(item: Json) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]
