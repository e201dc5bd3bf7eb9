"""
A control plane of its own beside any site's: nodes join by the hosts' program, pods run, and all of it goes away.

It needs root and the built tools, and touches only the namespace and the addresses that it makes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sim
from coldaisle.plan.model import ClusterPlan
from sim.cluster import site
from sim.cluster.layout import Layout, cluster_layout
from sim.cluster.load import Load, send
from sim.cluster.names import ready_addresses
from sim.cluster.tools import find_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.cluster

LOCAL = Path(sim.__file__).parent / "image" / "files" / "usr" / "local"
CLUSTER = ClusterPlan(
    name="pytest",
    version="v1.37.2",
    api_server="https://198.18.201.10:6443",
    ca_file="",
    kubeconfig="",
    bootstrap_token="",
    pod_cidr="198.19.80.0/20",
    service_cidr="198.19.240.0/20",
    cluster_dns="198.19.240.10",
    max_pods=64,
    topology_manager_policy="none",
    namespaces=(),
    prometheus_url="http://198.18.201.10:9090",
)
ENGINE: dict[str, Any] = {
    "name": "engine",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=m/llama", "--port=8000"],
    "ports": [{"name": "http", "containerPort": 8000}],
    "startupProbe": {"httpGet": {"path": "/health", "port": "http"}, "failureThreshold": 30},
    "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}},
    "resources": {"limits": {"nvidia.com/gpu": "2"}},
}


@dataclass(frozen=True)
class Cluster:
    """A control plane that runs, with a way to talk to it."""

    layout: Layout

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator and return what it prints."""
        command = [find_tool("kubectl"), f"--kubeconfig={self.layout.admin_kubeconfig}", *words]
        return subprocess.run(command, input=stdin, check=True, capture_output=True, text=True).stdout

    def get(self, *words: str) -> dict[str, Any]:
        """Return an object as data."""
        return dict(json.loads(self.kubectl("get", "-o", "json", *words)))

    def apply(self, *manifests: dict[str, Any]) -> None:
        """Apply manifests."""
        self.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(manifest) for manifest in manifests))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a control plane in a namespace of its own, and check that nothing is left of it."""
    layout = cluster_layout("pytest", CLUSTER, tmp_path_factory.mktemp("state"))
    _make_namespace(layout)
    try:
        site.start(layout, lambda _: None)
        yield Cluster(layout)
    finally:
        site.stop(layout.state)
        pids = subprocess.run(["ip", "netns", "pids", layout.namespace], capture_output=True, text=True, check=False)
        subprocess.run(["ip", "netns", "del", layout.namespace], check=False)
    assert pids.stdout == ""
    assert not layout.folder.exists()
    assert not layout.admin_kubeconfig.exists()


@pytest.fixture(scope="module")
def node(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Start the hosts' kubelet on this machine, as a host with eight GPUs."""
    host = Host(cluster, tmp_path_factory.mktemp("host"))
    host.start()
    yield host
    host.stop()


class Host:
    """A host that joins: the files that the join writes, and the kubelet."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """Write what a join writes."""
        self.folder = folder
        self._running: subprocess.Popen[bytes] | None = None
        (folder / "bin").mkdir()
        (folder / "bin" / "nvidia-smi").write_text(f"#!/bin/sh\ncat {folder}/gpus\n")
        (folder / "bin" / "nvidia-smi").chmod(0o755)
        self.set_gpus(8)
        (folder / "config.yaml").write_text(
            "healthzPort: 10999\nkind: KubeletConfiguration\nmaxPods: 64\nnodeStatusUpdateFrequency: 1s\n"
        )
        (folder / "bootstrap.conf").write_text(_bootstrap_kubeconfig(cluster.layout))

    def set_gpus(self, count: int) -> None:
        """Change how many GPUs the driver lists."""
        (self.folder / "gpus").write_text("".join(f"GPU {index}: H100\n" for index in range(count)))

    def start(self) -> None:
        """Start the kubelet."""
        flags = {
            "config": "config.yaml",
            "kubeconfig": "own.conf",
            "bootstrap-kubeconfig": "bootstrap.conf",
            "cert-dir": "pki",
        }
        words = [f"--{name}={self.folder / path}" for name, path in flags.items()]
        environment = {
            "PATH": f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
            "PYTHONPATH": str(LOCAL / "lib" / "coldaisle"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [
            sys.executable,
            str(LOCAL / "bin" / "kubelet"),
            *words,
            "--hostname-override=n1",
            "--node-labels=a=b",
        ]
        with (self.folder / "log").open("ab") as log:
            self._running = subprocess.Popen(command, env=environment, stderr=log)

    def stop(self) -> None:
        """Take the power away."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()


