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

from coldaisle.plan.model import FabricPlan, PortPlan, SitePlan, SwitchPlan
from coldaisle.render.frr import (
    Neighbor,
    SwitchPort,
    announced_networks,
    neighbors_of,
    port_of_cable,
    router_id_of,
)

DSCPS = 64
PRIORITIES = 8
BEST_EFFORT = 0
"""Priority of every mark that has none of its own."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a switch, and its cable where it has one. `rate_gbps` is the cable's, which may be lower."""

    plan: PortPlan
    cable: SwitchPort | None

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
class SwitchView:
    """A switch of a fabric: its ports in order, its sessions, and the networks that it announces."""

    site: SitePlan
    fabric: FabricPlan
    plan_hash: str
    switch: SwitchPlan
    ports: tuple[Port, ...]
    neighbors: tuple[Neighbor, ...]
    networks: tuple[str, ...]

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
    for name, switch in switches.items():
        own = cabled[name].values()
        yield SwitchView(
            site=plan,
            fabric=fabric,
            plan_hash=digest,
            switch=switch,
            ports=tuple(Port(port, cabled[name].get(port.name)) for port in fabric.ports.get(switch.role, ())),
            neighbors=tuple(neighbors_of(fabric, own)) if fabric.bgp else (),
            networks=tuple(announced_networks(own)),
        )
