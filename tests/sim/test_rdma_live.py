"""Two guests that boot over the network and move data by RDMA. They need root, and are gone when they end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from coldaisle.check import open_site
from sim.rdma.mistakes import Mistakes, make
from sim.rdma.place import Lab
from sim.rdma.run import PROGRAMS, Pair, prove, running, settle
from sim.shell import environment, run
from sim.twin.place import is_clear
from sim.twin.records import Check
from tests import rdma_sites
from tests.programs import required

pytestmark = [pytest.mark.timeout(1800), pytest.mark.drill]
"""Two emulated machines boot; beside much other work that took a quarter of an hour."""

NAMES = {
    *("bond", "mtu", "rdma-mtu", "gid", "mtu-peer", "mtu-cables", "rping", "rping-dscp", "rping-vlan"),
    *(f"{program}{what}" for program in ("ib_write_bw", "ib_send_bw") for what in ("", "-dscp", "-vlan", "-bytes")),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Yield two nodes that the playbooks have settled; afterwards nothing of them is left."""
    for program in PROGRAMS:
        required(program, environment()["PATH"])
    plan = open_site(rdma_sites.write(tmp_path_factory.mktemp("sites") / f"rdma{os.getpid()}")).plan
    with running(plan, (), print) as found:
        assert [(each.name, each.status) for each in settle(found, print)] == [("boot", "passed"), ("plays", "passed")]
        yield found
    assert is_clear(Lab(plan.name))
    assert not Path("/run/netns", Lab(plan.name).namespace(rdma_sites.NODES[0])).exists()


def spoilt(pair: Pair, mistakes: Mistakes) -> dict[str, Check]:
    """Return what is found of a pair after a mistake at the first node."""
    make(mistakes, pair.lab, pair.plan.nodes[0], pair.guests[0])
    return {each.name: each for each in prove(pair, print)[0]}


def test_rdma_crosses_a_bond_with_a_vlan_as_planned(pair: Pair) -> None:
    """LACP, MTU of all layers and by the peer, GIDs, and on the cables the class, the tag and every byte."""
    found = {each.name: each for each in prove(pair, print)[0]}
    assert set(found) == NAMES
    assert {each.status for each in found.values()} == {"passed"}, found
    assert found["rdma-mtu"].seen == "active MTU 4096"
    assert "bond0.310" in found["gid"].details[0]


def test_a_cable_that_takes_short_packets_only_is_found_by_the_peer(pair: Pair) -> None:
    """Both hosts have the planned MTU; only packets of full size tell, and no traffic is tried over it."""
    try:
        found = spoilt(pair, Mistakes(short_cables=("stor1",)))
    finally:
        run(["ip", "-n", pair.lab.namespace(rdma_sites.NODES[0]), "link", "set", "up-stor1", "mtu", "9216"])
    assert found["mtu"].status == "passed"
    assert found["mtu-peer"].status == "failed"
    assert found["rping"].status == "not run"


def test_a_short_port_and_another_class_are_named(pair: Pair) -> None:
    """The port is told by its own MTU, the class by the packets of connections; a class by an index stays right."""
    try:
        found = spoilt(pair, Mistakes(host_mtus=("stor1",), dscp=24))
    finally:
        pair.guests[0].ask("ip link set stor1 mtu 9000")
    assert found["mtu"].details == ("r01-n01:stor1 should have 9000 bytes and has 1500",)
    assert found["rping-dscp"].status == "failed"
    assert "24" in found["rping-dscp"].seen
    assert found["ib_send_bw-dscp"].status == "passed"
