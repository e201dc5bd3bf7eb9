"""The tenants of a fabric: networks over EVPN-VXLAN, the leaves that carry them, and bonds of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.model.links import End


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitPlan:
    """
    A way out of a tenant: the route that every leaf with VLAN `vlan`, in which the router `via` stands, tells others.

    `vlan` is None where no network of the tenant has that address.
    """

    to: str
    via: str
    vlan: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPlan:
    """
    A tenant: a VRF, the VNI of its routed traffic, and the VLAN that this takes inside of a switch.

    Every leaf imports and exports routes with `route_target`. Without `exits`, nothing leads out of it.
    """

    name: str
    vni: int
    transit_vlan: int
    route_target: str
    exits: tuple[ExitPlan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantNetworkPlan:
    """
    A network of a tenant: its VLAN and VNI, and the gateway that every leaf with the VLAN is.

    `gateway` has its prefix length; without one the network is not routed. `relays` are the servers that DHCP requests
    go on to.
    """

    tenant: str
    name: str
    vlan: int
    vni: int
    route_target: str
    subnet: str | None
    gateway: str | None
    mtu_bytes: int | None
    relays: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VtepVlanPlan:
    """
    A VLAN on a leaf, a network's or a tenant's for routed traffic, with its route distinguisher.

    The distinguisher is the leaf's router id and the VLAN: no leaf has a VLAN twice, and no router id has two leaves.
    """

    vlan: int
    route_distinguisher: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VtepPlan:
    """The end of tunnels on a leaf: its address, and the VLANs of networks and of routed tenants that it has."""

    switch: str
    address: str | None
    networks: tuple[VtepVlanPlan, ...]
    tenants: tuple[VtepVlanPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortVlansPlan:
    """The VLANs of a leaf's port: one without a tag at most, and others with theirs."""

    port: End
    untagged: int | None
    tagged: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvpnSessionPlan:
    """A BGP session between the loopbacks of two switches that a cable joins, `lower` in the lower tier."""

    lower: str
    upper: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePlan:
    """
    An interface of a node on a tenant's network: a VLAN on `parent`, or (both None) a port or bond by itself.

    `address` has its prefix length; without one it comes by DHCP, or there is none. `routes` are the subnets that the
    node reaches through `gateway`, which is nobody's default.
    """

    device: str
    name: str
    parent: str | None
    vlan: int | None
    network: str
    mtu_bytes: int
    address: str | None
    dhcp: bool
    gateway: str | None
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayPlan:
    """
    EVPN-VXLAN of a fabric.

    `sessions` are one for each pair of switches that meet, whatever the number of their cables. `interfaces` are the
    nodes' own, sorted by node.
    """

    gateway_mac: str
    arp_suppression: bool
    tenants: tuple[TenantPlan, ...]
    networks: tuple[TenantNetworkPlan, ...]
    vteps: tuple[VtepPlan, ...]
    ports: tuple[PortVlansPlan, ...]
    sessions: tuple[EvpnSessionPlan, ...]
    interfaces: tuple[InterfacePlan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BondPlan:
    """
    The ports of a node as one LACP bond: `number` names it on each of its switches, `name` on the node.

    `members` are the switches' ends and `ports` the node's, in one order. `multihomed` says that they end on several
    leaves, which then are an Ethernet segment of the bond's number and show the node `system_mac`. `lacp_fallback` lets
    a port pass frames before LACP speaks. `mtu_bytes` is that of the node's bond and of each of its ports, which have
    no address: where the boot port is one of them, the bond has the management address, with its prefix length.
    """

    device: str
    number: int
    members: tuple[End, ...]
    multihomed: bool
    system_mac: str
    lacp_fallback: bool
    lacp_rate: Literal["fast", "slow"]
    name: str
    ports: tuple[str, ...]
    hash_policy: Literal["layer2", "layer2+3", "layer3+4"]
    mtu_bytes: int
    mac: str | None
    address: str | None
    gateway: str | None
    mode: Literal["802.3ad"] = "802.3ad"
