"""Checks of bonds and of the nodes' own side of a fabric: what LACP, leaves and hosts need, and names that fit."""

from __future__ import annotations

import ipaddress
from collections import Counter, defaultdict
from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.host_side import address_kind, fabric_side, host_side, node_addresses
from coldaisle.plan.model import SitePlan
from coldaisle.spec.marks import Loc
from coldaisle.spec.overlay import TenantNetwork
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

NAME_CHARACTERS = 15
"""Longest name of an interface: IFNAMSIZ of the Linux kernel is 16 with the zero behind it."""


def _asked(spec: SiteSpec) -> Iterator[tuple[str, str, TenantNetwork, Loc]]:
    """Yield the fabric of each tenant's network, the network's name, what the spec says of it, and where."""
    for fabric, one in spec.fabrics.items():
        for tenant, asked in one.overlay.tenants.items() if one.overlay else ():
            for name, network in asked.networks.items():
                loc = ("fabrics", fabric, "overlay", "tenants", tenant, "networks", name)
                yield fabric, f"{tenant}:{name}", network, loc


# -- leaves -----------------------------------------------------------------------------------------------------
def check_bonds(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Bonds over several leaves have what they need, and let a node boot (N4)."""
    boot_ports = {(node.name, node.boot_nic) for node in plan.nodes if node.boot == "network"}
    for name, fabric in plan.fabrics.items():
        loc: Loc = ("fabrics", name, "bond")
        split = [bond for bond in fabric.bonds if bond.multihomed]
        if split and fabric.overlay is None:
            what = f"the bond of {split[0].device} ends on several switches, which share it over an overlay only"
            fix = "give the fabric an overlay, or all ports of a node to one switch"
            yield finding(spec, loc, "bond-without-overlay", what=what, fix=fix)
        if split and any(switch.network_os == "sonic" for switch in fabric.switches):
            what = f"the bond of {split[0].device} ends on several leaves, which is not written for SONiC"
            fix = "take another network_os, or give all ports of a node to one leaf"
            yield finding(spec, loc, "overlay-os", what=what, fix=fix)
        booting = {cable.a.device for cable in fabric.cables if (cable.a.device, cable.a.port) in boot_ports}
        dark = [bond.device for bond in fabric.bonds if not bond.lacp_fallback and bond.device in booting]
        if dark:
            what = f"{dark[0]} boots over a bond that passes nothing before LACP speaks, which no firmware does"
            fix = "set lacp_fallback: true"
            yield finding(spec, (*loc, "lacp_fallback"), "lag-without-fallback", what=what, fix=fix)


def check_leaf_pairs(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each bond ends on as many leaves as asked for, and a leaf shares bonds with the same other leaves only."""
    for name, fabric in plan.fabrics.items():
        asked, loc = spec.fabrics[name].bond, ("fabrics", name, "bond")
        partners: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for bond in fabric.bonds:
            leaves = tuple(sorted({end.device for end in bond.members}))
            for leaf in leaves if bond.multihomed else ():
                partners[leaf].add(leaves)
        sizes = {len({end.device for end in bond.members}): bond.device for bond in fabric.bonds}
        wrong = [(size, device) for size, device in sizes.items() if asked and asked.leaves not in {None, size}]
        if asked and wrong:
            size, device = wrong[0]
            what = f"the bond of {device} ends on {counted(size, 'leaf', 'leaves')}, and {asked.leaves} are asked for"
            fix = f"rail_optimized with {asked.leaves} rails puts a node's ports on leaves of their own"
            yield finding(spec, (*loc, "leaves"), "leaf-pairs", what=what, fix=fix)
        shared = next((pair for pair in sorted(partners.items()) if len(pair[1]) > 1), None)
        if shared:
            leaf, sets = shared
            what = f"{leaf} shares bonds with {' and with '.join(' + '.join(other) for other in sorted(sets))}"
            fix = "give all nodes of a leaf their other ports on the same leaves: what one loss takes stays one group"
            yield finding(spec, loc, "leaf-pairs", what=what, fix=fix)


def check_bond_members(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """All ports of a bond run at one rate, since LACP takes those of one rate only."""
    for name, fabric in plan.fabrics.items():
        rates = {cable.a: cable.rate_gbps for cable in fabric.cables} if fabric.bonds else {}
        of_node: defaultdict[str, dict[float, str]] = defaultdict(dict)
        for end, rate in rates.items():
            of_node[end.device][rate] = end.port
        for bond in fabric.bonds:
            found = of_node[bond.device]
            if len(found) > 1:
                ports = " and ".join(f"{port} at {rate:g} Gb/s" for rate, port in sorted(found.items()))
                what = f"the bond of {bond.device} has {ports}, and LACP takes ports of one rate only"
                fix = "give the fabric ports of one rate (connects), or no bond"
                yield finding(spec, ("fabrics", name, "bond"), "bond-members", what=what, fix=fix)
                break


# -- hosts ------------------------------------------------------------------------------------------------------
def check_interface_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Interfaces of a node have names that the kernel takes, and no two have the same; one node stands for all."""
    for node in plan.nodes:
        side = host_side(plan, node.name)
        if not side.bonds and not side.interfaces:
            continue
        made = [interface.name for interface in side.interfaces if interface.vlan is not None]
        names = Counter([*(nic.name for nic in node.nics), *(bond.name for bond in side.bonds), *made])
        twice = next((bond.name for bond in side.bonds if names[bond.name] > 1), None)
        long = next((name for name in made if len(name) > NAME_CHARACTERS), None)
        if twice:
            what = f"{node.name} has two interfaces named {twice}"
            loc: Loc = ("fabrics", _fabric_of_bond(plan, node.name, twice), "bond", "name")
            yield finding(spec, loc, "interface-name", what=what, fix="give the bond a name that nothing else has")
            return
        if long:
            what = f"{node.name} would have {long}, and a name of Linux ends after {NAME_CHARACTERS} characters"
            fix = f"give the port of {node.system} a shorter name in the catalog"
            yield finding(spec, ("node_pools", node.pool), "interface-name", what=what, fix=fix)
            return


def _fabric_of_bond(plan: SitePlan, node: str, bond: str) -> str:
    """Return the last fabric on which a node has a bond of a name."""
    return [
        fabric.name for fabric in plan.fabrics.values() if bond in {b.name for b in fabric_side(fabric, node).bonds}
    ][-1]


def check_host_mtu(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No VLAN of a node sends longer frames than the port below it."""
    for name, fabric in plan.fabrics.items():
        below = spec.fabrics[name].node_mtu_bytes
        found = fabric.overlay.interfaces if fabric.overlay and below else ()
        worst = max(found, key=lambda one: one.mtu_bytes, default=None)
        if worst is not None and below is not None and worst.mtu_bytes > below:
            tenant, _, network = worst.network.partition(":")
            what = f"{worst.name} of {worst.device} sends {worst.mtu_bytes} bytes, and the port below it {below}"
            fix = f"raise host_mtu_bytes of the fabric to {worst.mtu_bytes}, or lower mtu_bytes of the network"
            loc = ("fabrics", name, "overlay", "tenants", tenant, "networks", network, "mtu_bytes")
            yield finding(spec, loc, "mtu-mismatch", what=what, fix=fix)


def check_management_without_tag(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The port that a node boots from has its management address without a tag, and no other address beside it."""
    boots = {node.name: (node.pool, node.boot_nic) for node in plan.nodes}
    for fabric, title, network, loc in _asked(spec):
        ends = (cable.a for cable in plan.fabrics[fabric].cables)
        pools = {boots[end.device][0] for end in ends if boots.get(end.device, ("", ""))[1] == end.port}
        tagged = sorted(pools.intersection(network.tagged.pools)) if network.addressing else []
        beside = sorted(pools.intersection(network.untagged.pools)) if network.node_addresses else []
        if tagged:
            what = f"pool {tagged[0]} boots from ports that carry {title} with a tag, which no firmware sends"
            yield finding(spec, (*loc, "tagged"), "port-networks", what=what, fix="put the pool under untagged")
        if beside:
            what = f"pool {beside[0]} has its management address on the ports that carry {title} without a tag"
            yield finding(spec, (*loc, "untagged"), "port-networks", what=what, fix="put the pool under tagged")


def check_node_addresses(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every address that a tenant's network hands out lies in its subnet, and stands in allocations.yaml or nowhere."""
    del plan
    for fabric, title, network, loc in _asked(spec):
        given = node_addresses(spec, fabric, title, network)
        subnet = ipaddress.ip_network(network.subnet or "0.0.0.0/32")
        outside = [node for node, address in given.items() if not _is_host(subnet, address)]
        if outside:
            what = f"{subnet} of {title} is too small: {outside[0]} gets {given[outside[0]]}"
            fix = "give a larger subnet, or a lower first_node_address"
            yield finding(spec, (*loc, "subnet"), "pool-too-small", what=what, fix=fix)
        known = spec.allocations.get(address_kind(fabric, title), {})
        missing = [node for node in given if node not in known]
        if missing and spec.allocations:
            what = f"the address of {missing[0]} in {title} is not in allocations.yaml: a new node may move it"
            fix = f"run coldaisle plan {spec.site.name} --allocate, and commit the file"
            yield finding(spec, (*loc, "node_addresses"), "not-allocated", what=what, fix=fix, severity="warning")


def _is_host(subnet: ipaddress.IPv4Network | ipaddress.IPv6Network, address: str) -> bool:
    found = ipaddress.ip_address(address)
    return found in subnet and found not in {subnet.network_address, subnet.broadcast_address}


BOND_CHECKS = (
    check_bonds,
    check_leaf_pairs,
    check_bond_members,
    check_interface_names,
    check_host_mtu,
    check_management_without_tag,
    check_node_addresses,
)
