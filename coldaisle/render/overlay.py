"""
What one switch has of its fabric's overlay: sessions, and on a leaf tunnels, networks and tenants.

Looked up once for all switches of a fabric, so that no two languages can differ in it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from coldaisle.plan.model import FabricPlan, OverlayPlan, TenantNetworkPlan, TenantPlan

EVPN_HOPS = 2
"""Time to live of an overlay session: a loopback is one hop behind the port that leads to its switch."""


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
    """A tenant that a leaf routes for, with the leaf's route distinguisher for it."""

    plan: TenantPlan
    route_distinguisher: str


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
            tenants=tuple(LeafTenant(tenants[t.vlan], t.route_distinguisher) for t in vtep.tenants) if vtep else (),
            neighbors=tuple(neighbors[switch.name]),
        )
    return found


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
