"""
`coldaisle health --apply` against a real API server: conditions, and drains within the limits, by real requests.

Hosts are played: what they tell is given, and a reset of a GPU says that it worked. Instead of kubelets a thread says
that the nodes are ready.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils.drain import MAINTENANCE
from typer.testing import CliRunner

from coldaisle.cli.app import build_app
from coldaisle.cli.playbook import HostResult, run_on_host
from coldaisle.health.conditions import rfc3339
from components.provider.reading import Reading
from sim.hall.spec import sections
from tests.simcluster.live_cluster import CLUSTER, wait

if TYPE_CHECKING:
    from tests.simcluster.live_cluster import Cluster

pytestmark = pytest.mark.cluster

OUT, HELD = "r01-n02", "r01-n06"
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
GPUS = [f"{slot:02x}" for slot in range(0x40, 0x48)]
OWN_KEYS = ("name", "version", "api_server", "pod_cidr", "service_cidr", "cluster_dns", "max_pods", "prometheus_url")

Health = Callable[..., dict[str, Any]]


class Played:
    """The hosts of the site: who has memory errors, by nvidia-smi's name for them, and who is silent."""

    def __init__(self) -> None:
        """Begin with hosts that are well."""
        self.bad: dict[str, str] = {}
        self.silent: set[str] = set()

    def tell(self, _plan: object, wanted: Mapping[str, Collection[str]], _say: object) -> dict[str, Reading]:
        """Return what hosts tell of their kernel and GPUs."""
        return {host: self._told(host, names) for host, names in wanted.items()}

    def _told(self, host: str, names: Collection[str]) -> Reading:
        if host in self.silent:
            return Reading(errors=dict.fromkeys(names, "it does not answer"))
        name = self.bad.get(host)
        counted = f"<ecc_errors><volatile><{name}>2</{name}></volatile></ecc_errors>" if name else ""
        gpus = "".join(f'<gpu id="00000000:{slot}:00.0">{counted if slot == "43" else ""}</gpu>' for slot in GPUS)
        log = {"lines": [], "cursor": "s=1", "now": time.time(), "cut": False}
        return Reading({"kernel_log": json.dumps(log), "gpu_report": f"<nvidia_smi_log>{gpus}</nvidia_smi_log>"})


def reset_or_run(
    plan: Any,  # noqa: ANN401 - handed on
    playbook: str,
    host: str,
    given: Mapping[str, Any],
) -> HostResult:
    """Run what talks to the cluster; a GPU that is not there is reset by saying so."""
    if playbook == "gpu_reset":
        return HostResult()
    return run_on_host(plan, playbook, host, {**given, "drain_timeout_s": 60})


