"""Fabrics: addresses, numbers and cables, and that they stay when a site grows."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.plan.fabric import fabric_numbers, plan_fabrics
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.layout import stable_indexes
from coldaisle.plan.model import CablePlan, FabricPlan
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, feeds, pool, site, superpod

ROCE: dict[str, Any] = {
    "kind": "roce",
    "topology": "leaf-spine",
    "connects": ["compute"],
    "rail_optimized": True,
    "rails": 8,
    "nodes_per_leaf_group": 4,
    "leaf": {"model": "sn5600"},
    "spine": {"model": "sn5600", "count": 2},
    "mtu_bytes": 9216,
    "host_mtu_bytes": 9000,
}
OOB: dict[str, Any] = {
    "kind": "ethernet",
    "topology": "single",
    "connects": ["bmc", "switch"],
    "switch": {"model": "sn2201"},
}
ADDRESSING: dict[str, Any] = {
    "management": {"subnet": "10.0.0.0/16"},
    "switches": {"subnet": "10.1.0.0/24", "first": "10.1.0.11"},
    "fabric_links": {"subnet": "10.128.0.0/20"},
    "loopbacks": {"subnet": "10.127.0.0/24"},
    "asn": {"spine": 65100, "leaf_first": 65101},
}


def _roce(nodes: str, **sections: Any) -> SiteSpec:  # noqa: ANN401
    fabrics = {"compute": ROCE, "oob": OOB}
    return site(addressing=ADDRESSING, fabrics=fabrics, node_pools={"p": pool(nodes)}, **sections)


def _cables(plan: Mapping[str, FabricPlan]) -> dict[tuple[str, str], CablePlan]:
    return {(c.a.device, c.a.port): replace(c, length_m=None) for fabric in plan.values() for c in fabric.cables}


def test_both_ends_of_a_link_share_its_network() -> None:
    """Each routed cable has two addresses of one /31: the leaf's is the even one, and no address is given twice."""
    plan = plan_fabrics(_roce("n[01-08]"))["compute"]
    seen: set[str] = set()
    for cable in plan.cables:
        ends = [ipaddress.ip_interface(address) for address in (cable.a_address, cable.b_address) if address]
        assert len(ends) == 2
        assert ends[0].network == ends[1].network
        assert not seen & {str(end.ip) for end in ends}
        seen |= {str(end.ip) for end in ends}
        if cable.kind == "node-leaf":
            assert int(ends[1].ip) % 2 == 0
    by_end = {(cable.a.device, cable.a.port): cable.a_address for cable in plan.cables}
    assert by_end["n01", "rail0"] == "10.128.0.1/31"
    # The fifth node's first link comes after the four times eight before it.
    assert by_end["n05", "rail0"] == "10.128.0.65/31"


def test_every_leaf_has_a_number_of_its_own() -> None:
    """RFC 7938: one autonomous system a leaf, one for all spines; loopbacks from both ends of their pool."""
    plan = plan_fabrics(_roce("n[01-08]"))["compute"]
    leaves = [switch for switch in plan.switches if switch.role == "leaf"]
    assert [leaf.asn for leaf in leaves] == list(range(65101, 65117))
    assert {switch.asn for switch in plan.switches if switch.role == "spine"} == {65100}
    assert (leaves[0].loopback, plan.switches[-1].loopback) == ("10.127.0.1", "10.127.0.253")


def test_nodes_and_uplinks_have_their_mtu() -> None:
    """A node's cable has the node's MTU, an uplink the fabric's."""
    plan = plan_fabrics(_roce("n[01-02]"))["compute"]
    assert {(cable.kind, cable.mtu_bytes) for cable in plan.cables} == {("node-leaf", 9000), ("leaf-spine", 9216)}


def test_an_infiniband_fabric_has_no_addresses() -> None:
    """InfiniBand is not routed here: no addresses, no autonomous systems."""
    plan = plan_fabrics(superpod(31, managers=True))["compute"]
    assert not any(cable.a_address or cable.b_address for cable in plan.cables)
    assert not any(switch.asn or switch.loopback for switch in plan.switches)


