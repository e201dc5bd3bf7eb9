"""Nodes that are drained and given back, against a cluster that a test holds in its hands."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.drain import MAINTENANCE, Drainer
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.node import UNACCEPTED, planned_taints
from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster as NodeApi
from lightkube import ApiError
from lightkube.models.core_v1 import NodeCondition, NodeSpec, NodeStatus, PodStatus, Taint
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import Event, Node, Pod


def refusal(code: int, message: str) -> ApiError:
    """Return what the client raises when the API answers with a status."""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}
    request = httpx2.Request("POST", "https://api.example.net/eviction")
    return ApiError(response=httpx2.Response(code, json=status, request=request))


def pod(name: str, *, owner: str = "ReplicaSet", phase: str = "Running", mirror: bool = False) -> Pod:
    """Return a pod of a namespace."""
    notes = {"kubernetes.io/config.mirror": "x"} if mirror else {}
    owners = [OwnerReference(apiVersion="apps/v1", kind=owner, name="o", uid="u")]
    metadata = ObjectMeta(name=name, namespace="train", annotations=notes, ownerReferences=owners)
    return Pod(metadata=metadata, status=PodStatus(phase=phase))


class Cluster:
    """One node with pods. A budget refuses its pod's eviction so many times; time passes by sleeping."""

    def __init__(self, *pods: Pod, budget: int = 0) -> None:
        """Start with a node that is ready."""
        ready = [NodeCondition(type="Ready", status="True")]
        self.node = Node(
            metadata=ObjectMeta(name="n1", annotations={}), spec=NodeSpec(), status=NodeStatus(conditions=ready)
        )
        self.pods = {pod.metadata.name or "": pod for pod in pods if pod.metadata}
        self.budget, self.now, self.events = budget, 0.0, list[str]()

    def get(self, _kind: type, _name: str) -> Node:
        """Return the node."""
        return self.node

    def list(self, _kind: type, *, namespace: str, fields: dict[str, str]) -> list[Pod]:
        """Return the pods of the node."""
        assert (namespace, fields) == ("*", {"spec.nodeName": "n1"})
        return [*self.pods.values()]

    def patch(self, _kind: type, _name: str, change: dict[str, Any]) -> None:
        """Change the node as a merge patch does."""
        assert self.node.metadata is not None
        assert self.node.spec is not None
        notes = {**(self.node.metadata.annotations or {}), **change["metadata"]["annotations"]}
        self.node.metadata.annotations = {key: value for key, value in notes.items() if value is not None}
        self.node.spec.unschedulable = change["spec"]["unschedulable"]

    def create(self, made: object, *, name: str = "", namespace: str = "") -> None:
        """Take an event, or an eviction, which a budget may refuse."""
        if isinstance(made, Event):
            self.events.append(made.reason or "")
            return
        assert namespace == "train"
        if self.budget:
            self.budget -= 1
            raise refusal(429, "Cannot evict pod as it would violate the pod's disruption budget.")
        del self.pods[name]

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


def drainer(cluster: Cluster) -> Drainer:
    """Return what works on the cluster's node."""
    return Drainer(cluster, "n1", lambda: cluster.now, cluster.sleep)  # type: ignore[arg-type]


def test_a_node_is_cordoned_told_and_emptied() -> None:
    """Pods of DaemonSets, of the kubelet's files, and those that have ended stay; a budget is asked until it yields."""
    kept = (pod("agent", owner="DaemonSet"), pod("static", mirror=True), pod("ended", phase="Succeeded"))
    cluster = Cluster(pod("job"), *kept, budget=3)
    assert drainer(cluster).drain(cluster.node, "a new driver", 60) == ["train/job"]
    assert sorted(cluster.pods) == ["agent", "ended", "static"]
    assert cluster.node.spec is not None
    assert cluster.node.spec.unschedulable
    assert cluster.node.metadata is not None
    assert cluster.node.metadata.annotations == {MAINTENANCE: "a new driver"}
    assert (cluster.events, cluster.now) == (["Draining"], 8.0)


def test_a_budget_that_never_yields_is_named_at_the_deadline() -> None:
    """The pod stays, and the reason is the API's own."""
    cluster = Cluster(pod("job"), budget=1000)
    with pytest.raises(
        FactError, match=r"1 pods are left after 30 s: train/job: Cannot evict pod .* disruption budget"
    ):
        drainer(cluster).drain(cluster.node, "a new driver", 30)
    assert list(cluster.pods) == ["job"]


def test_only_a_node_that_we_cordoned_is_given_back() -> None:
    """What somebody else has cordoned stays so; ours is schedulable again, without the annotation."""
    cluster = Cluster()
    assert cluster.node.spec is not None
    cluster.node.spec.unschedulable = True
    assert not drainer(cluster).give_back(cluster.node, 10)
    assert cluster.node.spec.unschedulable
    cluster.node.spec.unschedulable = None
    drainer(cluster).drain(cluster.node, "a new driver", 10)
    assert drainer(cluster).give_back(cluster.node, 10)
    assert (cluster.node.spec.unschedulable, cluster.events) == (None, ["Draining", "InService"])


