"""
The nodes' own side of a fabric's bonds and tenants: interfaces with VLANs and addresses on top of their ports.

A node that has several ports on the fabric and no bond has a tenant's interfaces on the first of them: one address can
be on one port only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from coldaisle.plan.allocations import hand_out
from coldaisle.plan.management import DEFAULT_MTU_BYTES, boot_nic
from coldaisle.plan.model import BondPlan, CablePlan, FabricPlan, InterfacePlan, NodePlan, SitePlan, TenantNetworkPlan
from coldaisle.spec.addressing import AddressPool
from coldaisle.spec.overlay import Tenant, TenantNetwork
from coldaisle.spec.sections import SiteSpec

_OfDevice = TypeVar("_OfDevice", BondPlan, InterfacePlan)
_BY_DEVICE = attrgetter("device")


@dataclass(frozen=True, slots=True)
class HostSide:
    """The bonds of one node, and its interfaces on tenants' networks."""

    bonds: tuple[BondPlan, ...] = ()
    interfaces: tuple[InterfacePlan, ...] = ()

    @property
    def bond_of(self) -> dict[str, BondPlan]:
        """Return the bond that each member is in, by the member's name."""
        return {port: bond for bond in self.bonds for port in bond.ports}


def host_side(plan: SitePlan, node: str) -> HostSide:
    """Return a node's bonds and interfaces on all fabrics."""
    sides = [fabric_side(fabric, node) for fabric in plan.fabrics.values() if fabric.bonds or fabric.overlay]
    return HostSide(
        tuple(bond for side in sides for bond in side.bonds),
        tuple(interface for side in sides for interface in side.interfaces),
    )


def fabric_side(fabric: FabricPlan, node: str) -> HostSide:
    """Return a node's bond and interfaces on one fabric."""
    interfaces = fabric.overlay.interfaces if fabric.overlay else ()
    return HostSide(tuple(_of_device(fabric.bonds, node)), tuple(_of_device(interfaces, node)))


def _of_device(found: Sequence[_OfDevice], device: str) -> Sequence[_OfDevice]:
    """Return those of one device, out of many that are sorted by device."""
    return found[bisect_left(found, device, key=_BY_DEVICE) : bisect_right(found, device, key=_BY_DEVICE)]


def network_facts(node: NodePlan, side: HostSide) -> dict[str, str | int | bool]:
    """
    Return what a node's bonds and tenants' interfaces must be, in the order in which a host can make it true.

    Bonds come first, since nothing stands on one that is not there; members follow, which have no address (N7).
    """
    facts: dict[str, str | int | bool] = {}
    for bond in side.bonds:
        facts[f"bond_mode.{bond.name}"] = bond.mode
        facts[f"bond_lacp_rate.{bond.name}"] = bond.lacp_rate
        facts[f"bond_hash.{bond.name}"] = bond.hash_policy
        facts[f"bond_members.{bond.name}"] = ",".join(sorted(bond.ports))
        facts |= {f"addresses.{port}": "none" for port in bond.ports}
        facts[f"mtu.{bond.name}"] = bond.mtu_bytes
        facts |= {f"address.{bond.name}": bond.address} if bond.address else {}
    for interface in side.interfaces:
        if interface.vlan is not None:
            facts[f"vlan.{interface.name}"] = interface.vlan
            facts[f"mtu.{interface.name}"] = interface.mtu_bytes
        facts |= {f"address.{interface.name}": interface.address} if interface.address else {}
    vlans = {interface.parent for interface in side.interfaces}
    return facts | {f"address.{nic.name}": nic.address for nic in node.nics if nic.name in vlans and nic.address}


# -- addresses --------------------------------------------------------------------------------------------------
def address_kind(fabric: str, network: str) -> str:
    """Return the name that allocations.yaml has for the addresses of nodes in a network, `tenant:network`."""
    return f"fabric_{fabric}_address_{network}"


def tenant_addresses(spec: SiteSpec, fabric: str) -> dict[str, dict[str, str]]:
    """Return the addresses that a fabric's tenants' networks hand out, by their kind and the node's name."""
    networks = _asked(spec, fabric)
    found = {address_kind(fabric, name): node_addresses(spec, fabric, name, one) for name, one in networks.items()}
    return {kind: addresses for kind, addresses in found.items() if addresses}


def _asked(spec: SiteSpec, fabric: str) -> dict[str, TenantNetwork]:
    overlay = spec.fabrics[fabric].overlay
    tenants = overlay.tenants.items() if overlay else ()
    return {f"{tenant}:{name}": one for tenant, asked in tenants for name, one in asked.networks.items()}