def test_out_of_band_takes_bmcs_and_switches() -> None:
    """BMCs fill the switch from its first port, management ports of other fabrics' switches from its last."""
    cables = _cables({"oob": plan_fabrics(_roce("n[01-02]"))["oob"]})
    assert {
        end: (c.b.device, c.b.port) for end, c in cables.items() if end[0] in {"n01", "n02", "leaf01", "spine02"}
    } == {
        ("n01", "bmc"): ("oob01", "swp1"),
        ("n02", "bmc"): ("oob01", "swp2"),
        ("leaf01", "eth0"): ("oob01", "swp48"),
        ("spine02", "eth0"): ("oob01", "swp39"),
    }


def test_adding_racks_moves_nobody() -> None:
    """With more nodes behind them, every cable and every number of the fabric that was there is the same."""
    before, after = (plan_fabrics(_roce(nodes))["compute"] for nodes in ("n[01-06]", "n[01-20]"))
    assert _cables({"c": before}).items() <= _cables({"c": after}).items()
    numbers = {switch.name: (switch.asn, switch.loopback) for switch in after.switches}
    assert all(numbers[s.name] == (s.asn, s.loopback) for s in before.switches)


def test_a_node_in_the_middle_moves_nobody_when_numbers_are_kept() -> None:
    """With the numbers of the last plan kept, a node whose name sorts first takes the next free place."""
    spec = _roce("n[02-06]")
    before = plan_fabrics(spec)
    grown = site(
        addressing=ADDRESSING,
        fabrics={"compute": ROCE, "oob": OOB},
        node_pools={"p": pool("n[02-06]"), "q": pool("n01")},
        allocations=fabric_numbers(spec),
    )
    after = plan_fabrics(grown)
    assert _cables(before).items() <= _cables(after).items()
    assert {s.name: s.management_address for s in before["oob"].switches} == {
        s.name: s.management_address for s in after["oob"].switches
    }


def test_a_small_pool_hands_no_address_out_twice() -> None:
    """Eight links of nodes and two of the first leaf fit into 16; the other leaves' go without, and a check tells."""
    addressing = {**ADDRESSING, "fabric_links": {"subnet": "10.128.0.0/27"}}
    spec = site(addressing=addressing, fabrics={"compute": ROCE}, node_pools={"p": pool("n[01-01]")})
    cables = plan_fabrics(spec)["compute"].cables
    addresses = [address for cable in cables for address in (cable.a_address, cable.b_address) if address]
    assert len(addresses) == len(set(addresses)) == 20


def test_lengths_follow_the_floor() -> None:
    """A cable within a rack is shorter than one along the row, and one with an unknown place has no length."""
    racks: list[dict[str, Any]] = [{"name": "r[01-04]", "position_m": 0}, {"name": "r05"}]
    fabrics = {"compute": {**ROCE, "leaf": {"model": "sn5600", "racks": ["r01"], "rack_units": [40, 42]}}}
    nodes = {name: pool(f"{name}-n1", name) for name in ("r01", "r02", "r04", "r05")}
    plan = plan_fabrics(site(facility=facility(racks), addressing=ADDRESSING, fabrics=fabrics, node_pools=nodes))
    lengths = {c.a.device: c.length_m for c in plan["compute"].cables if c.b.device == "leaf01"}
    assert lengths == {"r01-n1": 3.5, "r02-n1": 6.0, "r04-n1": 7.0, "r05-n1": None}


@given(st.sets(st.integers(0, 60)), st.dictionaries(st.integers(0, 60), st.integers(0, 90)))
def test_indexes_stay_and_never_clash(names: set[int], given_before: dict[int, int]) -> None:
    """Kept indexes stay, and every name has one of its own."""
    kept = {f"n{name}": at for at, name in enumerate(given_before)}
    indexes = stable_indexes((f"n{name}" for name in names), kept)
    assert len(set(indexes.values())) == len(indexes) == len(names)
    assert all(indexes[name] == at for name, at in kept.items() if name in indexes)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_the_order_of_the_spec_changes_nothing(seed: int) -> None:
    """Racks, feeds' racks and pools written in any order give the same plan."""
    racks = [{"name": f"r0{at}", "position_m": at, "power_feeds": feeds("ab")} for at in range(1, 6)]
    pools = [(f"p{at}", pool(f"r0{at}-n[1-2]", f"r0{at}", rack_unit=[1, 20])) for at in range(1, 6)]
    spec = site(
        facility=facility(racks), addressing=ADDRESSING, fabrics={"compute": ROCE, "oob": OOB}, node_pools=dict(pools)
    )
    Random(seed).shuffle(racks)  # noqa: S311 - an order, not a secret
    Random(seed + 1).shuffle(pools)  # noqa: S311
    shuffled = site(
        facility=facility(racks), addressing=ADDRESSING, fabrics={"oob": OOB, "compute": ROCE}, node_pools=dict(pools)
    )
    assert plan_fabrics(spec) == plan_fabrics(shuffled)
    assert plan_facility(spec, plan_fabrics(spec)) == plan_facility(shuffled, plan_fabrics(shuffled))


