"""Runs that go wrong on some hosts: the others are kept and done, and each unreachable one is named."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sim.hall.site import machines
from sim.hall.spec import BOOT_TIMEOUT_S
from sim.light import write_host_key
from sim.machines import Machine
from sim.power import PowerSwitch
from tests.hall.test_hall import ssh
from tests.hall_sites import ROOT, Hall

OFF, DIES, SILENT, STRANGER, RENEWED = (f"r01-n{number:02}" for number in (2, 4, 6, 8, 10))
"""Hosts of ten: off before the run, dead in the middle of it, silent at a read, another's, and installed anew."""

LIMIT_S = 240


@dataclass(frozen=True)
class Run:
    """What two runs of the same play told, of which the second was started while the first was at work."""

    first: dict[str, Any]
    second: dict[str, Any]


def machine(floor: Hall, name: str) -> Machine:
    """Return a machine of the hall."""
    return next(machine for machine in machines(floor.name) if machine.name == name)


def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started(floor: Hall, *words: str) -> subprocess.Popen[str]:
    """Start a run of plays on the deploy host."""
    command = floor.command(*floor.plays_command(*words))
    return subprocess.Popen(command, cwd=ROOT, env=floor.environment(), stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a run told at its end."""
    output, _ = process.communicate(timeout=LIMIT_S)
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def run(floor: Hall) -> Iterator[Run]:
    """On fresh hosts, run the play of the operating system with one off, and one that dies when it has its user."""
    floor.renew()
    floor.plays("apply", "bmc")
    switch = PowerSwitch(floor.state)
    switch.turn_off(machine(floor, OFF))
    dying = machine(floor, DIES)
    first = started(floor, "apply", "os")
    until((dying.path / "upper/home/ops").exists)
    switch.turn_off(dying)
    second = floor.plays("apply", "os")
    yield Run(told(first), second)
    for name in (OFF, DIES):
        switch.turn_on(machine(floor, name))


def test_hosts_that_cannot_be_reached_are_named_and_the_others_are_done(floor: Hall, run: Run) -> None:
    """One was off from the start, one died in a task: eight of ten are as planned and read back."""
    others = sorted({node.name for node in floor.plan.nodes} - {OFF, DIES})
    assert run.first["hosts"]["os-light"] == others
    reasons = {line.partition(":")[0]: line for line in run.first["reasons"]["os-light"]}
    assert sorted(reasons) == [OFF, DIES]
    assert "not up after" in reasons[OFF]
    assert "unreachable" in reasons[DIES] or "not up after" in reasons[DIES]
    assert "look at" in reasons[OFF]


def test_a_second_run_at_once_is_refused_and_told_who_is_at_work(run: Run) -> None:
    """The second run of the play touches nothing, and names the run that holds the hosts."""
    [reason] = run.second["reasons"]["os-light"]
    assert "is being changed by the play os-light, process" in reason


@pytest.mark.usefixtures("run")
def test_the_next_run_goes_on_with_those_that_are_left(floor: Hall) -> None:
    """When both are back, only they are worked on: a file of another host keeps its age."""
    switch = PowerSwitch(floor.state)
    for name in (OFF, DIES):
        switch.turn_on(machine(floor, name))
    path = machine(floor, "r01-n01").path / "upper/etc/sysctl.d/90-coldaisle.conf"
    before = path.stat().st_mtime_ns
    assert floor.plays("apply", "os") == {
        "reasons": {},
        "hosts": {name: [node.name for node in floor.plan.nodes] for name in ("bmc-light", "os-light")},
    }
    assert path.stat().st_mtime_ns == before


@pytest.mark.usefixtures("run")
def test_a_silent_host_at_a_read_keeps_what_was_seen_and_its_bmc_is_read(floor: Hall) -> None:
    """Its facts could not be told, since when is said, its BMC says that it is off, and no other host is in doubt."""
    switch = PowerSwitch(floor.state)
    switch.turn_off(machine(floor, SILENT))
    found = floor.plays("read")
    switch.turn_on(machine(floor, SILENT))
    [reason] = found["reasons"]["os-light"]
    assert reason.startswith(f"{SILENT}: could not tell since 20")
    assert found["changes"] == {"bmc-light": {f'hosts["{SILENT}"]["power"]': "update"}}


def test_a_host_with_the_ports_of_another_is_refused_before_anything_is_set(brought_up: Hall) -> None:
    """At the address of the planned host answers a machine that has none of its ports: nothing of it is settled."""
    stranger = machine(brought_up, STRANGER)
    ssh(brought_up, STRANGER, "ip link set rail0 mtu 1500")
    ip = ["ip", "-n", stranger.namespace, "link", "set", "dev"]
    for number, port in enumerate(("mgmt0", "rail0")):
        subprocess.run([*ip, port, "address", f"52:54:99:00:00:0{number}"], check=True)
    brought_up.run("ip", "neighbour", "flush", "dev", "oob0")
    brought_up.plays("read")
    found = brought_up.plays("apply", "os")
    [reason] = found["reasons"]["os-light"]
    for nic in next(node.nics for node in brought_up.plan.nodes if node.name == STRANGER):
        subprocess.run([*ip, nic.name, "address", str(nic.mac)], check=True)
    brought_up.run("ip", "neighbour", "flush", "dev", "oob0")
    assert reason.startswith(f"{STRANGER}: failed in task 'Os | Set up users, network")
    assert "another machine answers: it has the ports 52:54:99" in reason
    assert "nothing was changed" in reason
    assert "mtu 1500" in ssh(brought_up, STRANGER, "ip link show rail0").stdout
    assert brought_up.plays("apply", "os")["reasons"] == {}
    assert "mtu 9000" in ssh(brought_up, STRANGER, "ip link show rail0").stdout


def test_a_host_with_another_key_is_refused(brought_up: Hall) -> None:
    """A host key that is not the one of before is told as that at once, and no waiting changes it."""
    renewed, switch = machine(brought_up, RENEWED), PowerSwitch(brought_up.state)
    key = renewed.path / "upper/etc/ssh/ssh_host_ed25519_key"
    kept = key.read_bytes()
    _with_key(switch, renewed, key, None)
    inventory = str(brought_up.state.folder / "inventory.yaml")
    command = ["ansible-playbook", "-i", inventory, "--limit", RENEWED, "playbooks/os.yml"]
    started_s = time.monotonic()
    found = brought_up.run(*command, check=False)
    took_s = time.monotonic() - started_s
    _with_key(switch, renewed, key, kept)
    assert found.returncode != 0
    assert "another host key than before" in found.stdout
    assert "was it installed anew?" in found.stdout
    assert took_s < BOOT_TIMEOUT_S


def _with_key(switch: PowerSwitch, host: Machine, key: Path, content: bytes | None) -> None:
    """Start a host again with a host key: this one, or a new one."""
    switch.turn_off(host)
    if content is None:
        write_host_key(key)
    else:
        key.write_bytes(content)
    switch.turn_on(host)
