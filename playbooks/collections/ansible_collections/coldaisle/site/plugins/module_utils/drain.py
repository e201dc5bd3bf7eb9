"""Cordon, drain and uncordon a Kubernetes node, by the API's evictions: disruption budgets are respected."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import httpx2
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.node import is_ready
from lightkube import ApiError, Client
from lightkube.models.core_v1 import EventSource, NodeStatus, ObjectReference
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event, Node, Pod
from lightkube.utils.quantity import parse_quantity

MAINTENANCE = "coldaisle.dev/maintenance"
"""Annotation of a node that we have cordoned: why. Jobs and their schedulers read it, and we uncordon no other node."""

POLL_S = 2.0
GONE, BUDGET, CONFLICT = 404, 429, 500
"""Answers to an eviction: no such pod; not now, for a budget; never, since two budgets meet."""

TOLD = "it was told to end, and has not yet"

Clock = Callable[[], float]
Sleep = Callable[[float], None]


class Drainer:
    """One node of a cluster, taken out of service or given back."""

    def __init__(self, client: Client, name: str, clock: Clock = time.monotonic, sleep: Sleep = time.sleep) -> None:
        """Work on the node `name`."""
        self._client, self._name = client, name
        self._clock, self._sleep = clock, sleep

    def node(self) -> Node | None:
        """Return the node, None where the cluster has none of this name."""
        try:
            return self._client.get(Node, self._name)
        except ApiError as error:
            if error.status.code == GONE:
                return None
            raise

    def drain(self, node: Node, why: str, timeout_s: float) -> list[str]:
        """
        Cordon the node, tell why, evict its pods and wait until they are gone; return what was evicted.

        Raises:
            FactError: pods are left after `timeout_s` seconds, each with the reason.

        """
        if not is_cordoned(node):
            self._patch({"metadata": {"annotations": {MAINTENANCE: why}}, "spec": {"unschedulable": True}})
            self._tell(node, "Draining", f"cordoned, and pods are evicted: {why}")
        deadline = self._clock() + timeout_s
        evicted: dict[str, None] = {}
        while True:
            reasons: dict[str, str] = {}
            for pod in self._pods():
                evicted[_name(pod)] = None
                reasons[_name(pod)] = self._evict(pod)
            if not reasons:
                return list(evicted)
            if self._clock() >= deadline:
                left = "; ".join(f"{pod}: {reason}" for pod, reason in reasons.items())
                raise FactError(f"{len(reasons)} pods are left after {timeout_s:g} s: {left}")
            self._sleep(POLL_S)

    def give_back(self, node: Node, timeout_s: float, offers: Mapping[str, int] = MappingProxyType({})) -> bool:
        """
        Wait until the node is ready, and uncordon it if it was us who cordoned it; return whether it changed.

        After a reboot a node is ready before its device plugins have found anything: it also has to offer what it is
        planned to, the least number by resource.

        Raises:
            FactError: it is not ready after `timeout_s` seconds.

        """
        if not is_ours(node):
            return False
        deadline = self._clock() + timeout_s
        while why := _why_not(node, offers):
            if self._clock() >= deadline:
                raise FactError(f"it {why} after {timeout_s:g} s, so it stays cordoned")
            self._sleep(POLL_S)
            node = self.node() or node
        self._patch({"metadata": {"annotations": {MAINTENANCE: None}}, "spec": {"unschedulable": None}})
        self._tell(node, "InService", "given back after maintenance")
        return True

    def _patch(self, change: dict[str, Any]) -> None:
        self._client.patch(Node, self._name, change)

    def _pods(self) -> Iterator[Pod]:
        found = self._client.list(Pod, namespace="*", fields={"spec.nodeName": self._name})
        return (pod for pod in found if must_go(pod))

    def _evict(self, pod: Pod) -> str:
        """Ask for a pod to go, and return what it waits for."""
        if pod.metadata and pod.metadata.deletionTimestamp:
            return TOLD
        namespace, _, name = _name(pod).partition("/")
        asked = Pod.Eviction(metadata=ObjectMeta(name=name, namespace=namespace))
        try:
            self._client.create(asked, name=name, namespace=namespace)
        except ApiError as error:
            if error.status.code == GONE:
                return "it is going"
            if error.status.code in {BUDGET, CONFLICT}:
                return str(error.status.message)
            raise
        return TOLD

    def _tell(self, node: Node, reason: str, message: str) -> None:
        """Write an event of the node, which people and controllers see beside its conditions."""
        now = datetime.now(UTC)
        uid = node.metadata.uid if node.metadata else None
        self._client.create(
            Event(
                metadata=ObjectMeta(generateName=f"{self._name}.", namespace="default"),
                involvedObject=ObjectReference(kind="Node", name=self._name, uid=uid, apiVersion="v1"),
                reason=reason,
                message=message,
                type="Normal",
                source=EventSource(component="coldaisle"),
                firstTimestamp=now,
                lastTimestamp=now,
                count=1,
            )
        )


def _why_not(node: Node, offers: Mapping[str, int]) -> str | None:
    """Return why a node is not given back yet; None where it may be."""
    if not is_ready(node):
        return "is not ready"
    if less := lacking(node, offers):
        return f"offers less than planned ({'; '.join(less)}: look at the pods of its device plugins)"
    return None


def lacking(node: Node, offers: Mapping[str, int]) -> list[str]:
    """
    Return the resources of which a node offers less than it has to, each with both numbers.

    A node keeps the name of a resource whose device plugin is silent, with none of it. One that it has never told of
    is none of its own: the plugin comes later, with the operators.
    """
    status = node.status or NodeStatus()
    there = {**dict.fromkeys(status.capacity or {}, "0"), **(status.allocatable or {})}
    return [
        f"{resource} is {there[resource]}, planned {least}"
        for resource, least in offers.items()
        if resource in there and (parse_quantity(there[resource]) or 0) < int(least)
    ]


def is_cordoned(node: Node) -> bool:
    """Say whether new pods are kept off a node."""
    return bool(node.spec and node.spec.unschedulable)


def is_ours(node: Node) -> bool:
    """Say whether it was us who cordoned a node."""
    return bool(node.metadata and MAINTENANCE in (node.metadata.annotations or {}))


def must_go(pod: Pod) -> bool:
    """Say whether a pod has to leave: not one that has ended, of a DaemonSet, or that the kubelet has by file."""
    metadata = pod.metadata or ObjectMeta()
    owned = any(owner.kind == "DaemonSet" for owner in metadata.ownerReferences or [])
    by_file = "kubernetes.io/config.mirror" in (metadata.annotations or {})
    ended = bool(pod.status and pod.status.phase in {"Succeeded", "Failed"})
    return not (owned or by_file or ended)


def _name(pod: Pod) -> str:
    metadata = pod.metadata or ObjectMeta()
    return f"{metadata.namespace}/{metadata.name}"


def told(error: ApiError | httpx2.HTTPError) -> str:
    """Return what an API that refuses, or does not answer, is told as."""
    if isinstance(error, ApiError):
        return f"the API server refuses: {error}"
    return f"no answer of the API server: {type(error).__name__}: {error}"
