"""A control plane of its own for tests, beside any site's, and a host that joins it."""

from __future__ import annotations

import json
import socket
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
from sim.cluster.kubelets import is_ready
from sim.cluster.names import ready_addresses
from sim.cluster.tools import find_tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.layout import Layout

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
    pod_network="external",
    kubelet_serving="self-signed",
    sandbox_image=None,
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
        self.start_runtime()
        (folder / "config.yaml").write_text(
            "healthzPort: 10999\nkind: KubeletConfiguration\nmaxPods: 64\nnodeStatusUpdateFrequency: 1s\n"
            f"containerRuntimeEndpoint: unix://{folder}/runtime.sock\n"
        )
        (folder / "bootstrap.conf").write_text(_bootstrap_kubeconfig(cluster.layout))

    def set_gpus(self, count: int) -> None:
        """Change how many GPUs the driver lists."""
        (self.folder / "gpus").write_text("".join(f"GPU {index}: H100\n" for index in range(count)))

    def start_runtime(self) -> None:
        """Listen where the container runtime would."""
        self._runtime = socket.create_server(str(self.folder / "runtime.sock"), family=socket.AF_UNIX)

    def stop_runtime(self) -> None:
        """Take the container runtime away."""
        self._runtime.close()
        (self.folder / "runtime.sock").unlink()

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


def make_namespace(layout: Layout) -> None:
    """Make the namespace of the control plane, and the way to it and to its pods."""
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


def apply_engine(cluster: Cluster) -> None:
    """Apply a model endpoint: a namespace, a Deployment of one engine of two GPUs, a Service."""
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


def apply_played(cluster: Cluster) -> None:
    """Apply a pod that has no process: its image means nothing here."""
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10.1"}
    metadata = {"name": "played", "namespace": "serving", "labels": {"app": "played"}}
    spec = {"automountServiceAccountToken": False, "containers": [container]}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def ready_node(cluster: Cluster) -> dict[str, Any] | None:
    """Return the node if it is ready."""
    items = cluster.get("nodes")["items"]
    return next((item for item in items if is_ready(item)), None)


def ready_pod(cluster: Cluster, app: str) -> dict[str, Any] | None:
    """Return a ready pod of an application."""
    items = cluster.get("pods", "-n", "serving", "-l", f"app={app}")["items"]
    return next((item for item in items if is_ready(item)), None)


def addresses_of(cluster: Cluster) -> list[str]:
    """Return the addresses that the Services' traffic goes to."""
    items = cluster.get("endpointslices", "-n", "serving")["items"]
    return [address for item in items for address in ready_addresses(item)]


def phases(cluster: Cluster) -> list[str]:
    """Return the phases of the engine's pods."""
    return [item["status"]["phase"] for item in cluster.get("pods", "-n", "serving", "-l", "app=llama")["items"]]


def pid_of(cluster: Cluster, name: str) -> int | None:
    """Return the pid of a process of the control plane."""
    return next(process.pid for process in site.process_status(cluster.layout) if process.name == name)


def fetch_json(url: str) -> dict[str, Any]:
    """Return the JSON at a URL."""
    with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310 - an address of the test
        return dict(json.load(response))


def wait(condition: Callable[[], Any], seconds: float = 40) -> Any:  # noqa: ANN401 - whatever the condition finds
    """Return what a condition finds, as soon as it finds something; the test fails when it does not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.5)
    pytest.fail(f"it did not happen within {seconds} s")
