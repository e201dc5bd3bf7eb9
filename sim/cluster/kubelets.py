"""
What the nodes' kubelets say of their pods: nothing while a node is down, and that they are ready once it is back.

The controllers mark the pods of a node that they lose as not ready, and leave it to its kubelet to take that back. KWOK
plays pods only up to their start, so the taking back is done here.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import aiohttp

from sim.cluster.api import STRATEGIC, ApiError

if TYPE_CHECKING:
    from sim.cluster.api import Api

Json = dict[str, Any]


class Kubelets:
    """The nodes that are up, and the running pods that are not ready."""

    def __init__(self, api: Api) -> None:
        """Start with none."""
        self._api = api
        self._up: set[str] = set()
        self._marked: dict[str, Json] = {}

    async def run(self) -> None:
        """Follow the cluster's nodes for ever."""
        async for event, found in self._api.watch("/api/v1/nodes"):
            if event == "SYNC":
                self._up = {node["metadata"]["name"] for node in found["items"] if is_ready(node)}
            else:
                name = found["metadata"]["name"]
                (self._up.add if event != "DELETED" and is_ready(found) else self._up.discard)(name)
            await self._take_back()

    async def handle(self, event: str, found: Json) -> None:
        """Take one event of the pods' watch."""
        if event == "SYNC":
            self._marked = {pod["metadata"]["uid"]: pod for pod in found["items"] if is_marked(pod)}
        elif event != "DELETED" and is_marked(found):
            self._marked[found["metadata"]["uid"]] = found
        else:
            self._marked.pop(found["metadata"]["uid"], None)
        await self._take_back()

    async def _take_back(self) -> None:
        status = {"conditions": [condition("Ready", ready=True)]}
        for uid, pod in list(self._marked.items()):
            if pod["spec"]["nodeName"] in self._up and await report(self._api, pod, status):
                self._marked.pop(uid, None)


def is_ready(item: Json) -> bool:
    """Say whether a node or a pod is ready, as its status has it."""
    conditions = item.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def is_marked(pod: Json) -> bool:
    """Say whether all containers of a running pod are ready, and only the pod is not: the mark of a lost node."""
    status = pod.get("status", {})
    containers = status.get("containerStatuses", [])
    running = status.get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    return running and bool(containers) and all(each["ready"] for each in containers) and not is_ready(pod)


def condition(kind: str, *, ready: bool) -> Json:
    """Return a condition of a pod's status, from now."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    reason = None if ready else "ContainersNotReady"
    return {"type": kind, "status": str(ready), "lastTransitionTime": now, "reason": reason}


async def report(api: Api, pod: Json, status: Json) -> bool:
    """Merge a part of a pod's status into it, and say whether the server took it: it may be gone, or unreachable."""
    metadata = pod["metadata"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
    with suppress(ApiError, aiohttp.ClientError):
        await api.request("PATCH", path, {"metadata": {"uid": metadata["uid"]}, "status": status}, STRATEGIC)
        return True
    return False
