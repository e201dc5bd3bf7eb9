"""
Another DHCP server, and machines that ask without end, on the network that nodes boot from.

The plan's own dnsmasq serves in a namespace; the rogue is a real dnsmasq too, and clients are busybox's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils import dhcp_facts
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ARGUMENTS, script

from coldaisle.check import open_site
from coldaisle.cli.playbook import environment
from coldaisle.plan.model import NodePlan, ProvisioningPlan, SitePlan
from coldaisle.render.ansible import inventory
from sim.dhcp_faults import flood_command, rogue_command
from sim.install import guest, provisioner
from sim.install.place import Lab
from sim.shell import run
from sim.twin.place import held

ROOT = Path(__file__).parents[2]
ROGUE_MAC, ROGUE_ADDRESS = "52:54:00:66:66:66", "198.51.100.66/24"
NOTHING = {"before": "", "after": ""}
UNKNOWN_MAC = "02:00:00:00:00:99"
STARTED_S = 20

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("dnsmasq", "busybox", "nginx"))),
    reason="needs root, dnsmasq, busybox and nginx",
)


@dataclass(frozen=True)
class Segment:
    """The network that nodes boot from, with a port that anything may be plugged into."""

    lab: Lab
    plan: SitePlan
    provisioning: ProvisioningPlan

    @property
    def node(self) -> NodePlan:
        """Return the one planned node."""
        return self.plan.nodes[0]

    @property
    def outside(self) -> str:
        """Return the namespace of whatever is plugged in."""
        return self.lab.namespace("other")

    def program(self, name: str, facts: object) -> dict[str, Any]:
        """Run a program of the collection on the provisioner, as a role or a read does."""
        sent = script(name, {"facts": facts, "links": []} if name == "settle" else {"facts": facts}, check=False)
        words = ["nsenter", f"--net=/run/netns/{self.lab.inside}", "python3", *ARGUMENTS]
        done = subprocess.run(words, input=sent, capture_output=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    def asked_as(self, mac: str) -> str | None:
        """Return the address that a machine with a MAC address gets; None where nobody gives it one."""
        run(["ip", "-n", self.outside, "link", "set", "port", "address", mac])
        words = ["nsenter", f"--net=/run/netns/{self.outside}", "busybox", "udhcpc", "-i", "port", "-f", "-n", "-q"]
        done = subprocess.run(
            [*words, "-t", "2", "-T", "1", "-A", "0", "-s", "/bin/true"], capture_output=True, text=True, check=False
        )
        said = re.search(r"lease of (\S+) obtained", done.stderr + done.stdout)
        return said[1] if said else None

    def served(self) -> str:
        """Return what the plan's DHCP server has told so far."""
        log = self.lab.logs / "dnsmasq.log"
        return log.read_text() if log.exists() else ""


def rehearsal(folder: Path, name: str, edits: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> Segment:
    """Copy the rehearsal's site under another name, with files that are only fetched; `edits` are texts, by file."""
    shutil.copytree(ROOT / "inventory/rehearsal", folder)
    for file, texts in {"site.yaml": {"name: rehearsal": f"name: {name}"}, **edits}.items():
        for old, new in texts.items():
            assert old in (folder / file).read_text()
            (folder / file).write_text((folder / file).read_text().replace(old, new))
    for file in ("linux", "initrd.gz"):
        (folder / file).write_bytes(b"a file that is only fetched")
    plan = open_site(folder).plan
    assert plan.provisioning is not None
    images = tuple(replace(image, source=str(folder), sha256={}) for image in plan.provisioning.images)
    provisioning = replace(plan.provisioning, images=images)
    return Segment(Lab(plan.name, plan.nodes[0].name), replace(plan, provisioning=provisioning), provisioning)


@contextmanager
def serving(found: Segment, plug_in: Callable[[Segment], object]) -> Iterator[None]:
    """Start the plan's DHCP and HTTP servers once everything is plugged in; nothing of it stays."""
    with held(found.lab):
        provisioner.lay_out(found.lab, found.plan, found.provisioning)
        tap = guest.tap_of(found.node)
        provisioner.connect(found.lab, found.provisioning, found.provisioning.host_address, tap, found.plan.name)
        plug_in(found)
        provisioner.start(found.lab)
        until(lambda: "started" in found.served())
        yield


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Segment]:
    """Start the plan's DHCP server, and lay a cable to a machine beside it."""
    found = rehearsal(tmp_path_factory.mktemp("segment") / "site", f"d{os.getpid() % 100000}")
    with serving(found, _plug_in):
        yield found


def _plug_in(segment: Segment) -> None:
    """Lay a cable from the provisioner's switch to a namespace with nothing in it."""
    run(["ip", "netns", "add", segment.outside])
    cable = f"link add port type veth peer name swp9 netns {segment.lab.inside}"
    run(["ip", "-n", segment.outside, *cable.split()])
    run(["ip", "-n", segment.lab.inside, "link", "set", "swp9", "master", segment.provisioning.interface, "up"])
    run(["ip", "-n", segment.outside, "link", "set", "port", "up"])


