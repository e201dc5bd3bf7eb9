"""The nodes' own side of bonds and tenants: what the plan says, the files of it, and the facts that a host settles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from coldaisle.check.bonds import check_interface_names, check_leaf_pairs
from coldaisle.plan import plan_site
from coldaisle.plan.fabric import fabric_numbers
from coldaisle.plan.host_side import HostSide, host_side
from coldaisle.plan.model import BondPlan, End, SitePlan
from coldaisle.render.fabric.addresses import COLUMNS, address_table
from coldaisle.render.host_files import os_files
from coldaisle.spec.sections import SiteSpec
from tests.unit.overlay_sites import PAIRS, bonded, overlay_site

File = dict[str, list[tuple[str, str]]]
"""A file of systemd by its sections, each with its keys in order."""

NETWORKS: dict[str, Any] = {
    "infra": {"networks": {"hosts": {"addressing": "management", "untagged": {"pools": ["a", "b"]}}}},
    "red": {
        "networks": {
            "data": {"subnet": "10.73.0.0/22", "vlan": 300, "node_addresses": True, "tagged": {"pools": ["a"]}},
            "more": {"subnet": "10.74.0.0/22", "vlan": 301, "dhcp_servers": ["10.73.0.9"], "tagged": {"pools": ["a"]}},
            "bare": {"vlan": 302, "tagged": {"pools": ["a"]}},
        },
        "exits": [{"via": "10.73.3.1"}, {"to": "192.0.2.0/24", "via": "10.73.3.2"}],
    },
}
"""A network that hands addresses out, one with DHCP, and one without a subnet."""


def with_macs(spec: SiteSpec) -> SiteSpec:
    """Return a site whose nodes were delivered: their ports have MAC addresses."""
    names = [node.name for node in spec.nodes]
    hardware = {
        name: {"macs": {f"mgmt{port}": f"02:00:00:00:{number:02x}:0{port}" for port in (0, 1)}}
        for number, name in enumerate(names)
    }
    data = {**spec.sections.model_dump(exclude_unset=True), "hardware": hardware}
    return replace(spec, sections=type(spec.sections).model_validate(data))


def planned(**fabric: Any) -> SitePlan:  # noqa: ANN401
    """Return the plan of delivered nodes with two ports, in one bond."""
    fabric = {"tenants": NETWORKS, "host_mtu_bytes": 9000, **fabric}
    return plan_site(with_macs(bonded(**fabric)))


def files_of(plan: SitePlan, node: str) -> dict[str, File]:
    """Return the files of networkd and udev that a node gets, by name."""
    found = next(one for one in plan.nodes if one.name == node)
    pool = next(one for one in plan.pools if one.name == found.pool)
    files = os_files(found, pool, host_side(plan, node))
    return {
        file.path.rpartition("/")[2]: parsed(file.content or "")
        for file in files
        if file.path.startswith("/etc/systemd/network/")
    }


def parsed(text: str) -> File:
    """Read a file of systemd: keys may be there more than once, and sections too."""
    sections: File = {}
    for line in text.splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            current.append((key, value))
    return sections


def os_facts(plan: SitePlan, node: str) -> dict[str, Any]:
    """Return the facts that the role `os` settles on a node."""
    return dict(next(play.facts[node] for play in plan.plays if play.playbook == "os" and node in play.facts))


def test_n7_members_of_a_bond_have_nothing_of_their_own() -> None:
    """N7: a member has no address, no DHCP and no link-local one, in the plan, in its file and as a fact."""
    plan = planned()
    node = next(one for one in plan.nodes if one.name == "a01")
    files, facts = files_of(plan, "a01"), os_facts(plan, "a01")
    for port in ("mgmt0", "mgmt1"):
        nic = next(one for one in node.nics if one.name == port)
        assert (nic.address, nic.gateway) == (None, None)
        own = files[f"20-coldaisle-{port}.network"]
        assert own["Network"] == [
            ("Bond", "bond0"),
            ("LinkLocalAddressing", "no"),
            ("IPv6AcceptRA", "no"),
            ("DHCP", "no"),
        ]
        assert set(own) == {"Match", "Link", "Network"}
        assert facts[f"addresses.{port}"] == "none"
        assert f"address.{port}" not in facts
    carrier = files["20-coldaisle-bond0.network"]["Network"]
    assert ("Address", f"{node.management_address}/16") in carrier
    assert ("Gateway", "10.0.0.1") in carrier
    assert facts["address.bond0"] == f"{node.management_address}/16"


def test_a_bond_is_what_the_plan_says() -> None:
    """Mode, rate, hash, MTU and MAC are in the bond's file and (but the MAC) facts; its ports have its MTU (N6)."""
    plan = planned(bond={"lacp_rate": "slow", "hash_policy": "layer2+3"})
    files, facts = files_of(plan, "a01"), os_facts(plan, "a01")
    device = files["15-coldaisle-bond0.netdev"]
    assert device["NetDev"] == [
        ("Name", "bond0"),
        ("Kind", "bond"),
        ("MACAddress", "02:00:00:00:00:00"),
        ("MTUBytes", "9000"),
    ]
    assert device["Bond"][:3] == [
        ("Mode", "802.3ad"),
        ("LACPTransmitRate", "slow"),
        ("TransmitHashPolicy", "layer2+3"),
    ]
    assert {key: value for key, value in facts.items() if key.startswith("bond_")} == {
        "bond_mode.bond0": "802.3ad",
        "bond_lacp_rate.bond0": "slow",
        "bond_hash.bond0": "layer2+3",
        "bond_members.bond0": "mgmt0,mgmt1",
    }
    assert [facts[f"mtu.{port}"] for port in ("mgmt0", "mgmt1", "bond0")] == [9000] * 3
    for port in ("mgmt0", "mgmt1"):
        assert ("MTUBytes", "9000") in files[f"20-coldaisle-{port}.network"]["Link"]
        assert files[f"10-coldaisle-{port}.link"]["Match"][0][0] == "PermanentMACAddress"


