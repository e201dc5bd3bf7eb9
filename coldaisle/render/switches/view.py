"""
A switch with everything that its configuration needs, looked up once for all switches of a fabric.

The languages differ only in how they write it down, so that a session or an address can not be in one and not in
another.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coldaisle.plan.model import BondPlan, FabricPlan, PortPlan, SitePlan, SwitchPlan
from coldaisle.render.frr import (
    Neighbor,
    SwitchPort,
    announced_networks,
    neighbors_of,
    port_of_cable,
    router_id_of,
)
from coldaisle.render.overlay import SwitchOverlay, switch_overlays

DSCPS = 64
PRIORITIES = 8
BEST_EFFORT = 0
"""Priority of every mark that has none of its own."""


@dataclass(frozen=True, slots=True)
class Port:
    """
    A port of a switch, and its cable where it has one. `rate_gbps` is the cable's, which may be lower.

    A port that is not routed has a VLAN without a tag, or others with theirs, and may be a part of a bond.
    """

    plan: PortPlan
    cable: SwitchPort | None
    untagged: int | None = None
    tagged: tuple[int, ...] = ()
    bond: BondPlan | None = None

    @property
    def vlans(self) -> tuple[int, ...]:
        """Return the VLANs that the port carries, sorted."""
        return tuple(sorted({*self.tagged, *([] if self.untagged is None else [self.untagged])}))

    @property
    def rate_gbps(self) -> float:
        """Return the rate to run at, in Gb/s."""
        return self.cable.rate_gbps if self.cable else self.plan.rate_gbps

    @property
    def routed(self) -> bool:
        """Tell whether the port has an address, or leads to a switch and needs none."""
        return self.cable is not None and (self.cable.address is not None or self.cable.peer_is_switch)

    @property
    def description(self) -> str | None:
        """Return what is at the other end of the cable."""
        return f"{self.cable.peer} {self.cable.peer_port}" if self.cable else None


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond on one of its switches, with the ports that it has there: at least one, all with the same VLANs."""

    plan: BondPlan
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class SwitchView:
    """
    A switch of a fabric: its ports in order, its sessions, and the networks that it announces.

    `overlay` is its part of the fabric's overlay, None where there is none.
    """

    site: SitePlan
    fabric: FabricPlan
    plan_hash: str
    switch: SwitchPlan
    ports: tuple[Port, ...]
    neighbors: tuple[Neighbor, ...]
    networks: tuple[str, ...]
    overlay: SwitchOverlay | None = None

    @property
    def origin(self) -> str:
        """Return the line that says where a configuration comes from."""
        return f"{self.switch.name} of {self.site.name}, fabric {self.fabric.name}, plan {self.plan_hash}"

    @property
    def management(self) -> str | None:
        """Return the management address with its prefix length."""
        address, length = self.switch.management_address, self.switch.management_prefix_length
        return None if address is None or length is None else f"{address}/{length}"

    @property
    def access_ports(self) -> tuple[Port, ...]:
        """Return the ports with a cable that switch frames instead of routing."""
        return tuple(port for port in self.ports if port.cable and not port.routed)

    @property
    def edge_ports(self) -> tuple[Port, ...]:
        """Return the ports that switch frames and belong to no bond."""
        return tuple(port for port in self.access_ports if port.bond is None)

    @property
    def bonds(self) -> tuple[Bond, ...]:
        """Return the bonds that end here, by number."""
        found: defaultdict[int, list[Port]] = defaultdict(list)
        for port in self.access_ports:
            if port.bond is not None:
                found[port.bond.number].append(port)
        return tuple(Bond(ports[0].bond, tuple(ports)) for _, ports in sorted(found.items()) if ports[0].bond)

    @property
    def vlans(self) -> tuple[int, ...]:
        """Return the VLANs that the switch has for its ports, sorted."""
        return tuple(sorted({vlan for port in self.access_ports for vlan in port.vlans}))

    @property
    def announced(self) -> tuple[str, ...]:
        """Return all networks that it announces in the underlay: its own addresses and its nodes' links."""
        vtep = [f"{self.overlay.vtep}/32"] if self.overlay and self.overlay.vtep else []
        return (*([self.loopback_network] if self.loopback_network else []), *vtep, *self.networks)

    @property
    def loopback(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """Return the loopback of a switch that routes."""
        return None if self.switch.loopback is None else ipaddress.ip_address(self.switch.loopback)

    @property
    def loopback_network(self) -> str | None:
        """Return the loopback with its prefix length."""
        return f"{self.loopback}/{self.loopback.max_prefixlen}" if self.loopback else None

    @property
    def family(self) -> str:
        """Return ipv4 or ipv6."""
        return f"ipv{self.loopback.version}" if self.loopback else "ipv4"

    @property
    def router_id(self) -> str | None:
        """Return the BGP router id."""
        return router_id_of(self.loopback) if self.loopback else None

    def dscp_priorities(self) -> Mapping[int, int]:
        """Return the priority of every DSCP; none where the fabric carries no RoCE."""
        roce = self.fabric.roce
        if roce is None:
            return {}
        return dict.fromkeys(range(DSCPS), BEST_EFFORT) | {roce.dscp: roce.priority, roce.cnp_dscp: roce.cnp_priority}


def views(plan: SitePlan, digest: str, fabric: FabricPlan) -> Iterator[SwitchView]:
    """Yield the switches of a fabric; `digest` is the hash of the plan, worked out once for all fabrics."""
    switches = {switch.name: switch for switch in fabric.switches}
    cabled: defaultdict[str, dict[str, SwitchPort]] = defaultdict(dict)
    for cable in fabric.cables:
        for end in (cable.a, cable.b):
            if end.device in switches:
                cabled[end.device][end.port] = port_of_cable(switches[end.device], cable, switches)
    edges, overlays = Edges(fabric), switch_overlays(fabric)
    for name, switch in switches.items():
        own = cabled[name]
        yield SwitchView(
            site=plan,
            fabric=fabric,
            plan_hash=digest,
            switch=switch,
            ports=tuple(edges.port(name, port, own.get(port.name)) for port in fabric.ports.get(switch.role, ())),
            neighbors=tuple(neighbors_of(fabric, own.values())) if fabric.bgp else (),
            networks=tuple(announced_networks(own.values())),
            overlay=overlays.get(name),
        )


class Edges:
    """What the ports towards nodes carry, looked up by switch and port."""

    def __init__(self, fabric: FabricPlan) -> None:
        """Index the VLANs and the bonds of a fabric's ports."""
        self._access_vlan = fabric.access_vlan
        carried = fabric.overlay.ports if fabric.overlay else ()
        self._vlans = {(port.port.device, port.port.port): port for port in carried}
        self._bonds = {(end.device, end.port): bond for bond in fabric.bonds for end in bond.members}

    def port(self, switch: str, plan: PortPlan, cable: SwitchPort | None) -> Port:
        """Return a port; one that no network takes has the VLAN of ports that are not routed."""
        port = Port(plan, cable)
        if cable is None or port.routed:
            return port
        vlans = self._vlans.get((switch, plan.name))
        untagged, tagged = (vlans.untagged, vlans.tagged) if vlans else (self._access_vlan, ())
        return Port(plan, cable, untagged, tagged, self._bonds.get((switch, plan.name)))
