"""
The configuration of a routed switch for FRR: interfaces, loopback and eBGP to every switch beside it.

FRR sets addresses, not the size of frames: whoever makes the links gives them the MTU that `switch_ports` says. Of an
overlay it has the sessions, VNIs and tenants; bridges, VXLAN devices, VLAN interfaces and bonds are the links' maker's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from coldaisle.paths import packaged
from coldaisle.plan.model import BondPlan, CablePlan, FabricPlan, SitePlan, SwitchPlan
from coldaisle.render.overlay import EVPN_HOPS, switch_overlays


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """A cabled port of a switch, seen from the switch: its address and its peer, who may be a node."""

    name: str
    address: str | None
    mtu_bytes: int | None
    peer: str
    peer_port: str
    peer_address: str | None
    peer_is_switch: bool
    rate_gbps: float = 0


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A BGP session: the other switch's address, or the own port where links have none, and autonomous system."""

    address: str
    asn: int
    name: str
    port: str
    unnumbered: bool = False


def find_switch(plan: SitePlan, fabric: str, switch_name: str) -> SwitchPlan:
    """
    Return a switch of a plan.

    Raises:
        LookupError: there is no such fabric or switch.
    """
    if fabric not in plan.fabrics:
        raise LookupError(f"there is no fabric {fabric}; known: {', '.join(sorted(plan.fabrics))}")
    for switch in plan.fabrics[fabric].switches:
        if switch.name == switch_name:
            return switch
    raise LookupError(f"fabric {fabric} has no switch {switch_name}")


def switch_ports(plan: SitePlan, fabric: str, switch_name: str) -> tuple[SwitchPort, ...]:
    """
    Return the cabled ports of a switch in the order of the cables. The MTU is the switch's, at both tiers.

    Raises:
        LookupError: there is no such fabric or switch.
    """
    switch = find_switch(plan, fabric, switch_name)
    switches = {other.name for other in plan.fabrics[fabric].switches}
    return tuple(
        port_of_cable(switch, cable, switches)
        for cable in plan.fabrics[fabric].cables
        if switch_name in {cable.a.device, cable.b.device}
    )


def port_of_cable(switch: SwitchPlan, cable: CablePlan, switches: Container[str]) -> SwitchPort:
    """Return a cable as one of its switches sees it; `switches` are the names of all switches of the fabric."""
    if cable.a.device == switch.name:
        own, own_address, peer, peer_address = cable.a, cable.a_address, cable.b, cable.b_address
    else:
        own, own_address, peer, peer_address = cable.b, cable.b_address, cable.a, cable.a_address
    return SwitchPort(
        name=own.port,
        address=own_address,
        mtu_bytes=switch.mtu_bytes,
        peer=peer.device,
        peer_port=peer.port,
        peer_address=peer_address,
        peer_is_switch=peer.device in switches,
        rate_gbps=cable.rate_gbps,
    )


def switch_config(plan: SitePlan, fabric: str, switch_name: str, *, bfd: bool = False) -> str:
    """
    Return the whole FRR configuration of a switch (`/etc/frr/frr.conf`).

    Args:
        plan: The site's plan.
        fabric: Name of a routed fabric.
        switch_name: One of its switches.
        bfd: Watch each session with BFD; needs FRR's bfdd.

    Raises:
        LookupError: there is no such fabric or switch, or the switch does not route.
    """
    switch = find_switch(plan, fabric, switch_name)
    bgp = plan.fabrics[fabric].bgp
    if switch.asn is None or switch.loopback is None or bgp is None:
        raise LookupError(f"{switch_name} does not route: fabric {fabric} gives it no autonomous system or no loopback")
    ports = [port for port in switch_ports(plan, fabric, switch_name) if port.address or port.peer_is_switch]
    loopback = ipaddress.ip_address(switch.loopback)
    overlay = switch_overlays(plan.fabrics[fabric]).get(switch_name)
    return _template().render(
        hostname=switch.name,
        ip="ip" if loopback.version == 4 else "ipv6",  # noqa: PLR2004 - the IP version
        family=f"ipv{loopback.version}",
        loopback=switch.loopback,
        host_bits=loopback.max_prefixlen,
        router_id=router_id_of(loopback),
        ports=ports,
        asn=switch.asn,
        neighbors=neighbors_of(plan.fabrics[fabric], ports),
        networks=announced_networks(ports),
        timers=bgp,
        bfd=bfd,
        overlay=overlay,
        evpn_neighbors=overlay.neighbors if overlay else (),
        tenants=overlay.tenants if overlay else (),
        hops=EVPN_HOPS,
        segments=_segments(plan.fabrics[fabric], switch_name),
    )


def _segments(fabric: FabricPlan, switch_name: str) -> tuple[BondPlan, ...]:
    """Return the bonds of several leaves that end on a switch."""
    return tuple(
        bond
        for bond in fabric.bonds
        if bond.multihomed and any(member.device == switch_name for member in bond.members)
    )


def router_id_of(loopback: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Return a router id: the loopback, or of an IPv6 one its last 32 bits."""
    return str(ipaddress.IPv4Address(int(loopback) & 0xFFFFFFFF))


def neighbors_of(fabric: FabricPlan, ports: Iterable[SwitchPort]) -> list[Neighbor]:
    """Return the BGP sessions of a switch: one for each cable to another switch, which has addresses or needs none."""
    asns = {switch.name: switch.asn for switch in fabric.switches}
    found = []
    for port in ports:
        asn = asns[port.peer] if port.peer_is_switch else None
        if asn is not None and fabric.unnumbered:
            found.append(Neighbor(port.name, asn, port.peer, port.peer_port, unnumbered=True))
        elif asn is not None and port.peer_address is not None:
            found.append(Neighbor(port.peer_address.partition("/")[0], asn, port.peer, port.peer_port))
    return found


def announced_networks(ports: Iterable[SwitchPort]) -> list[str]:
    """Return the networks of nodes' links, which their leaf announces since nodes speak no BGP."""
    own = (port.address for port in ports if not port.peer_is_switch)
    return [str(ipaddress.ip_interface(address).network) for address in own if address is not None]


@cache
def _template() -> Template:
    folder = packaged("templates") / "switches"
    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - a switch's configuration, not HTML
    )
    return environment.get_template("frr.conf.j2")
