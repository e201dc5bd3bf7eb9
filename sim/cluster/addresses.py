"""
Gives each scheduled pod an address of the cluster's pod network, as a CNI plugin would.

KWOK could choose addresses itself, but it forgets after a restart which ones are taken. Here the choice stands in an
annotation of the pod before KWOK starts it, so the API server remembers, and no two pods ever share an address.
"""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import aiohttp

from sim.cluster.api import MERGE, ApiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sim.cluster.api import Api

Json = dict[str, Any]
ANNOTATION = "coldaisle.dev/pod-address"


class Pool:
    """The addresses of a network. A released address is handed out again only after all others."""

    def __init__(self, cidr: str) -> None:
        """Start with every host address free."""
        self._network = ipaddress.ip_network(cidr)
        self._taken: dict[str, str] = {}
        self._next = self._cycle()

    def restore(self, taken: dict[str, str]) -> None:
        """Take over what is known of other runs: addresses by pod uid."""
        self._taken = dict(taken)

    def take(self, uid: str) -> str:
        """Return a free address for a pod, or the one that it has. Raises LookupError when none is free."""
        if uid not in self._taken:
            used = set(self._taken.values())
            tries = range(self._network.num_addresses - 2)
            found = next((address for _, address in zip(tries, self._next, strict=False) if address not in used), None)
            if found is None:
                raise LookupError(f"all {len(used)} addresses of {self._network} are taken")
            self._taken[uid] = found
        return self._taken[uid]

    def release(self, uid: str) -> None:
        """Free the address of a pod that is gone."""
        self._taken.pop(uid, None)

    def _cycle(self) -> Iterator[str]:
        while True:
            yield from (str(address) for address in self._network.hosts())


class Addresses:
    """Follows the cluster's pods and writes their addresses."""

    def __init__(self, api: Api, cidr: str) -> None:
        """Start with an empty pool; the first SYNC fills it."""
        self._api, self._pool = api, Pool(cidr)

    async def handle(self, event: str, found: Json) -> None:
        """Take one event of the pods' watch."""
        if event == "SYNC":
            self._pool.restore(given(found["items"]))
            for pod in found["items"]:
                await self._give(pod)
        elif event == "DELETED":
            self._pool.release(found["metadata"]["uid"])
        else:
            await self._give(found)

    async def _give(self, pod: Json) -> None:
        metadata = pod["metadata"]
        if ANNOTATION in metadata.get("annotations", {}) or "nodeName" not in pod["spec"]:
            return
        address = self._pool.take(metadata["uid"])
        patch = {"metadata": {"uid": metadata["uid"], "annotations": {ANNOTATION: address}}}
        with suppress(ApiError, aiohttp.ClientError):  # a pod that is gone by now needs none
            await self._api.request(
                "PATCH", f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}", patch, MERGE
            )


def given(pods: list[Json]) -> dict[str, str]:
    """Return the addresses that pods have, by their uid."""
    annotated = ((pod["metadata"]["uid"], pod["metadata"].get("annotations", {})) for pod in pods)
    return {uid: annotations[ANNOTATION] for uid, annotations in annotated if ANNOTATION in annotations}
