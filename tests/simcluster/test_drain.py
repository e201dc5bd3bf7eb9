"""Drain against a real API server: a disruption budget refuses, and then yields. The node has no kubelet."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.drain import MAINTENANCE, Drainer
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster as Api
from ansible_collections.coldaisle.site.plugins.module_utils.removal import readmit_node, remove_node
from lightkube import ApiError
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from tests.simcluster.live_cluster import wait

if TYPE_CHECKING:
    from tests.simcluster.live_cluster import Cluster

pytestmark = pytest.mark.cluster

NODE, NAMESPACE = "drained", "drains"
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def pod(name: str, **metadata: Any) -> dict[str, Any]:  # noqa: ANN401 - parts of a manifest
    """Return a pod on the node that is gone at once when it is told to end, since nobody is there to end it."""
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10.1"}
    spec = {"nodeName": NODE, "containers": [container], "terminationGracePeriodSeconds": 0}
    spec |= {"automountServiceAccountToken": False, "tolerations": [{"operator": "Exists"}]}
    named = {"name": name, "namespace": NAMESPACE, "labels": {"app": "job"}, **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec}


def prepare(cluster: Cluster) -> None:
    """Make a node that says it is ready, two pods of a job that run on it, and a budget that lets none of them go."""
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": "job"}}}
    named = {"name": "job", "namespace": NAMESPACE}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    # A pod is refused until its namespace has its service account.
    wait(lambda: bool(cluster.get("serviceaccounts", "-n", NAMESPACE)["items"]))
    cluster.apply(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named, "spec": budget},
        pod("job-0"),
        pod("job-1"),
    )
    status = json.dumps({"status": READY})
    cluster.kubectl("patch", "node", NODE, "--subresource=status", "--type=merge", "-p", status)
    running = json.dumps({"status": {"phase": "Running", **READY}})
    for name in ("job-0", "job-1"):
        cluster.kubectl("patch", "pod", name, "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p", running)
    wait(lambda: cluster.get("pdb", "job", "-n", NAMESPACE).get("status", {}).get("currentHealthy") == 2)


def test_a_budget_is_respected_until_it_yields(cluster: Cluster) -> None:
    """The pods stay as long as their budget says so, and the node is cordoned and told why; then they go."""
    prepare(cluster)
    drainer = Drainer(Api(f"file:{cluster.layout.admin_kubeconfig}").client, NODE)
    node = drainer.node()
    assert node is not None
    with pytest.raises(FactError, match=r"2 pods are left after 1 s: drains/job-0: .*disruption budget"):
        drainer.drain(node, "a new driver", 1)
    cordoned = cluster.get("node", NODE)
    assert cordoned["spec"]["unschedulable"]
    assert cordoned["metadata"]["annotations"][MAINTENANCE] == "a new driver"
    cluster.kubectl("delete", "pdb", "job", "-n", NAMESPACE)
    node = drainer.node()
    assert node is not None
    assert sorted(drainer.drain(node, "a new driver", 30)) == ["drains/job-0", "drains/job-1"]
    node = drainer.node()
    assert node is not None
    assert drainer.give_back(node, 10)
    assert "unschedulable" not in cluster.get("node", NODE)["spec"]
    events = cluster.get("events", "-n", "default", "--field-selector", f"involvedObject.name={NODE}")["items"]
    assert {"Draining", "InService"} <= {event["reason"] for event in events}
    cluster.kubectl("delete", "node", NODE)


def test_a_retired_node_is_refused_by_its_cluster_until_it_is_let_in(cluster: Cluster) -> None:
    """Its Node is deleted and not made anew, by whomever; others may join, and so may it once a person says so."""
    client, told = Api(f"file:{cluster.layout.admin_kubeconfig}").client, list[str]()

    def joins(name: str) -> bool:
        try:
            client.create(Node(metadata=ObjectMeta(name=name)))
        except ApiError as error:
            told.append(str(error))
            return False
        client.delete(Node, name)
        return True

    client.create(Node(metadata=ObjectMeta(name="leaver")))
    assert remove_node(client, "leaver")
    assert not joins("leaver"), "it is refused before it is deleted, or its kubelet would make it anew"
    assert "leaver is retired; coldaisle node enroll brings it back" in told[-1]
    assert joins("stays")
    itself = ("--as=system:node:leaver", "--as-group=system:nodes", "--as-group=system:authenticated")
    lease: dict[str, Any] = {
        "metadata": {"name": "leaver", "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": "leaver"},
    }
    lease |= {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    with pytest.raises(subprocess.CalledProcessError) as refused:
        cluster.kubectl(*itself, "create", "-f", "-", stdin=json.dumps(lease))
    assert "leaver is retired" in refused.value.stderr
    assert not remove_node(client, "leaver"), "it is not there any more"
    assert readmit_node(client, "leaver")
    wait(lambda: joins("leaver"))
    assert not readmit_node(client, "leaver")
