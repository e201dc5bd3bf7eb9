"""What stands after `make up`: hosts, cluster, endpoint; and that a second run finds nothing to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.terminal import SITE, Terminal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e


def test_a_second_run_changes_nothing(site: Terminal) -> None:
    """`pulumi up` once more has nothing to do, on any host or in the cluster."""
    site.run("pulumi", "up", "--stack", SITE, "--yes", "--skip-preview", "--expect-no-changes", "--non-interactive")


def test_drift_finds_none_after_up_and_leaves_the_state_alone(site: Terminal) -> None:
    """A comparison just after `up` is clean, and the state is the same to the byte before and after."""
    before = site.state()
    report = site.drift(expect=0)
    assert report["counts"]["drifted"] == 0
    assert report["counts"]["same"] > 50
    assert site.state() == before


def test_every_node_is_ready_with_its_gpus(site: Terminal) -> None:
    """All nodes of the plan have joined, are Ready, and offer the GPUs that the plan gives them."""
    nodes = {item["metadata"]["name"]: item for item in json.loads(site.kubectl("get", "nodes", "-o", "json"))["items"]}
    planned = {node.name: node.gpus for node in site.plan.nodes}
    assert {name: int(item["status"]["allocatable"]["nvidia.com/gpu"]) for name, item in nodes.items()} == planned
    for name, item in nodes.items():
        ready = next(each for each in item["status"]["conditions"] if each["type"] == "Ready")
        assert ready["status"] == "True", f"{name}: {ready}"


def test_guests_booted_over_the_network(site: Terminal) -> None:
    """A guest runs from the image that the provisioner served: its kernel was told where the root lies."""
    for node in site.plan.nodes:
        if node.boot == "network":
            assert "coldaisle.rootfs=http://" in site.on(node.name, "cat /proc/cmdline")


def test_every_switch_has_its_sessions(site: Terminal) -> None:
    """Each leaf has a BGP session to each spine, as the plan's cables say, and all of them are up."""
    fabric = site.plan.fabrics["compute"]
    between = [cable for cable in fabric.cables if cable.kind == "leaf-spine"]
    for switch in fabric.switches:
        summary = json.loads(site.on(switch.name, "vtysh -c 'show bgp summary json'"))
        states = [peer["state"] for peer in summary["ipv4Unicast"]["peers"].values()]
        ends = [cable for cable in between if switch.name in {cable.a.device, cable.b.device}]
        assert states == ["Established"] * len(ends), switch.name


def test_hosts_reach_each_other_through_the_switches(site: Terminal) -> None:
    """A frame of the planned size crosses a leaf to the same rail of another host, and a spine to its other rail."""
    sender, receiver = (next(node for node in site.plan.nodes if node.name == name) for name in ("r01-n01", "r02-n01"))
    rail = next(nic for nic in sender.nics if nic.rail == 0)
    own = (rail.address or "").split("/")[0]  # as RDMA is bound: what comes from a rail's address leaves by that rail
    for nic in (nic for nic in receiver.nics if nic.rail is not None):
        payload_bytes = rail.mtu_bytes - 28  # less the headers of IPv4 and ICMP
        address = (nic.address or "").split("/")[0]
        said = site.on(sender.name, f"ping -c 3 -W 5 -M do -s {payload_bytes} -I {own} {address}")
        assert " 0% packet loss" in said, f"{nic.name}: {said}"


def test_the_cables_are_as_planned(site: Terminal, tmp_path: Path) -> None:
    """What hosts and switches see by LLDP is every data cable of the plan; BMCs speak no LLDP."""
    fabric = site.plan.fabrics["compute"]
    words: list[str] = []
    asked = [*(node.name for node in site.plan.nodes), *(switch.name for switch in fabric.switches)]
    for name in asked:
        seen = tmp_path / f"{name}.json"
        seen.write_text(site.on(name, "lldpcli -f json show neighbors"))
        words += ["--seen", str(seen)]
    done = site.run("coldaisle", "verify", "cabling", SITE, *words, "--json", expect=None)
    report = json.loads(done.stdout)
    assert report["findings"] == []
    ends = [(cable["a"], cable["b"]) for cable in report["could_not_tell"]]
    unsure = [pair for pair in ends if any(end["device"] in asked for end in pair)]
    assert all("bmc" in {end["port"] for end in pair} for pair in unsure), unsure
    assert report["cables"]["as_planned"] >= len(fabric.cables)


def test_outputs_give_inventory_and_findings(site: Terminal) -> None:
    """`pulumi stack output` carries the Ansible inventory of every node, and what the checks found."""
    outputs = json.loads(site.run("pulumi", "stack", "output", "--json", "--stack", SITE).stdout)
    hosts = json.dumps(outputs["inventory"])
    assert all(node.name in hosts for node in site.plan.nodes)
    assert isinstance(outputs["findings"], list)


def test_state_holds_no_secret(site: Terminal) -> None:
    """Neither the BMC's password nor the bootstrap token nor a private key is in the stack's state."""
    from coldaisle.paths import state_dir  # noqa: PLC0415 - only this test reads secrets

    text = json.dumps(site.state())
    secrets = state_dir(SITE) / "secrets"
    words = [
        line.split(":", 1)[1].strip() for line in (secrets / "bmc.yaml").read_text().splitlines() if "pass" in line
    ]
    words.append((secrets / "bootstrap-token").read_text().strip())
    assert words
    assert all(len(word) > 5 and word not in text for word in words)
    assert "PRIVATE KEY" not in text


def test_g15_a_node_without_its_virtual_functions_takes_no_pods(site: Terminal) -> None:
    """G15: a kubelet that starts before a port has its virtual functions waits for them, and starts by itself then."""
    guest = next(node for node in site.plan.nodes if node.boot == "network")
    port = next(nic for nic in guest.nics if nic.vfs)
    functions = f"/sys/class/net/{port.name}/device/sriov_numvfs"
    try:
        site.on(guest.name, f"echo 0 > {functions}; systemctl restart kubelet || true")
        assert site.on(guest.name, "systemctl is-active kubelet || true").strip() == "activating"
    finally:
        site.on(guest.name, f"echo {port.vfs} > {functions}")
    site.on(guest.name, "for i in $(seq 30); do systemctl -q is-active kubelet && exit; sleep 1; done; exit 1")
