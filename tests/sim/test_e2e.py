"""The simulated site as its users meet it: real protocols, real faults. Needs a site that is up."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from coldaisle.plan.model import NodePlan, SitePlan
from sim import faults
from sim.processes import ProcessGroups
from sim.site import BMC_PROCESS, state_of, status
from sim.site import up as site_up
from sim.state import State

pytestmark = pytest.mark.e2e

ANSWER_S = 20


@pytest.fixture(scope="module")
def site(plan: SitePlan) -> State:
    """Return the state of the site that is up."""
    if not status(plan).is_up:
        pytest.skip("the simulated site is not up; start it with: make up")
    return state_of(plan.name)


@pytest.fixture
def light(plan: SitePlan) -> NodePlan:
    """Return a light host."""
    return next(node for node in plan.nodes if node.boot != "network")


@pytest.fixture
def fault(plan: SitePlan, site: State) -> Iterator[object]:
    """Return a function that injects a fault on a node; every one is taken back after the test."""
    injected: list[tuple[faults.Target, str]] = []

    def inject(name: str, node: str, **options: str) -> None:
        target = faults.find_target(plan, site, node)
        injected.append((target, name))
        faults.inject(target, name, options)

    yield inject
    for target, name in injected:
        faults.clear(target, name)


def _ipmi(site: State, node: NodePlan, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ipmitool against a node's BMC; the password goes through the environment."""
    assert node.bmc is not None
    secret = yaml.safe_load(site.bmc_credentials.read_text())
    command = ["ipmitool", "-I", "lanplus", "-C", "3", "-N", "2", "-R", "1", "-H", node.bmc.address]
    environment = {**os.environ, "IPMI_PASSWORD": secret["password"]}
    return subprocess.run(
        [*command, "-U", secret["username"], "-E", *words], capture_output=True, text=True, env=environment, check=False
    )


def _redfish(site: State, node: NodePlan, path: str, timeout_s: float = ANSWER_S) -> httpx.Response:
    """Ask a node's BMC by Redfish, with its certificate checked against the site's authority."""
    assert node.bmc is not None
    secret = yaml.safe_load(site.bmc_credentials.read_text())
    with httpx.Client(verify=str(site.pki / "ca.crt"), auth=(secret["username"], secret["password"])) as client:
        return client.get(f"https://{node.bmc.address}{path}", timeout=timeout_s)


def _ssh(site: State, node: NodePlan, command: str) -> str:
    """Run a command on a host."""
    options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    address = node.management_address.split("/")[0]
    words = ["ssh", *options, "-o", "ConnectTimeout=20", "-i", str(site.ssh_key), f"root@{address}", command]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_every_bmc_speaks_both_protocols_and_they_agree(plan: SitePlan, site: State) -> None:
    """IPMI and Redfish tell the same power state, over a certificate that the site's authority signed."""
    for node in plan.nodes:
        system = _redfish(site, node, "/redfish/v1/Systems").json()["Members"][0]["@odata.id"]
        power = _redfish(site, node, system).json()["PowerState"].lower()
        assert _ipmi(site, node, "power", "status").stdout.strip() == f"Chassis Power is {power}"


def test_a_hanging_bmc_answers_on_neither_protocol(light: NodePlan, site: State, fault: object) -> None:
    """IPMI gives up, Redfish times out; both answer again when the fault is taken back."""
    fault("bmc-hang", light.name)  # type: ignore[operator]
    assert _ipmi(site, light, "power", "status").returncode != 0
    with pytest.raises(httpx.TimeoutException):
        _redfish(site, light, "/redfish/v1/Systems", timeout_s=2)


def test_a_bmc_with_another_password_refuses_ours(light: NodePlan, site: State, fault: object) -> None:
    """The site's password opens neither protocol."""
    fault("bmc-wrong-password", light.name)  # type: ignore[operator]
    assert _redfish(site, light, "/redfish/v1/Systems").status_code == 401
    assert _ipmi(site, light, "power", "status").returncode != 0


def test_a_lost_gpu_shows_on_the_running_host(light: NodePlan, site: State, fault: object) -> None:
    """nvidia-smi on the host counts one less, at once and without a reboot."""
    _power_on(site, light)
    assert len(_ssh(site, light, "nvidia-smi -L").splitlines()) == light.gpus
    fault("gpu-missing", light.name)  # type: ignore[operator]
    assert len(_ssh(site, light, "nvidia-smi -L").splitlines()) == light.gpus - 1


def _power_on(site: State, node: NodePlan) -> None:
    """Turn a host on and wait for its SSH server."""
    _ipmi(site, node, "power", "on")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            _ssh(site, node, "true")
        except subprocess.CalledProcessError:
            time.sleep(1)
        else:
            return
    pytest.fail(f"{node.name} does not answer SSH after 60 s")


def test_a_second_start_repairs_what_died(plan: SitePlan, site: State) -> None:
    """The process of the BMCs is killed; `sim up` starts it again and leaves the rest alone."""
    groups = ProcessGroups(plan.name)
    for pid in groups.pids(BMC_PROCESS):
        os.kill(pid, signal.SIGKILL)
    lines: list[str] = []
    assert site_up(plan, lines.append).is_up
    assert any("BMCs" in line for line in lines)
    assert "fabric: 0 switches started" in lines
    assert Path(site.folder / "machines.json").exists()
