"""
Tenants of a fabric as people write them: networks and their gateways, carried over VXLAN with EVPN as control plane.

A number that is left out is handed out of a pool and kept in allocations.yaml; one that is written down is taken as it
is, and checks tell where two clash.
"""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from coldaisle.spec.addressing import AddressPool
from coldaisle.spec.base import Address, Mac, SpecModel, Subnet, mistake, refers_to

FIRST_VLAN, LAST_VLAN = 2, 4094
Vlan = Annotated[int, Field(ge=FIRST_VLAN, le=LAST_VLAN)]
"""VLAN 1 is every switch's own default."""
Vni = Annotated[int, Field(ge=1, le=16777214)]
"""A VNI has 24 bits (RFC 7348)."""
Mtu = Annotated[int, Field(ge=1280, le=9216)]
TenantName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=11)]
"""A tenant is a VRF, and so an interface of Linux, whose names end after 15 characters; SONiC writes Vrf- before it."""
NetworkName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=20)]
"""With its tenant's name the name of a VLAN, which EOS ends after 32 characters."""


def _ipv4(subnet: str) -> str:
    if ipaddress.ip_network(subnet).version != 4:  # noqa: PLR2004 - the IP version
        raise mistake("bad-overlay", f"{subnet} is IPv6, and overlays are IPv4 here", "give an IPv4 subnet")
    return subnet


def first_address(subnet: str) -> str:
    """Return the first address of a host in a subnet."""
    network = ipaddress.ip_network(subnet)
    return str(network[min(1, network.num_addresses - 1)])


class NumberRange(SpecModel):
    """A pool of numbers: VLANs or VNIs, handed out from `first` upwards."""

    first: Annotated[int, Field(ge=1, le=16777214)]
    last: Annotated[int, Field(ge=1, le=16777214)]

    @model_validator(mode="after")
    def _counts_up(self) -> Self:
        if self.last < self.first:
            raise mistake("bad-value", f"last {self.last} is below first {self.first}", "write the lower one as first")
        return self


class OverlayPools(SpecModel):
    """
    Where an overlay's numbers come from.

    The defaults keep clear of the VLANs that systems use themselves: EOS those of its routed ports, from 1006 to 1199
    here, and Cumulus Linux 3725 to 3999 (Cumulus Linux User Guide, reserved VLAN range).
    """

    vlans: NumberRange = NumberRange(first=100, last=999)
    """VLANs of tenants' networks."""
    transit_vlans: NumberRange = NumberRange(first=2000, last=2999)
    """VLANs that the routed traffic of a tenant takes inside of a switch, one for each tenant."""
    l2_vnis: NumberRange = NumberRange(first=10000, last=19999)
    """VNIs of networks."""
    l3_vnis: NumberRange = NumberRange(first=50000, last=59999)
    """VNIs of tenants' routed traffic."""

    @field_validator("vlans", "transit_vlans")
    @classmethod
    def _vlans_exist(cls, value: NumberRange) -> NumberRange:
        if value.first < FIRST_VLAN or value.last > LAST_VLAN:
            what = f"VLANs {value.first} to {value.last} are not all VLANs"
            raise mistake("bad-value", what, f"keep them between {FIRST_VLAN} and {LAST_VLAN}")
        return value


class NetworkPorts(SpecModel):
    """Whose ports on the fabric carry a network: those of all nodes of some pools, and of some devices."""

    pools: list[Annotated[str, refers_to("pool")]] = Field(default_factory=list)
    devices: list[Annotated[str, refers_to("device")]] = Field(default_factory=list)


class TenantNetwork(SpecModel):
    """
    A network of a tenant: a VLAN on the leaves that need it, joined by a VNI, and a gateway that each of them is.

    Without a subnet it has no gateway, and its hosts reach each other only.
    """

    subnet: Subnet | None = None
    addressing: Literal["management"] | None = None
    """Take subnet and gateway of `addressing.management` instead, whose addresses the nodes have."""
    gateway: Address | None = None
    """Address that every leaf answers for; left out, the first of the subnet."""
    vlan: Vlan | None = None
    vni: Vni | None = None
    untagged: NetworkPorts = NetworkPorts()
    tagged: NetworkPorts = NetworkPorts()
    mtu_bytes: Mtu | None = None
    """MTU of the gateway; left out, that of the nodes' ports."""
    dhcp_relay: bool = False
    """Pass DHCP requests on to the site's boot services (`provisioning.host_address`)."""
    dhcp_servers: list[Address] = Field(default_factory=list)
    """Pass DHCP requests on to these instead; they lie in a network of the same tenant."""
    node_addresses: bool = False
    """Give each node an address of the subnet, kept in allocations.yaml; else nodes have one by DHCP, or none."""
    first_node_address: Address | None = None
    """First address that a node is given; left out, the first of the subnet that is not the gateway's."""

    @field_validator("subnet")
    @classmethod
    def _subnet_is_ipv4(cls, value: str | None) -> str | None:
        return value if value is None else _ipv4(value)

    @model_validator(mode="after")
    def _gateway_inside(self) -> Self:
        if self.subnet is not None and self.addressing is not None:
            raise mistake("bad-value", "there are both subnet and addressing", "keep one of the two")
        if self.gateway is not None and self.subnet is None:
            raise mistake("bad-value", "there is a gateway but no subnet", "give subnet, or remove gateway")
        if self.gateway is not None and self.subnet is not None:
            network = ipaddress.ip_network(self.subnet)
            if ipaddress.ip_address(self.gateway) not in network:
                fix = f"give an address inside of {self.subnet}"
                raise mistake("address-outside-pool", f"gateway {self.gateway} is not in {self.subnet}", fix)
        return self

    @model_validator(mode="after")
    def _addresses_have_a_subnet(self) -> Self:
        if self.node_addresses and self.subnet is None:
            what = "node_addresses gives addresses of a subnet, and there is none"
            raise mistake("bad-value", what, "give subnet; with addressing, nodes have their address already")
        first = self.first_node_address
        if first is not None and not self.node_addresses:
            raise mistake("bad-value", "there is first_node_address, and nodes get none", "set node_addresses: true")
        if first is not None and ipaddress.ip_address(first) not in ipaddress.ip_network(self.subnet or ""):
            what = f"first_node_address {first} is not in {self.subnet}"
            raise mistake("address-outside-pool", what, f"give an address inside of {self.subnet}")
        return self

    @property
    def gateway_address(self) -> str | None:
        """Return the address that every leaf answers for on the network's own subnet; None without one."""
        return self.subnet and (self.gateway or first_address(self.subnet))


