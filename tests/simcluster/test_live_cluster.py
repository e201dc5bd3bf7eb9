"""
A control plane of its own beside any site's: nodes join by the hosts' program, pods run, and all of it goes away.

It needs root and the built tools, and touches only the namespace and the addresses that it makes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import urllib.request
from typing import TYPE_CHECKING

import pytest

from sim.cluster import site
from sim.cluster.load import Load, send
from tests.simcluster.live_cluster import (
    addresses_of,
    apply_engine,
    apply_played,
    fetch_json,
    phases,
    pid_of,
    ready_node,
    ready_pod,
    wait,
)

if TYPE_CHECKING:
    from tests.simcluster.live_cluster import Cluster, Host

pytestmark = pytest.mark.cluster


def test_a_second_start_changes_nothing(cluster: Cluster) -> None:
    """Starting what runs keeps every process."""
    before = {process.name: process.pid for process in site.process_status(cluster.layout)}
    site.start(cluster.layout, lambda _: None)
    assert {process.name: process.pid for process in site.process_status(cluster.layout)} == before
    assert all(pid is not None for pid in before.values())


def test_a_host_joins(cluster: Cluster, node: Host) -> None:
    """The host's own certificate request is approved, and its Node is ready with its GPUs and labels."""
    found = wait(lambda: ready_node(cluster))
    assert found["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert found["metadata"]["labels"]["a"] == "b"
    requests = cluster.get("certificatesigningrequests")["items"]
    assert [request["spec"]["username"].split(":")[:2] for request in requests] == [["system", "bootstrap"]]
    assert (node.folder / "pki" / "kubelet-client-current.pem").stat().st_mode & 0o777 == 0o600


def test_lost_gpus_are_not_allocatable(cluster: Cluster, node: Host) -> None:
    """A GPU that the driver no longer lists is gone from what pods may use, and comes back with it."""
    wait(lambda: ready_node(cluster))
    node.set_gpus(7)
    wait(lambda: cluster.get("node", "n1")["status"]["allocatable"]["nvidia.com/gpu"] == "7")
    node.set_gpus(8)
    wait(lambda: cluster.get("node", "n1")["status"]["allocatable"]["nvidia.com/gpu"] == "8")


def test_a_host_without_its_runtime_is_not_ready(cluster: Cluster, node: Host) -> None:
    """A host whose container runtime is down says so itself, and is ready again with it."""
    wait(lambda: ready_node(cluster))
    node.stop_runtime()
    wait(lambda: ready_node(cluster) is None)
    conditions = cluster.get("node", "n1")["status"]["conditions"]
    assert [each["message"] for each in conditions if each["type"] == "Ready"] == ["container runtime is down"]
    node.start_runtime()
    wait(lambda: ready_node(cluster))


@pytest.mark.usefixtures("node")
def test_an_engine_runs_answers_and_is_scraped(cluster: Cluster) -> None:
    """A pod of the engine becomes ready by its own probe, answers at its address, and Prometheus sees its queue."""
    apply_engine(cluster)
    pod = wait(lambda: ready_pod(cluster, "llama"))
    with urllib.request.urlopen(f"http://{pod['status']['podIP']}:8000/v1/models", timeout=5) as response:
        assert json.load(response)["data"][0]["id"] == "m/llama"
    query = "http://198.18.201.10:9090/api/v1/query?query=vllm:num_requests_waiting"
    series = wait(lambda: fetch_json(query)["data"]["result"])
    assert series[0]["metric"]["model_name"] == "m/llama"


@pytest.mark.usefixtures("node")
def test_pods_wait_for_gpus(cluster: Cluster) -> None:
    """The scheduler counts GPUs: eight GPUs carry four replicas of two, and a fifth stays pending."""
    apply_engine(cluster)
    cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=5")
    try:
        wait(lambda: sorted(phases(cluster)) == ["Pending", "Running", "Running", "Running", "Running"])
    finally:
        cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=1")
    wait(lambda: phases(cluster) == ["Running"])


@pytest.mark.usefixtures("node")
def test_load_reaches_every_pod(cluster: Cluster) -> None:
    """Requests go to the ready pods in turn, and all are answered while the rate is small."""
    apply_engine(cluster)
    cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=2")
    wait(lambda: len(addresses_of(cluster)) == 2)
    load = Load(endpoint="llama", requests_per_s=10, seconds=3, max_tokens=4)
    report = asyncio.run(send(cluster.layout.admin_kubeconfig, "serving", load, lambda _: None))
    assert report.sent >= 25
    assert (report.succeeded, report.unanswered, len(report.by_pod)) == (report.sent, 0, 2)


def test_a_dead_host_is_not_ready(cluster: Cluster, node: Host) -> None:
    """A host that loses its power is NotReady by the real controllers, with its pods; all are Ready with it again."""
    apply_engine(cluster)
    apply_played(cluster)
    wait(lambda: ready_pod(cluster, "llama") and ready_pod(cluster, "played"))
    node.stop()
    wait(lambda: ready_node(cluster) is None, seconds=60)
    wait(lambda: ready_pod(cluster, "llama") is None and ready_pod(cluster, "played") is None)
    node.start()
    wait(lambda: ready_node(cluster))
    wait(lambda: ready_pod(cluster, "llama") and ready_pod(cluster, "played"))
    assert len(cluster.get("certificatesigningrequests")["items"]) == 1


def test_a_crashed_component_comes_back(cluster: Cluster) -> None:
    """A scheduler that is killed runs again under another pid."""
    before = pid_of(cluster, "kube-scheduler")
    subprocess.run(["kill", "-9", str(before)], check=True)
    wait(lambda: pid_of(cluster, "kube-scheduler") not in {None, before})
