"""A hall: hosts that are off until their BMC turns them on, and that nothing outside of the hall can reach."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from sim.hall.site import status
from sim.light import SETTINGS
from sim.network import namespaces
from sim.processes import ProcessGroups
from tests.hall_sites import Hall, hall


def ssh(floor: Hall, host: str, command: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command on a host from the hall's deploy host."""
    address = next(node.management_address for node in floor.plan.nodes if node.name == host).split("/")[0]
    options = ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    options += ["-o", "LogLevel=ERROR", "-o", "ConnectTimeout=5", "-i", str(floor.state.ssh_key)]
    return floor.run("ssh", *options, f"root@{address}", command, check=check)


def test_every_bmc_answers_and_its_host_is_off_until_it_is_turned_on() -> None:
    """The provider's play of BMCs turns both hosts on, one by Redfish and one by IPMI; nothing is left of the hall."""
    with hall(2, name=f"u{os.getpid() % 100000}") as fresh:
        found = status(fresh.name)
        assert (found.bmcs, found.bmc_processes, found.on) == (2, 1, ())
        assert {node.bmc.protocol for node in fresh.plan.nodes if node.bmc} == {"redfish", "ipmi"}
        fresh.plays("prepare")
        names = [node.name for node in fresh.plan.nodes]
        assert fresh.plays("apply", "bmc") == {"reasons": {}, "hosts": {"bmc-light": names}}
        assert status(fresh.name).on == tuple(names)
    assert not namespaces(fresh.state.namespace_prefix)
    assert not ProcessGroups(fresh.state.site).names()
    assert not fresh.state.folder.exists()


def test_a_light_host_cannot_reach_the_machine_that_carries_it(floor: Hall) -> None:
    """Its kernel settings outside of its network, its clock and its disks are the machine's: all three are refused."""
    floor.plays("apply", "bmc")
    said = ssh(
        floor,
        "r01-n01",
        "hostname; sysctl -w vm.swappiness=7; date -s 2001-01-01; mknod /tmp/disk b 252 0; ls /proc | grep -c '^[0-9]'",
        check=False,
    )
    lines = said.stdout.splitlines()
    assert lines[0] == "r01-n01"
    assert int(lines[-1]) < 20, "it sees processes that are not its own"
    assert "Read-only file system" in said.stderr or "permission denied" in said.stderr
    assert "date: cannot set date: Operation not permitted" in said.stderr
    assert "mknod: /tmp/disk: Operation not permitted" in said.stderr


def test_a_light_host_holds_no_mounts_of_other_hosts(floor: Hall) -> None:
    """Its mount namespace is a copy of the machine's, where each host's network namespace is a mount."""
    floor.plays("apply", "bmc")
    pid = ProcessGroups(floor.state.site).pids("r01-n01")[0]
    mounts = Path(f"/proc/{pid}/mountinfo").read_text()
    assert "/run/netns" not in mounts
    assert "/run/netns" in Path("/proc/self/mountinfo").read_text()


def test_no_host_hears_what_another_says_to_all_by_ipv6(floor: Hall) -> None:
    """Each of thousands of kernels would tell all others of its addresses; to ask for one by ARP goes to all."""
    switch = f"--net=/run/netns/{floor.state.namespace('oob01')}"
    command = ["nsenter", switch, "bridge", "-json", "-detail", "link", "show"]
    ports = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert ports
    assert {(port["mcast_flood"], port["bcast_flood"]) for port in ports} == {(False, True)}


def test_a_setting_that_fails_and_says_ok_is_seen_when_it_is_read_back(floor: Hall) -> None:
    """`sysctl -w` of a setting of the whole machine returns 0 here and sets nothing."""
    floor.plays("apply", "bmc")
    said = ssh(floor, "r01-n01", "sysctl -w net.core.rmem_max=123456; echo $?; sysctl -n net.core.rmem_max")
    code, value = said.stdout.splitlines()[-2:]
    assert code == "0"
    assert value != "123456"


def test_nothing_of_a_hall_is_in_this_machines_own_network(floor: Hall) -> None:
    """This machine has no route to a BMC of the hall, and its SSH server takes as many logins at once as come."""
    address = next(node.bmc.address for node in floor.plan.nodes if node.bmc)
    routes = subprocess.run(["ip", "route", "show", "to", "match", address], capture_output=True, text=True, check=True)
    assert all(line.startswith("default") for line in routes.stdout.splitlines())
    assert "MaxStartups 1000" in SETTINGS