@pytest.mark.parametrize("fabric", ["compute", "oob"])
def test_plans_are_the_same_twice(fabric: str) -> None:
    """A plan has no clock and no chance in it."""
    assert plan_fabrics(_roce("n[01-03]"))[fabric] == plan_fabrics(_roce("n[01-03]"))[fabric]


def test_f2_parallel_links_have_addresses_of_their_own() -> None:
    """F2: several links of one leaf-spine pair get different addresses, and each session a neighbor of its own."""
    fabrics = {"compute": {**ROCE, "uplinks_per_spine": 2}}
    spec = site(addressing=ADDRESSING, fabrics=fabrics, node_pools={"p": pool("n[01-04]")})
    plan = plan_fabrics(spec)["compute"]
    pair = [c for c in plan.cables if (c.a.device, c.b.device) == ("leaf01", "spine01")]
    assert len(pair) == 2
    assert len({c.a_address for c in pair} | {c.b_address for c in pair}) == 4


def test_f3_a_pool_of_as_many_loopbacks_as_switches_is_enough() -> None:
    """F3: an index is no count: 10 switches fit into a /28, which has 14 addresses for hosts."""
    spec = site(
        addressing={**ADDRESSING, "loopbacks": {"subnet": "10.127.0.0/28"}},
        fabrics={"compute": ROCE},
        node_pools={"p": pool("n[01-04]")},
    )
    switches = plan_fabrics(spec)["compute"].switches
    assert len(switches) == 10
    assert len({switch.loopback for switch in switches} - {None}) == 10


def test_f19_a_qm9700_has_64_ports() -> None:
    """F19: 32 cages of two ports each, none missing and none twice."""
    names = superpod(31, managers=True).catalog.switches["qm9700"].port_names()
    assert len(set(names)) == len(names) == 64
    assert (names[0], names[1], names[44], names[-1]) == ("1/1", "1/2", "23/1", "32/2")


@pytest.mark.parametrize("nodes", [1, 40, 48, 60])
def test_more_switches_than_one_can_hold_get_another_switch(nodes: int) -> None:
    """BMCs and the management ports of many switches share no port, however they fill the switches."""
    fabrics = {"compute": {**ROCE, "nodes_per_leaf_group": 1}, "oob": OOB}
    spec = site(addressing=ADDRESSING, fabrics=fabrics, node_pools={"p": pool(f"n[01-{nodes:02d}]")})
    plan = plan_fabrics(spec)["oob"]
    ends = [(cable.b.device, cable.b.port) for cable in plan.cables]
    assert len(set(ends)) == len(ends) == nodes + 8 * nodes + 2
    assert len(plan.switches) == -(-len(ends) // 48)


def test_no_path_of_three_tiers_meets_one_number_twice() -> None:
    """Each pod's spines have a number of their own, and the cores one: else eBGP drops a path that crosses two pods."""
    asn = {"leaf_first": 4200010000, "spine_first": 4200000000, "core": 4200900000}
    spec = superpod(512, managers=False, kind="roce", asn=asn)
    switches = {switch.name: switch for switch in plan_fabrics(spec)["compute"].switches}
    assert {s.asn for s in switches.values() if s.role == "spine"} == set(range(4200000000, 4200000004))
    assert {s.asn for s in switches.values() if s.role == "core"} == {4200900000}
    pods = {
        (switches[c.a.device].asn, switches[c.b.device].asn)
        for c in plan_fabrics(spec)["compute"].cables
        if c.kind == "leaf-spine"
    }
    assert len(pods) == 128  # each leaf meets the spines of one pod only
