"""
What one switch has of its fabric's overlay: sessions, and on a leaf tunnels, networks and tenants.

Looked up once for all switches of a fabric, so that no two languages can differ in it.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from dataclasses import dataclass

from coldaisle.plan.model import ExitPlan, FabricPlan, OverlayPlan, TenantNetworkPlan, TenantPlan, VtepPlan

EVPN_HOPS = 2
"""Time to live of an overlay session: a loopback is one hop behind the port that leads to its switch."""
FIRST_RELAY_LOOPBACK = 100


@dataclass(frozen=True, slots=True)
class EvpnNeighbor:
    """A session to the loopback of a switch beside it."""

    address: str
    asn: int
    name: str


@dataclass(frozen=True, slots=True)
class LeafNetwork:
    """A network on a leaf, with the leaf's route distinguisher for it."""

    plan: TenantNetworkPlan
    route_distinguisher: str

    @property
    def title(self) -> str:
        """Return the name of its VLAN."""
        return f"{self.plan.tenant}-{self.plan.name}"


@dataclass(frozen=True, slots=True)
class LeafTenant:
    """A tenant that a leaf routes for, with the leaf's route distinguisher for it, and the ways out that begin here."""

    plan: TenantPlan
    route_distinguisher: str
    exits: tuple[ExitPlan, ...] = ()

    @property
    def relay_loopback(self) -> int:
        """
        Return the number of the loopback that DHCP requests leave from, on systems that number them up to 999.

        It follows the transit VLAN, so that it stays; 0 and 1 are the underlay's.
        """
        return FIRST_RELAY_LOOPBACK + self.plan.transit_vlan % (1000 - FIRST_RELAY_LOOPBACK)


@dataclass(frozen=True, slots=True)
class SwitchOverlay:
    """
    A switch's part of an overlay. `vtep` is its tunnel address, None on a switch that only passes routes on.

    Such a switch leaves next hops as they are, since tunnels end on leaves.
    """

    plan: OverlayPlan
    vtep: str | None
    networks: tuple[LeafNetwork, ...]
    tenants: tuple[LeafTenant, ...]
    neighbors: tuple[EvpnNeighbor, ...]

    @property
    def gateways(self) -> tuple[LeafNetwork, ...]:
        """Return the networks that the switch is a gateway of."""
        return tuple(network for network in self.networks if network.plan.gateway is not None)

    @property
    def relays(self) -> tuple[LeafNetwork, ...]:
        """Return the networks whose DHCP requests it passes on."""
        return tuple(network for network in self.gateways if network.plan.relays)

    @property
    def relaying(self) -> tuple[LeafTenant, ...]:
        """
        Return the tenants whose DHCP requests it passes on.

        Their VRFs have the tunnel address too, for answers to come back to: a gateway's address is on every leaf.
        """
        names = {network.plan.tenant for network in self.relays}
        return tuple(tenant for tenant in self.tenants if tenant.plan.name in names)

    def servers_networks(self, network: LeafNetwork) -> tuple[LeafNetwork, ...]:
        """Return the networks of the same tenant on this leaf that have one of a network's DHCP servers."""
        servers = [ipaddress.ip_address(server) for server in network.plan.relays]
        return tuple(
            other
            for other in self.gateways
            if other.plan.tenant == network.plan.tenant
            and any(server in ipaddress.ip_network(other.plan.subnet or "0.0.0.0/32") for server in servers)
        )


def switch_overlays(fabric: FabricPlan) -> dict[str, SwitchOverlay]:
    """Return what each switch of a fabric has of its overlay, by the switch; nothing where there is none."""
    overlay = fabric.overlay
    if overlay is None:
        return {}
    neighbors = _neighbors(fabric, overlay)
    vteps = {vtep.switch: vtep for vtep in overlay.vteps}
    networks = {network.vlan: network for network in overlay.networks}
    tenants = {tenant.transit_vlan: tenant for tenant in overlay.tenants}
    found = {}
    for switch in fabric.switches:
        vtep = vteps.get(switch.name)
        found[switch.name] = SwitchOverlay(
            plan=overlay,
            vtep=vtep.address if vtep else None,
            networks=tuple(LeafNetwork(networks[n.vlan], n.route_distinguisher) for n in vtep.networks) if vtep else (),
            tenants=tuple(_leaf_tenant(vtep, tenants[t.vlan], t.route_distinguisher) for t in vtep.tenants)
            if vtep
            else (),
            neighbors=tuple(neighbors[switch.name]),
        )
    return found


def _leaf_tenant(vtep: VtepPlan, tenant: TenantPlan, route_distinguisher: str) -> LeafTenant:
    own = {network.vlan for network in vtep.networks}
    return LeafTenant(tenant, route_distinguisher, tuple(way for way in tenant.exits if way.vlan in own))


def _neighbors(fabric: FabricPlan, overlay: OverlayPlan) -> dict[str, list[EvpnNeighbor]]:
    """Return the sessions of each switch, both ends of each; a switch without numbers has none."""
    switches = {switch.name: switch for switch in fabric.switches}
    found: defaultdict[str, list[EvpnNeighbor]] = defaultdict(list)
    for session in overlay.sessions:
        for own, peer in ((session.lower, session.upper), (session.upper, session.lower)):
            other = switches[peer]
            if other.loopback is not None and other.asn is not None:
                found[own].append(EvpnNeighbor(other.loopback, other.asn, peer))
    return found