def until(true: Callable[[], bool]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + STARTED_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def rogue(segment: Segment) -> Iterator[Segment]:
    """Plug a machine in that runs a DHCP server of its own."""
    port = ["ip", "-n", segment.outside]
    run([*port, "link", "set", "port", "address", ROGUE_MAC])
    run([*port, "address", "add", ROGUE_ADDRESS, "dev", "port"])
    log = segment.lab.logs / "rogue.log"
    command = rogue_command("port", ROGUE_ADDRESS, segment.lab.folder / "rogue.leases")
    segment.lab.groups.start("rogue", command, log, namespace=segment.outside)
    until(lambda: "started" in log.read_text())
    yield segment
    segment.lab.groups.stop("rogue", grace_s=0)
    run([*port, "address", "flush", "dev", "port"])


def planned(segment: Segment) -> dict[str, object]:
    """Return what the plan says of DHCP servers."""
    [facts] = [play.facts[segment.provisioning.host] for play in segment.plan.plays if play.playbook == "pxe"]
    return {name: value for name, value in facts.items() if name.startswith("foreign_dhcp.")}


def test_a_rogue_dhcp_server_stops_the_play_before_a_node_boots(rogue: Segment) -> None:
    """The provisioner's first step fails with both addresses and where to look; the pools' plays come after it."""
    facts = planned(rogue)
    [name] = facts
    seen = f"198.51.100.66 ({ROGUE_MAC})"
    assert rogue.program("read", list(facts))["facts"] == {name: seen}
    said = rogue.program("settle", facts)
    assert said["failed"]
    assert f"{name} is {seen}, planned none (look at the switches' tables of MAC addresses" in said["msg"]
    first = next(play for play in rogue.plan.plays if rogue.node.name in play.facts)
    assert "pxe" in first.after


SSH = """#!/bin/sh
for word; do :; done
case " $* " in
  *" {provisioner} "*) exec sh -c "$word" ;;
  *) echo "ssh: connect to host: No route to host" >&2; exit 255 ;;
esac
"""
"""Stands in for ssh: the provisioner is the network namespace that this runs in, and every other host is off."""


def test_a_host_that_does_not_come_up_is_told_with_the_rogue_that_answers(rogue: Segment, tmp_path: Path) -> None:
    """When a node's time is over the provisioner is asked, and the failure names the server and where its cable is."""
    ssh, hosts = tmp_path / "ssh", tmp_path / "hosts.yaml"
    ssh.write_text(SSH.format(provisioner=rogue.provisioning.host_address.partition("/")[0]))
    ssh.chmod(0o755)
    hosts.write_text(yaml.safe_dump(inventory(rogue.plan)))
    settings = {"ansible_python_interpreter": sys.executable, "os_files": []}  # their keys are of no machine here
    variables = json.dumps(settings | {"up_timeout_s": 0, "ansible_ssh_executable": str(ssh)})
    words = ["-i", str(hosts), "-l", rogue.node.name, "-e", variables, str(ROOT / "playbooks/os.yml")]
    done = subprocess.run(
        ["nsenter", f"--net=/run/netns/{rogue.lab.inside}", "ansible-playbook", *words],
        cwd=tmp_path,
        env=environment(tmp_path / "sockets"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"another DHCP server answers on the network that it boots from, 198.51.100.66 ({ROGUE_MAC})" in done.stdout
    assert "No route to host (look at the switches' tables of MAC addresses" in done.stdout


def test_the_plans_own_server_is_no_rogue(segment: Segment) -> None:
    """With only the plan's server there, which gives a planned machine its address, the step has nothing to say."""
    facts = planned(segment)
    mac = next(str(nic.mac) for nic in segment.node.nics if nic.name == segment.node.boot_nic)
    assert segment.asked_as(mac) == segment.node.management_address.partition("/")[0]
    assert segment.program("settle", facts) == {"changed": False, "changes": [], "facts": facts, "diff": NOTHING}


def test_no_crowd_of_machines_takes_a_reserved_address(segment: Segment) -> None:
    """While strangers ask without end, none of them gets an address, the log says who, and the node gets its own."""
    segment.lab.groups.start("flood", flood_command("port"), segment.lab.logs / "flood.log", namespace=segment.outside)
    try:
        until(lambda: segment.served().count("02:fa:") >= 3)
        mac = next(str(nic.mac) for nic in segment.node.nics if nic.name == segment.node.boot_nic)
        own = segment.asked_as(mac)
        other = segment.asked_as(UNKNOWN_MAC)
    finally:
        segment.lab.groups.stop("flood", grace_s=0)
        run(["ip", "-n", segment.outside, "link", "delete", "asks0"], check=False)
    assert (own, other) == (segment.node.management_address.partition("/")[0], None)
    assert re.search(rf"DHCPDISCOVER\(\S+\) {UNKNOWN_MAC} ignored", segment.served())


@pytest.mark.parametrize("cut", [0, 13, 41, 200, 281, 282, 290])
def test_a_frame_that_ends_early_is_no_offer(cut: int) -> None:
    """Whatever comes on the wire is judged whole, or not at all; and our own question is no answer."""
    frame = dhcp_facts.question(bytes(6), b"1234")
    assert dhcp_facts.offer(frame[:cut], b"1234") is None
    assert dhcp_facts.offer(frame, b"1234") is None