def node_addresses(spec: SiteSpec, fabric: str, name: str, network: TenantNetwork) -> dict[str, str]:
    """Return the address of each node in a network that hands them out, without prefix length; none in any other."""
    if not network.node_addresses or network.subnet is None:
        return {}
    pools = {*network.untagged.pools, *network.tagged.pools}
    names = [node.name for node in spec.nodes if node.pool in pools]
    pool = AddressPool(subnet=network.subnet, first=network.first_node_address, gateway=network.gateway_address)
    return hand_out(pool, names, spec.allocations.get(address_kind(fabric, name), {}), network.dhcp_servers)


# -- interfaces -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Parent:
    """What a node's interfaces on a fabric stand on: its bond, or its first port there."""

    device: str
    pool: str
    name: str
    mtu_bytes: int
    management: bool


def plan_interfaces(
    spec: SiteSpec,
    fabric: str,
    networks: Sequence[TenantNetworkPlan],
    cables: Iterable[CablePlan],
    bonds: Iterable[BondPlan],
) -> tuple[InterfacePlan, ...]:
    """
    Return the interfaces that nodes have on a fabric's tenants' networks, sorted by node and name.

    Args:
        spec: The site.
        fabric: The fabric's name.
        networks: The networks of its overlay.
        cables: Its cables, which say which ports a node has on it.
        bonds: Its bonds, which take the place of their ports.
    """
    overlay = spec.fabrics[fabric].overlay
    parents, asked = tuple(_parents(spec, cables, bonds)), _asked(spec, fabric)
    ways = {tenant: _ways_out(one) for tenant, one in overlay.tenants.items()} if overlay else {}
    found: list[InterfacePlan] = []
    for network in networks:
        name = f"{network.tenant}:{network.name}"
        routes = tuple(sorted({*_others(network, networks), *(ways[network.tenant] if network.gateway else ())}))
        addresses = node_addresses(spec, fabric, name, asked[name])
        found += _of_network(network, asked[name], parents, addresses, routes)
    return tuple(sorted(found, key=attrgetter("device", "name")))


def _parents(spec: SiteSpec, cables: Iterable[CablePlan], bonds: Iterable[BondPlan]) -> Iterator[_Parent]:
    nodes = {node.name: node for node in spec.nodes}
    bonded = {bond.device: bond for bond in bonds}
    for device, cable in _first_cables(cables, nodes).items():
        node, bond = nodes[device], bonded.get(device)
        boot, mtu_bytes = boot_nic(spec.catalog.systems[node.system]), cable.mtu_bytes or DEFAULT_MTU_BYTES
        if bond is None:
            yield _Parent(device, node.pool, cable.a.port, mtu_bytes, cable.a.port == boot)
        else:
            yield _Parent(device, node.pool, bond.name, bond.mtu_bytes, bond.address is not None)


def _first_cables(cables: Iterable[CablePlan], nodes: Container[str]) -> dict[str, CablePlan]:
    """Return the first cable of each node."""
    found: dict[str, CablePlan] = {}
    for cable in cables:
        if cable.kind == "node-leaf" and cable.a.device in nodes:
            found.setdefault(cable.a.device, cable)
    return found


def _ways_out(tenant: Tenant) -> list[str]:
    """Return what a tenant's exits lead to; a default route stays the management network's."""
    return [way.to for way in tenant.exits if not way.to.endswith("/0")]


def _others(network: TenantNetworkPlan, networks: Iterable[TenantNetworkPlan]) -> Iterator[str]:
    """Yield the subnets of the tenant's other networks, which a gateway leads to."""
    for one in networks if network.gateway else ():
        if one.tenant == network.tenant and one.subnet is not None and one.subnet != network.subnet:
            yield one.subnet


def _of_network(
    network: TenantNetworkPlan,
    asked: TenantNetwork,
    parents: Iterable[_Parent],
    addresses: Mapping[str, str],
    routes: tuple[str, ...],
) -> Iterator[InterfacePlan]:
    """Yield the interfaces of a network; a port without a tag that has nothing to do there is none."""
    # Whose subnet is the management network's have their address of it already, on the port that they boot from.
    dhcp = bool(network.relays) and not addresses and asked.addressing is None
    reached = routes if addresses or dhcp else ()
    for parent in parents:
        tagged = parent.pool in asked.tagged.pools
        untagged = parent.pool in asked.untagged.pools and not parent.management and (dhcp or bool(addresses))
        if tagged or untagged:
            length = (network.subnet or "").partition("/")[2]
            yield InterfacePlan(
                device=parent.device,
                name=f"{parent.name}.{network.vlan}" if tagged else parent.name,
                parent=parent.name if tagged else None,
                vlan=network.vlan if tagged else None,
                network=f"{network.tenant}:{network.name}",
                mtu_bytes=network.mtu_bytes or parent.mtu_bytes,
                address=f"{addresses[parent.device]}/{length}" if addresses else None,
                dhcp=dhcp,
                gateway=network.gateway.partition("/")[0] if network.gateway and reached else None,
                routes=reached,
            )