class TenantExit(SpecModel):
    """
    A way out of a tenant: a route to what is beyond it, through a router that stands in one of its networks.

    Every leaf that has the network has the route, and tells the other leaves of it. The router knows the way back.
    """

    to: Subnet = "0.0.0.0/0"
    """What it leads to; left out, everything that the tenant does not have itself."""
    via: Address
    """The router's address in a network of the tenant: a firewall, or the site's border."""

    @field_validator("to")
    @classmethod
    def _to_is_ipv4(cls, value: str) -> str:
        return _ipv4(value)


class Tenant(SpecModel):
    """A tenant: a VRF on every leaf that has one of its networks, so that no packet of one tenant meets another's."""

    vni: Vni | None = None
    """VNI of its routed traffic."""
    networks: dict[NetworkName, TenantNetwork] = Field(min_length=1)
    exits: list[TenantExit] = Field(default_factory=list)
    """Ways out; left out, nothing leads out of the tenant, and nothing into it."""


class OverlaySpec(SpecModel):
    """
    EVPN-VXLAN of a fabric (RFC 7348, RFC 8365): leaves are the ends of tunnels, and spines pass their routes on.

    Route targets are `route_target_asn` and the VNI; its default is the first private number of 16 bits (RFC 6996),
    because a leaf's own number differs from every other leaf's. Route distinguishers are the router id and the VLAN.
    """

    vteps: AddressPool
    """Where the leaves' tunnel addresses come from: a loopback for each, beside the one that it routes with."""
    pools: OverlayPools = OverlayPools()
    route_target_asn: Annotated[int, Field(ge=1, le=65535)] = 64512
    gateway_mac: Mac = "02:00:5e:00:00:01"
    """MAC of every gateway on every leaf: a local one, and ours, so that a host that moves keeps its entry."""
    arp_suppression: bool = True
    """Leaves answer ARP for hosts that they know instead of flooding it."""
    tenants: dict[TenantName, Tenant] = Field(min_length=1)

    @field_validator("vteps")
    @classmethod
    def _vteps_are_ipv4(cls, value: AddressPool) -> AddressPool:
        _ipv4(value.subnet)
        return value


class BondSpec(SpecModel):
    """
    The ports that a node has on the fabric form one LACP bond.

    Ports on several leaves are an EVPN Ethernet segment (RFC 7432), which needs an overlay. `lacp_fallback` lets a port
    pass frames before LACP speaks, as firmware that boots over the network needs.
    """

    lacp_fallback: bool = True
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=10)] = "bond0"
    """The node's interface: ten characters, so that a point and a VLAN behind them fit into Linux's fifteen."""
    lacp_rate: Literal["fast", "slow"] = "fast"
    """
    How often both ends ask for LACP's frames: each second, or every 30 (Linux, bonding documentation, `lacp_rate`). A
    link that died without a word is left after three of them.
    """
    hash_policy: Literal["layer2", "layer2+3", "layer3+4"] = "layer3+4"
    """What a node chooses a flow's port by: with ports and not only MACs, flows to one gateway take all links."""
    leaves: Annotated[int, Field(ge=1, le=4)] | None = None
    """Leaves that each bond ends on, 2 for redundant pairs; left out, as many as the node's rails lead to."""
    multihoming: Literal["evpn", "mlag"] = "evpn"
    """How leaves share a bond: as an EVPN Ethernet segment, which needs no link between them."""
    system_mac: Mac = "02:00:5e:00:01:01"
    """MAC that all leaves of a bond show to its node: a local one, and ours."""

    @model_validator(mode="after")
    def _is_evpn(self) -> Self:
        if self.multihoming == "mlag":
            what = "leaves share bonds as EVPN Ethernet segments, and MLAG is written for no system"
            raise mistake("bad-bond", what, "leave multihoming out, and give the fabric an overlay")
        return self