def test_tenants_are_vlans_on_the_bond() -> None:
    """Each tagged network is a VLAN on the bond: with its address, with DHCP that gives no way out, or with neither."""
    plan = planned()
    files, facts = files_of(plan, "a02"), os_facts(plan, "a02")
    on_bond = [value for key, value in files["20-coldaisle-bond0.network"]["Network"] if key == "VLAN"]
    assert on_bond == ["bond0.300", "bond0.301", "bond0.302"]
    assert files["15-coldaisle-bond0.300.netdev"]["VLAN"] == [("Id", "300")]
    data = files["20-coldaisle-bond0.300.network"]
    assert ("Address", "10.73.0.3/22") in data["Network"]
    beyond = [value for key, value in data["Route"] if key == "Destination"]
    assert beyond == ["10.74.0.0/22", "192.0.2.0/24"], "a tenant's default route is not the node's"
    assert {value for key, value in data["Route"] if key == "Gateway"} == {"10.73.0.1"}
    more = files["20-coldaisle-bond0.301.network"]
    assert ("DHCP", "ipv4") in more["Network"]
    assert ("UseGateway", "no") in more["DHCPv4"]
    bare = files["20-coldaisle-bond0.302.network"]
    assert set(bare) == {"Match", "Link", "Network"}
    assert ("DHCP", "no") in bare["Network"]
    assert (facts["vlan.bond0.300"], facts["mtu.bond0.300"], facts["address.bond0.300"]) == (300, 9000, "10.73.0.3/22")
    assert "address.bond0.301" not in facts
    assert not [key for key in os_facts(plan, "b01") if key.startswith("vlan.")]


def test_without_a_bond_vlans_are_on_the_first_port() -> None:
    """The port that a node boots from keeps its address, in a file of ours, and carries the VLANs."""
    spec = overlay_site(tenants=NETWORKS)
    name = next(iter(spec.catalog.systems["dgx-h100"].nics_of("management")))
    hardware = {"a01": {"macs": {name: "02:00:00:00:00:01"}}}
    data = {**spec.sections.model_dump(exclude_unset=True), "hardware": hardware}
    plan = plan_site(replace(spec, sections=type(spec.sections).model_validate(data)))
    own = files_of(plan, "a01")[f"20-coldaisle-{name}.network"]["Network"]
    assert [value for key, value in own if key == "VLAN"] == [f"{name}.{vlan}" for vlan in (300, 301, 302)]
    assert ("Address", "10.0.1.1/16") in own
    assert os_facts(plan, "a01")[f"address.{name}"] == "10.0.1.1/16"


def test_addresses_stay_when_a_pool_grows() -> None:
    """A node more moves no address of a tenant's network, and no gateway or DHCP server is given to a node."""
    spec = overlay_site(tenants=NETWORKS)
    kept = fabric_numbers(spec)
    first = kept["fabric_f_address_red:data"]
    assert first == {"a01": "10.73.0.2", "a02": "10.73.0.3", "a03": "10.73.0.4"}
    given = {**kept, "fabric_f_address_red:data": {"a02": "10.73.0.2"}}
    assert fabric_numbers(replace(spec, allocations=given))["fabric_f_address_red:data"] == {
        "a01": "10.73.0.3",
        "a02": "10.73.0.2",
        "a03": "10.73.0.4",
    }