@pytest.fixture
def hosts(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    """Return the played hosts, two of which are nodes of the cluster."""
    cluster.apply(*({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in (OUT, HELD)))
    stop = threading.Event()
    hearts = threading.Thread(target=beat, args=(cluster, stop))
    hearts.start()
    played = Played()
    monkeypatch.setattr("coldaisle.cli.health_collect.read_facts", played.tell)
    monkeypatch.setattr("coldaisle.cli.health_actions.run_on_host", reset_or_run)
    wait(lambda: all("Ready" in shown(cluster, name) for name in (OUT, HELD)))
    yield played
    stop.set()
    hearts.join()
    cluster.kubectl("delete", "node", HELD, OUT)


@pytest.fixture
def health(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Health:
    """Return a way to run the command on a site of ten hosts with this cluster, with a state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    admin = f"file:{cluster.layout.admin_kubeconfig}"
    named = {"kubeconfig": admin, "bootstrap_token": admin, "ca_file": str(cluster.layout.pki / "ca.crt")}
    own = {key: getattr(CLUSTER, key) for key in OWN_KEYS} | {"topology_manager_policy": "none"}
    site = sections(10, "health") | {"cluster": own | named | {"chart_mirror": "http://198.18.201.10:8879"}}
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(site))

    def run(*options: str) -> dict[str, Any]:
        words = ["health", str(tmp_path), "--no-bmc-log", "--json", *options]
        done = CliRunner().invoke(build_app("health"), words)
        assert done.exit_code in {0, 3, 4}, done.output
        return dict(json.loads(done.stdout))

    return run


def beat(cluster: Cluster, stop: threading.Event) -> None:
    """Say of both nodes that they are ready, oftener than the controller's grace of 25 s, until it is to stop."""
    while True:
        for name in (OUT, HELD):
            set_condition(cluster, name, READY | {"lastHeartbeatTime": rfc3339(time.time())})
        if stop.wait(5):
            return


def set_condition(cluster: Cluster, node: str, condition: dict[str, str]) -> None:
    """Set a condition as somebody else."""
    change = json.dumps({"status": {"conditions": [condition]}})
    cluster.kubectl("patch", "node", node, "--subresource=status", "--type=strategic", "-p", change)


def shown(cluster: Cluster, node: str) -> dict[str, dict[str, str]]:
    """Return the conditions of a node by type."""
    return {it["type"]: it for it in cluster.get("node", node)["status"].get("conditions", [])}


def done(report: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Return node, rung and outcome of what was done."""
    return [(it["node"], it["rung"], it["ok"]) for it in report["done"]]


def test_a_fault_is_a_condition_and_a_cordon_until_it_is_gone(cluster: Cluster, hosts: Played, health: Health) -> None:
    """Two nodes have it, the limit lets one be drained; once it is gone so are the cordon and the condition."""
    hosts.bad = dict.fromkeys((HELD, OUT), "dram_uncorrectable")
    report = health("--apply", "--node", HELD, "--node", OUT)
    assert done(report) == [(OUT, "drain", True), (OUT, "reset", True)]
    [waits] = report["held"]
    assert (waits["node"], waits["limit"].split(",")[0]) == (HELD, "1 of 10 nodes of its pool are out")
    first = shown(cluster, HELD)["GpuMemWatch"]
    assert (first["status"], first["reason"]) == ("True", "GpuMemWatchIsNotHealthy")
    assert first["message"] == "gpu 0000:43:00.0: ecc uncorrected (2)"
    assert shown(cluster, HELD)["Ready"]["reason"] == "KubeletReady"
    cordoned = cluster.get("node", OUT)
    assert cordoned["metadata"]["annotations"][MAINTENANCE] == "health: ecc uncorrected at gpu 0000:43:00.0"
    taints = wait(lambda: cluster.get("node", OUT)["spec"].get("taints"))
    assert "node.kubernetes.io/unschedulable" in {taint["key"] for taint in taints}
    assert "unschedulable" not in cluster.get("node", HELD)["spec"]
    time.sleep(1.1)  # Kubernetes' times are whole seconds
    hosts.bad = {}
    report = health("--apply", "--node", HELD, "--node", OUT)
    assert done(report) == [(OUT, "return", True)]
    last = shown(cluster, HELD)["GpuMemWatch"]
    assert (last["status"], last["reason"]) == ("False", "GpuMemWatchIsHealthy")
    assert last["lastTransitionTime"] > first["lastTransitionTime"]
    back = cluster.get("node", OUT)
    assert "unschedulable" not in back["spec"]
    assert MAINTENANCE not in back["metadata"]["annotations"]


def test_conditions_end_even_when_what_was_known_is_lost(
    cluster: Cluster, hosts: Played, health: Health, tmp_path: Path
) -> None:
    """They are read from the cluster: ours end once their node is read; one that somebody else has set stays."""
    hosts.bad = {HELD: "dram_correctable"}
    set_condition(cluster, HELD, {"type": "GpuThermalWatch", "status": "True", "reason": "SetByAnother"})
    health("--node", HELD)
    assert "GpuMemWatch" not in shown(cluster, HELD)
    health("--apply", "--node", HELD)
    before = shown(cluster, HELD)["GpuMemWatch"]
    (tmp_path / "state" / "coldaisle" / "health" / "health" / "state.json").unlink()
    hosts.bad, hosts.silent = {}, {HELD}
    health("--apply", "--node", HELD)
    assert shown(cluster, HELD)["GpuMemWatch"] == before
    hosts.silent = set()
    health("--apply", "--node", HELD)
    assert shown(cluster, HELD)["GpuMemWatch"]["status"] == "False"
    assert shown(cluster, HELD)["GpuThermalWatch"]["reason"] == "SetByAnother"
