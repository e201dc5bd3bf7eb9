"""
A machine on another network than the provisioner's, whose router relays DHCP (`provisioning.relayed`).

The router is a namespace that forwards, with a real relay in it (dnsmasq's); the machine asks with busybox's client, as
its firmware does and then as iPXE does, and fetches through the router what it was told.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from coldaisle.render.ansible import host_vars
from sim.shell import find, run
from tests.sim.test_dhcp_faults import Segment, pytestmark, rehearsal, serving, until

__all__ = ["pytestmark"]

PROVISIONER, ROUTER, GATEWAY = "192.0.2.2", "192.0.2.1", "198.51.100.1"
EDITS = {
    "addressing.yaml": {"gateway: null": f"gateway: {GATEWAY}"},
    "provisioning.yaml": {"host_address: 198.51.100.2": f"host_address: {PROVISIONER}\n  relayed: true"},
}
BIOS = ("-V", "PXEClient:Arch:00000:UNDI:002001", "-x", "0x5d:0000")
IPXE = (*BIOS, "-x", "0x4d:69505845")
"""What a BIOS asks with (RFC 4578), and iPXE after it: its user class (RFC 3004, as one string)."""


def _plug_in(segment: Segment) -> None:
    """Lay a cable from the provisioner to a router, and one from there to the machine; the way back is the router's."""
    router, node = _router(segment), segment.outside
    mac = next(str(nic.mac) for nic in segment.node.nics if nic.name == segment.node.boot_nic)
    for space in (router, node):
        run(["ip", "netns", "add", space])
    for space, words in (
        (segment.lab.inside, f"link add swp9 type veth peer name wan netns {router}"),
        (segment.lab.inside, f"link set swp9 master {segment.provisioning.interface} up"),
        (router, f"link add nodes type veth peer name port netns {node}"),
        (router, f"address add {ROUTER}/25 dev wan"),
        (router, f"address add {GATEWAY}/25 dev nodes"),
        (router, "link set wan up"),
        (router, "link set nodes up"),
        (node, f"link set port address {mac} up"),
        (segment.lab.inside, f"route add {segment.provisioning.subnet} via {ROUTER}"),
    ):
        run(["ip", "-n", space, *words.split()])
    run(["nsenter", f"--net=/run/netns/{router}", "sysctl", "-q", "-w", "net.ipv4.ip_forward=1"])
    command = [find("dnsmasq", "dnsmasq-base"), "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null"]
    command += ["--port=0", f"--dhcp-relay={GATEWAY},{PROVISIONER}", f"--pid-file={segment.lab.folder}/relay.pid"]
    log = segment.lab.logs / "relay.log"
    segment.lab.groups.start("relay", command, log, namespace=router)
    until(lambda: "DHCP relay from" in log.read_text())


def _router(segment: Segment) -> str:
    return segment.lab.namespace("router")


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Segment]:
    """Start the provisioner of a site whose nodes are behind a router."""
    found = rehearsal(tmp_path_factory.mktemp("behind") / "site", f"y{os.getpid() % 100000}", EDITS)
    with serving(found, _plug_in):
        yield found


def _lease(segment: Segment, folder: Path, asks: tuple[str, ...]) -> dict[str, str]:
    """Return what the machine is told when it asks in some way; empty where nobody answers."""
    said, script = folder / "said", folder / "said.sh"
    said.unlink(missing_ok=True)
    script.write_text(f'#!/bin/sh\n[ "$1" != bound ] || env > {said}\n')
    script.chmod(0o755)
    inside = ["nsenter", f"--net=/run/netns/{segment.outside}"]
    ask = ["busybox", "udhcpc", "-i", "port", "-f", "-n", "-q", "-t", "3", "-T", "1", "-A", "0", "-s", str(script)]
    subprocess.run([*inside, *ask, *asks], capture_output=True, check=False)
    lines = said.read_text().splitlines() if said.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_a_machine_behind_a_relay_gets_its_address_and_boots(behind: Segment, tmp_path: Path) -> None:
    """The reserved address, the router, the first program and then iPXE's script, which comes through the router."""
    first, second = (_lease(behind, tmp_path, asks) for asks in (BIOS, IPXE))
    address = behind.node.management_address.partition("/")[0]
    for told in (first, second):
        assert (told["ip"], told["mask"], told["router"]) == (address, "25", GATEWAY)
        assert told["hostname"] == behind.node.name
    assert (first["boot_file"], first["siaddr"]) == ("undionly.kpxe", PROVISIONER)
    for words in (f"address add {address}/25 dev port", f"route add default via {GATEWAY}"):
        run(["ip", "-n", behind.outside, *words.split()])
    inside = ["nsenter", f"--net=/run/netns/{behind.outside}", "busybox"]
    script = subprocess.run([*inside, "wget", "-qO-", second["boot_file"]], capture_output=True, text=True, check=True)
    assert script.stdout.startswith("#!ipxe")
    tftp = [*inside, "tftp", "-g", "-r", first["boot_file"], "-l", str(tmp_path / "program"), PROVISIONER]
    subprocess.run(tftp, capture_output=True, check=True, timeout=20)
    assert (tmp_path / "program").read_bytes() == Path("/usr/lib/ipxe/undionly.kpxe").read_bytes()


def test_a_machine_behind_a_relay_that_is_not_planned_gets_nothing(behind: Segment, tmp_path: Path) -> None:
    """A reservation is by MAC address behind a relay too."""
    run(["ip", "-n", behind.outside, "link", "set", "port", "address", "02:00:00:00:00:98"])
    assert _lease(behind, tmp_path, ("-t", "1")) == {}
    assert "02:00:00:00:00:98 ignored" in behind.served()


def test_a_provisioner_behind_a_router_is_not_asked_for_other_servers(behind: Segment) -> None:
    """It cannot hear them: the plan has no such fact, and nobody asks when a node is late."""
    facts = [name for play in behind.plan.plays for found in play.facts.values() for name in found]
    assert not [name for name in facts if name.startswith("foreign_dhcp")]
    assert "up_provisioner" not in host_vars(behind.plan, behind.node.name)