def test_a_second_start_changes_nothing(cluster: Cluster) -> None:
    """Starting what runs keeps every process."""
    before = {process.name: process.pid for process in site.process_status(cluster.layout)}
    site.start(cluster.layout, lambda _: None)
    assert {process.name: process.pid for process in site.process_status(cluster.layout)} == before
    assert all(pid is not None for pid in before.values())


def test_a_host_joins(cluster: Cluster, node: Host) -> None:
    """The host's own certificate request is approved, and its Node is ready with its GPUs and labels."""
    found = _wait(lambda: _ready_node(cluster))
    assert found["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert found["metadata"]["labels"]["a"] == "b"
    requests = cluster.get("certificatesigningrequests")["items"]
    assert [request["spec"]["username"].split(":")[:2] for request in requests] == [["system", "bootstrap"]]
    assert (node.folder / "pki" / "kubelet-client-current.pem").stat().st_mode & 0o777 == 0o600


def test_lost_gpus_are_not_allocatable(cluster: Cluster, node: Host) -> None:
    """A GPU that the driver no longer lists is gone from what pods may use, and comes back with it."""
    _wait(lambda: _ready_node(cluster))
    node.set_gpus(7)
    _wait(lambda: cluster.get("node", "n1")["status"]["allocatable"]["nvidia.com/gpu"] == "7")
    node.set_gpus(8)
    _wait(lambda: cluster.get("node", "n1")["status"]["allocatable"]["nvidia.com/gpu"] == "8")


@pytest.mark.usefixtures("node")
def test_an_engine_runs_answers_and_is_scraped(cluster: Cluster) -> None:
    """A pod of the engine becomes ready by its own probe, answers at its address, and Prometheus sees its queue."""
    _apply_engine(cluster)
    pod = _wait(lambda: _ready_pod(cluster, "llama"))
    with urllib.request.urlopen(f"http://{pod['status']['podIP']}:8000/v1/models", timeout=5) as response:
        assert json.load(response)["data"][0]["id"] == "m/llama"
    query = "http://198.18.201.10:9090/api/v1/query?query=vllm:num_requests_waiting"
    series = _wait(lambda: _json(query)["data"]["result"])
    assert series[0]["metric"]["model_name"] == "m/llama"


@pytest.mark.usefixtures("node")
def test_pods_wait_for_gpus(cluster: Cluster) -> None:
    """The scheduler counts GPUs: eight GPUs carry four replicas of two, and a fifth stays pending."""
    _apply_engine(cluster)
    cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=5")
    try:
        _wait(lambda: sorted(_phases(cluster)) == ["Pending", "Running", "Running", "Running", "Running"])
    finally:
        cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=1")
    _wait(lambda: _phases(cluster) == ["Running"])


@pytest.mark.usefixtures("node")
def test_load_reaches_every_pod(cluster: Cluster) -> None:
    """Requests go to the ready pods in turn, and all are answered while the rate is small."""
    _apply_engine(cluster)
    cluster.kubectl("-n", "serving", "scale", "deployment/llama", "--replicas=2")
    _wait(lambda: len(_ready_addresses(cluster)) == 2)
    load = Load(endpoint="llama", requests_per_s=10, seconds=3, max_tokens=4)
    report = asyncio.run(send(cluster.layout.admin_kubeconfig, "serving", load, lambda _: None))
    assert report.sent >= 25
    assert (report.succeeded, report.unanswered, len(report.by_pod)) == (report.sent, 0, 2)


def test_a_dead_host_is_not_ready(cluster: Cluster, node: Host) -> None:
    """A host that loses its power becomes NotReady by the real controllers, and Ready again without a new join."""
    _wait(lambda: _ready_node(cluster))
    node.stop()
    _wait(lambda: _ready_node(cluster) is None, seconds=60)
    node.start()
    _wait(lambda: _ready_node(cluster))
    assert len(cluster.get("certificatesigningrequests")["items"]) == 1


def test_a_crashed_component_comes_back(cluster: Cluster) -> None:
    """A scheduler that is killed runs again under another pid."""
    before = _pid(cluster, "kube-scheduler")
    subprocess.run(["kill", "-9", str(before)], check=True)
    _wait(lambda: _pid(cluster, "kube-scheduler") not in {None, before})


def _make_namespace(layout: Layout) -> None:
    inside = ["ip", "-n", layout.namespace]
    for command in (
        ["ip", "netns", "add", layout.namespace],
        ["ip", "link", "add", "ca-pytest0", "type", "veth", "peer", "name", "eth0", "netns", layout.namespace],
        ["ip", "addr", "add", "198.18.201.1/24", "dev", "ca-pytest0"],
        ["ip", "link", "set", "ca-pytest0", "up"],
        [*inside, "addr", "add", "198.18.201.10/24", "dev", "eth0"],
        [*inside, "link", "set", "eth0", "up"],
        ["ip", "route", "replace", layout.pod_cidr, "via", layout.api_address],
    ):
        subprocess.run(command, check=True)


def _bootstrap_kubeconfig(layout: Layout) -> str:
    return f"""---
apiVersion: v1
kind: Config
clusters:
- name: c
  cluster:
    server: {layout.api_url}
    certificate-authority: {layout.pki / "ca.crt"}
users:
- name: u
  user: {{"token": "{layout.bootstrap_token.read_text()}"}}
contexts:
- name: x
  context:
    cluster: c
    user: u
current-context: x
"""


def _apply_engine(cluster: Cluster) -> None:
    labels = {"app": "llama"}
    template = {"metadata": {"labels": labels}, "spec": {"automountServiceAccountToken": False, "containers": [ENGINE]}}
    name = {"name": "llama", "namespace": "serving"}
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "serving"}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": name,
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": name,
            "spec": {"selector": labels, "ports": [{"port": 8000}]},
        },
    )


def _ready_node(cluster: Cluster) -> dict[str, Any] | None:
    items = cluster.get("nodes")["items"]
    return next((item for item in items if _is_ready(item)), None)


def _ready_pod(cluster: Cluster, app: str) -> dict[str, Any] | None:
    items = cluster.get("pods", "-n", "serving", "-l", f"app={app}")["items"]
    return next((item for item in items if _is_ready(item)), None)


def _ready_addresses(cluster: Cluster) -> list[str]:
    items = cluster.get("endpointslices", "-n", "serving")["items"]
    return [address for item in items for address in ready_addresses(item)]


def _phases(cluster: Cluster) -> list[str]:
    return [item["status"]["phase"] for item in cluster.get("pods", "-n", "serving", "-l", "app=llama")["items"]]


def _is_ready(item: dict[str, Any]) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in item["status"].get("conditions", []))


def _pid(cluster: Cluster, name: str) -> int | None:
    return next(process.pid for process in site.process_status(cluster.layout) if process.name == name)


def _json(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - an address of the test
        return dict(json.load(response))


def _wait(condition: Callable[[], Any], seconds: float = 40) -> Any:  # noqa: ANN401 - whatever the condition finds
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.5)
    pytest.fail(f"it did not happen within {seconds} s")