def test_a_node_that_is_not_ready_stays_cordoned() -> None:
    """A reboot that the kubelet has not survived is no reason to give work to it."""
    cluster = Cluster()
    drainer(cluster).drain(cluster.node, "a new driver", 10)
    assert cluster.node.status is not None
    cluster.node.status.conditions = [NodeCondition(type="Ready", status="False")]
    with pytest.raises(FactError, match="it is not ready after 10 s, so it stays cordoned"):
        drainer(cluster).give_back(cluster.node, 10)


GPU, RDMA = "nvidia.com/gpu", "rdma/rdma_shared"
PLANNED = {GPU: 8, RDMA: 1}


def rebooted(gpus: str, rdma: str) -> Cluster:
    """Return a cluster whose node was drained for a reboot, is ready again, and offers so many devices."""
    cluster = Cluster()
    drainer(cluster).drain(cluster.node, "a new kernel", 10)
    assert cluster.node.status is not None
    cluster.node.status.capacity = {"cpu": "112", GPU: "8", RDMA: "1k"}
    cluster.node.status.allocatable = {"cpu": "112", GPU: gpus, RDMA: rdma}
    return cluster


@pytest.mark.parametrize(
    ("gpus", "rdma", "told"),
    [
        ("0", "0", "nvidia.com/gpu is 0, planned 8; rdma/rdma_shared is 0, planned 1"),
        ("2", "1k", r"nvidia.com/gpu is 2, planned 8"),
        ("8", "0", "rdma/rdma_shared is 0, planned 1"),
    ],
    ids=["nothing", "g1-six-are-divided", "g13-plugin-before-driver"],
)
def test_g13_a_node_that_offers_less_than_planned_stays_cordoned(gpus: str, rdma: str, told: str) -> None:
    """It is ready, but its device plugins have found less than the plan has: no work is given to it."""
    cluster = rebooted(gpus, rdma)
    with pytest.raises(FactError, match=rf"it offers less than planned \({told}: .* after 10 s, so it stays cordoned"):
        drainer(cluster).give_back(cluster.node, 10, PLANNED)
    assert cluster.node.spec is not None
    assert cluster.node.spec.unschedulable


def test_g13_a_node_is_given_back_when_its_plugins_have_found_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin that comes seconds after the kubelet is waited for."""
    cluster = rebooted("0", "1k")
    assert cluster.node.status is not None
    monkeypatch.setattr(cluster.node.status, "allocatable", {GPU: "0"})

    def sleep(seconds: float) -> None:
        cluster.now += seconds
        if cluster.now > 5:
            assert cluster.node.status is not None
            cluster.node.status.allocatable = {GPU: "8", RDMA: "1k"}

    assert Drainer(cluster, "n1", lambda: cluster.now, sleep).give_back(cluster.node, 10, PLANNED)  # type: ignore[arg-type]
    assert cluster.now == 6


def test_what_a_node_has_never_offered_is_not_waited_for() -> None:
    """The operators come after the first run: a change before that must not wait for them."""
    cluster = rebooted("8", "1k")
    assert cluster.node.status is not None
    cluster.node.status.capacity = cluster.node.status.allocatable = {"cpu": "112"}
    assert drainer(cluster).give_back(cluster.node, 10, PLANNED)


class Api:
    """A cluster's API that keeps what a patch sets of a node's taints."""

    def __init__(self, *taints: Taint) -> None:
        """Start with a node that has these."""
        self.node = Node(metadata=ObjectMeta(name="n1"), spec=NodeSpec(taints=list(taints)))
        self.patches = 0

    def patch(self, _kind: type, _name: str, change: dict[str, Any]) -> None:
        """Set the taints."""
        assert self.node.spec is not None
        self.node.spec.taints = [Taint(**each) for each in change["spec"]["taints"] or ()]
        self.patches += 1


def test_acceptance_is_a_taint_that_nothing_else_takes_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is put on and off once, other taints stay, and it is no part of the taints that are planned."""
    own = Taint(key="role", value="train", effect="NoSchedule")
    api = Api(own, Taint(key=UNACCEPTED, effect="NoSchedule"))
    monkeypatch.setattr(NodeApi, "__init__", lambda self: setattr(self, "_client", api))
    cluster = NodeApi()  # type: ignore[call-arg]
    assert [taint.key for taint in planned_taints(api.node)] == ["role"]
    changed = [cluster.set_accepted("n1", api.node, accepted=accepted) for accepted in (True, True, False, False)]
    assert changed == [True, False, True, False]
    assert api.patches == 2
    assert api.node.spec is not None
    assert [taint.key for taint in api.node.spec.taints or ()] == ["role", UNACCEPTED]
