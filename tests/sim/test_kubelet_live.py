"""A guest that runs containerd and the real kubelet: it boots, joins, gets GPUs by a device plugin, and runs pods."""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from sim import faults, site
from sim.cluster.tools import find_tool
from sim.image import kubelet, pod_image
from sim.network import namespaces
from sim.shell import environment
from tests import kubelet_site
from tests.programs import required
from tests.simcluster.live_cluster import wait

pytestmark = pytest.mark.drill

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
NODE = kubelet_site.NODE
READY_S = 600
"""Longest wait for one step; a guest is emulated, and a minute of it alone may be five on a machine that is busy."""


@dataclass(frozen=True)
class Lab:
    """A site of one guest that is up."""

    folder: Path
    plan: SitePlan

    def play(self, playbook: str) -> dict[str, int]:
        """Run a playbook over the site and return what Ansible counted for the node."""
        command = [str(BIN / "ansible-playbook"), "-i", str(self.folder), f"playbooks/{playbook}.yml"]
        settings = {
            **environment(),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        }
        done = subprocess.run(
            [*command, "-e", f"kubernetes_ready_timeout_s={READY_S}"],
            cwd=ROOT, env=settings, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
        stats: dict[str, dict[str, int]] = json.loads(done.stdout[done.stdout.index("{") :])["stats"]
        return stats.get(NODE, {})

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator and return what it prints."""
        kubeconfig = site.state_of(self.plan.name).folder / "secrets/admin.kubeconfig"
        command = [find_tool("kubectl"), f"--kubeconfig={kubeconfig}", *words]
        return subprocess.run(command, input=stdin, check=True, capture_output=True, text=True).stdout

    def get(self, *words: str) -> dict[str, Any]:
        """Return an object as data."""
        return dict(json.loads(self.kubectl("get", "-o", "json", *words)))

    def run_pod(self, name: str, command: str, gpus: int = 0) -> None:
        """Start a pod of the project's image, which is never started again."""
        limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
        container = {"name": "main", "image": pod_image.POD_IMAGE, "resources": {"limits": limits}}
        container["command"] = ["sh", "-c", command]
        spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(pod))

    def phase(self, name: str) -> str:
        """Return the phase of a pod."""
        return str(self.get("pod", name)["status"]["phase"])

    def runs(self, name: str) -> bool:
        """Say whether a pod runs."""
        return self.phase(name) == "Running"

    def allocatable_gpus(self) -> int:
        """Return how many GPUs pods may ask the node for."""
        return int(self.get("node", NODE)["status"]["allocatable"].get("nvidia.com/gpu", 0))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Bring a site of one guest up, join it to its cluster, and remove every trace afterwards."""
    if os.geteuid():
        pytest.skip("needs root")
    for program in ("qemu-system-x86_64", "systemd-nspawn", "mksquashfs"):
        required(program, environment()["PATH"])
    for tool in kubelet.TOOLS:
        find_tool(tool)
    folder = kubelet_site.write(tmp_path_factory.mktemp("sites") / f"ck{os.getpid()}")
    lab = Lab(folder, open_site(folder).plan)
    try:
        site.up(lab.plan, lambda _: None)
        for playbook in ("pxe", "bmc", "kubernetes"):
            lab.play(playbook)
        yield lab
    finally:
        site.down(lab.plan.name, lambda _: None)
        shutil.rmtree(site.state_of(lab.plan.name).folder, ignore_errors=True)  # Ansible's known hosts
    assert not namespaces(site.state_of(lab.plan.name).namespace_prefix)


def test_the_node_is_a_real_kubelet_with_a_container_runtime(lab: Lab) -> None:
    """It runs the release of the control plane, and was given its own range of the pods' network."""
    node = lab.get("node", NODE)
    assert lab.plan.cluster is not None
    assert node["status"]["nodeInfo"]["kubeletVersion"] == lab.plan.cluster.version
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://")
    pods = ipaddress.ip_network(lab.plan.cluster.pod_cidr)
    assert ipaddress.ip_network(node["spec"]["podCIDR"]).subnet_of(pods)  # type: ignore[arg-type]


def test_both_of_its_certificates_are_the_cluster_s(lab: Lab) -> None:
    """The one that it asks with came by its bootstrap token, the one that it answers with by the plan's consent."""
    requests = lab.get("csr")["items"]
    issued = {each["spec"]["signerName"]: each for each in requests if each["status"].get("certificate")}
    joining = issued["kubernetes.io/kube-apiserver-client-kubelet"]
    assert joining["spec"]["username"].startswith("system:bootstrap:")
    serving = issued["kubernetes.io/kubelet-serving"]
    assert [each["reason"] for each in serving["status"]["conditions"]] == ["Planned"]


def test_a_pod_gets_a_gpu_a_network_and_an_end(lab: Lab) -> None:
    """Its log comes through the API server; in it, the GPU that the device plugin gave, and its address."""
    wait(lambda: lab.allocatable_gpus() == 8, READY_S)
    lab.run_pod("job", 'echo "$NVIDIA_VISIBLE_DEVICES"; ip -4 -o addr show eth0; exit 7', gpus=1)
    wait(lambda: lab.phase("job") == "Failed", READY_S)
    pod = lab.get("pod", "job")
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7
    gpu, address = lab.kubectl("logs", "job").splitlines()
    machine = site.state_of(lab.plan.name).machines / NODE
    known = [each["uuid"] for each in json.loads((machine / "hardware/hardware.json").read_text())["gpus"]]
    assert gpu in known
    assert f"inet {pod['status']['podIP']}/" in address
    network = ipaddress.ip_network(lab.get("node", NODE)["spec"]["podCIDR"])
    assert ipaddress.ip_address(pod["status"]["podIP"]) in network


def test_pods_reach_each_other_and_commands_run_in_them(lab: Lab) -> None:
    """One pod serves a page; another fetches it by the first one's address, asked by `kubectl exec`."""
    lab.run_pod("server", "echo here >/tmp/index.html; exec httpd -f -p 8080 -h /tmp")
    lab.run_pod("client", "exec sleep 3600")
    for name in ("server", "client"):
        wait(partial(lab.runs, name), READY_S)
    address = lab.get("pod", "server")["status"]["podIP"]
    assert lab.kubectl("exec", "client", "--", "wget", "-q", "-O", "-", f"http://{address}:8080/") == "here\n"


def test_a_lost_gpu_is_no_longer_given(lab: Lab) -> None:
    """The device plugin reports it unhealthy: the node has eight and may give seven, and eight again afterwards."""
    target = faults.find_target(lab.plan, site.state_of(lab.plan.name), NODE)
    faults.inject(target, "gpu-missing", {})
    wait(lambda: lab.allocatable_gpus() == 7, READY_S)
    assert lab.get("node", NODE)["status"]["capacity"]["nvidia.com/gpu"] == "8"
    faults.clear(target, "gpu-missing")
    wait(lambda: lab.allocatable_gpus() == 8, READY_S)


def test_a_second_run_changes_nothing(lab: Lab) -> None:
    """What the role wrote is what it would write again, on a node that runs pods."""
    counted = lab.play("kubernetes")
    assert counted["changed"] == 0
    assert counted["failures"] == 0