def test_a_site_without_bonds_plans_what_it_planned() -> None:
    """Without bonds and tenants' VLANs a node has no file and no fact of either."""
    plan = plan_site(overlay_site())
    assert host_side(plan, "nobody") == HostSide()
    assert not [key for key in os_facts(plan, "b01") if key.partition(".")[0].startswith(("bond", "addresses"))]


def listed(plan: SitePlan, columns: Iterable[str]) -> set[tuple[Any, ...]]:
    """Return some columns of the address table."""
    places = [COLUMNS.index(column) for column in columns]
    return {tuple(row[place] for place in places) for row in address_table(plan).rows}


def test_the_address_table_names_bonds_and_vlans() -> None:
    """Addresses of bonds and of VLANs are listed by their interface, and no member has one."""
    rows = listed(planned(), ("device", "port", "address"))
    assert ("a01", "bond0", "10.0.1.1/16") in rows
    assert ("a01", "bond0.300", "10.73.0.2/22") in rows
    assert not {port for _, port, _ in rows} & {"mgmt0", "mgmt1"}


@pytest.mark.parametrize("node", ["a01", "b03"])
def test_sides_are_found_by_node(node: str) -> None:
    """A node's side is all of its own and nothing of another's."""
    plan = planned()
    side = host_side(plan, node)
    every: list[BondPlan] = [bond for bond in plan.fabrics["f"].bonds if bond.device == node]
    assert list(side.bonds) == every
    assert len(side.interfaces) == (3 if node == "a01" else 0)


# -- checks -------------------------------------------------------------------------------------------------------
def test_a_leaf_shares_bonds_with_the_same_leaves_only() -> None:
    """A leaf in two pairs is told, since the loss of either partner reaches nodes of both."""
    spec = with_macs(bonded(**PAIRS, tenants=NETWORKS))
    plan = plan_site(spec)
    assert list(check_leaf_pairs(spec, plan)) == []
    first, second, *others = plan.fabrics["f"].bonds
    crossed = replace(second, members=(second.members[0], End(device="leaf09", port="Ethernet1/1")))
    fabric = replace(plan.fabrics["f"], bonds=(first, crossed, *others))
    (found,) = check_leaf_pairs(spec, replace(plan, fabrics={"f": fabric}))
    assert (found.check, found.what) == (
        "leaf-pairs",
        "leaf01 shares bonds with leaf01 + leaf02 and with leaf01 + leaf09",
    )


@pytest.mark.parametrize(("leaves", "told"), [(2, []), (1, ["leaf-pairs"])])
def test_a_bond_ends_on_as_many_leaves_as_asked(leaves: int, told: list[str]) -> None:
    """Two rails of one node lead to a pair of leaves."""
    spec = bonded(**PAIRS, tenants=NETWORKS, bond={"leaves": leaves})
    assert [found.check for found in check_leaf_pairs(spec, plan_site(spec))] == told


def test_names_end_where_linux_ends_them() -> None:
    """A VLAN's name may have 15 characters, which a bond's ten leave room for and a port's may not."""
    spec = bonded(tenants=NETWORKS, bond={"name": "bond-inner"})
    plan = plan_site(spec)
    assert list(check_interface_names(spec, plan)) == []
    overlay = plan.fabrics["f"].overlay
    assert overlay is not None
    long = tuple(replace(one, name=f"mgmt-port-00.{one.vlan}") for one in overlay.interfaces)
    fabric = replace(plan.fabrics["f"], overlay=replace(overlay, interfaces=long))
    (found,) = check_interface_names(spec, replace(plan, fabrics={"f": fabric}))
    assert "a01 would have mgmt-port-00.300" in found.what


def test_a_bmc_is_in_no_bond() -> None:
    """A fabric that connects BMCs too bonds the other ports of a node only."""
    spec = bonded(topology="single", switch={"model": "sn2201"}, overlay=None, connects=["management", "bmc"])
    pair = spec.catalog.systems["pair"]
    bmc = pair.nics["mgmt0"].model_copy(update={"role": "bmc"})
    systems = {**spec.catalog.systems, "pair": pair.model_copy(update={"nics": {"bmc": bmc, **pair.nics}})}
    plan = plan_site(replace(spec, catalog=spec.catalog.model_copy(update={"systems": systems})))
    assert "bmc" in {cable.a.port for cable in plan.fabrics["f"].cables}
    assert {bond.ports for bond in plan.fabrics["f"].bonds} == {("mgmt0", "mgmt1")}
