"""
Cumulus Linux: tunnels, tenants, gateways and overlay sessions, as branches of NVUE's tree.

Every leaf has the same address and MAC on a gateway's VLAN interface, so that no leaf needs one of its own there.
"""

from __future__ import annotations

from typing import Any

from coldaisle.render.overlay import EVPN_HOPS, LeafNetwork, LeafTenant, SwitchOverlay
from coldaisle.render.switches.view import Bond, Port, SwitchView

ON, OFF = "on", "off"
Tree = dict[str, Any]


def bridge_vlans(view: SwitchView) -> Tree:
    """Return the VLANs of the bridge, each with the VNI of its network where it has one."""
    networks = view.overlay.networks if view.overlay else ()
    vnis: Tree = {str(network.plan.vlan): {"vni": {str(network.plan.vni): {}}} for network in networks}
    return {str(vlan): vnis.get(str(vlan), {}) for vlan in view.vlans}


def bridge_port(port: Port, bridge: str) -> Tree:
    """Return how a port, or the bond that it belongs to, takes part in the bridge."""
    edge: Tree = {"stp": {"admin-edge": ON}}
    if port.tagged:
        edge["vlan"] = {str(vlan): {} for vlan in port.vlans}
        edge |= {} if port.untagged is None else {"untagged": port.untagged}
    else:
        edge["access"] = port.untagged
    return {"bridge": {"domain": {bridge: edge}}}


def bond_interface(bond: Bond, bridge: str) -> Tree:
    """Return the interface of a bond; LACP bypass lets one port pass frames before LACP speaks."""
    own: Tree = {
        "member": {port.plan.name: {} for port in bond.ports},
        "mode": "lacp",
        "lacp-rate": bond.plan.lacp_rate,
    }
    own |= {"lacp-bypass": ON} if bond.plan.lacp_fallback else {}
    tree: Tree = {"type": "bond", "description": bond.plan.device, "bond": own, **bridge_port(bond.ports[0], bridge)}
    if bond.plan.multihomed:
        segment = {"enable": ON, "local-id": bond.plan.number, "mac-address": bond.plan.system_mac}
        tree["evpn"] = {"multihoming": {"segment": segment}}
    return tree


def gateway_interface(network: LeafNetwork, mac: str) -> Tree:
    """Return the interface of a VLAN that the leaf is a gateway of."""
    plan = network.plan
    link: Tree = {"mac-address": mac} | ({} if plan.mtu_bytes is None else {"mtu": plan.mtu_bytes})
    return {
        "type": "svi",
        "vlan": plan.vlan,
        "description": network.title,
        "ip": {"address": {plan.gateway: {}}, "vrf": plan.tenant},
        "link": link,
    }


def overlay_branches(view: SwitchView, overlay: SwitchOverlay) -> Tree:
    """Return the branches of the tree that are the overlay's alone, but for `vrf` and `interface`."""
    if overlay.vtep is None:
        return {"evpn": {"enable": ON}}
    suppress = ON if overlay.plan.arp_suppression else OFF
    vnis = {str(network.plan.vni): _vni(network) for network in overlay.networks}
    evpn: Tree = {"enable": ON} | ({"vni": vnis} if vnis else {})
    evpn |= {"multihoming": {"enable": ON}} if any(bond.plan.multihomed for bond in view.bonds) else {}
    vxlan = {"enable": ON, "source": {"address": overlay.vtep}, "arp-nd-suppress": suppress}
    return {"nve": {"vxlan": vxlan}, "evpn": evpn}


def _vni(network: LeafNetwork) -> Tree:
    target: Tree = {network.plan.route_target: {}}
    return {"rd": network.route_distinguisher, "route-target": {"import": target, "export": target}}


def tenant_vrfs(view: SwitchView, overlay: SwitchOverlay) -> Tree:
    """Return a VRF for each tenant that the leaf routes for."""
    own: Tree = {"loopback": {"ip": {"address": {f"{overlay.vtep}/32": {}}}}}
    return {
        tenant.plan.name: _vrf(view, tenant) | (own if tenant in overlay.relaying else {}) for tenant in overlay.tenants
    }


def _vrf(view: SwitchView, tenant: LeafTenant) -> Tree:
    target: Tree = {tenant.plan.route_target: {}}
    family = {
        "enable": ON,
        "redistribute": {"connected": {"enable": ON}, **({"static": {"enable": ON}} if tenant.exits else {})},
        "route-export": {"to-evpn": {"enable": ON}},
    }
    bgp = {
        "enable": ON,
        "autonomous-system": view.switch.asn,
        "router-id": view.router_id,
        "rd": tenant.route_distinguisher,
        "address-family": {"ipv4-unicast": family},
        "route-import": {"from-evpn": {"route-target": target}},
        "route-export": {"to-evpn": {"route-target": target}},
    }
    evpn = {"enable": ON, "vni": {str(tenant.plan.vni): {}}, "vlan": tenant.plan.transit_vlan}
    ways: Tree = {}
    for way in tenant.exits:
        route = ways.setdefault(way.to, {"address-family": "ipv4-unicast", "via": {}})
        route["via"][way.via] = {"type": "ipv4-address"}
    return {"evpn": evpn, "router": {"bgp": bgp, **({"static": ways} if ways else {})}}


def overlay_neighbors(view: SwitchView, overlay: SwitchOverlay) -> Tree:
    """Return the sessions between loopbacks, which carry EVPN and no other routes."""
    return {
        neighbor.address: {
            "type": "numbered",
            "remote-as": neighbor.asn,
            "description": neighbor.name,
            "multihop-ttl": EVPN_HOPS,
            "update-source": str(view.loopback),
            "address-family": {
                f"{view.family}-unicast": {"enable": OFF},
                # Cumulus Linux leaves the next hop of EVPN's routes as it is.
                "l2vpn-evpn": {"enable": ON},
            },
        }
        for neighbor in overlay.neighbors
    }


def dhcp_relays(overlay: SwitchOverlay) -> Tree:
    """
    Return the DHCP relays of the leaf by VRF, as Cumulus Linux 5.14 and newer have them.

    Each network has a group of servers; answers come in from the tenant's routed traffic, or from a server's own VLAN.
    """
    found: Tree = {}
    transit = {tenant.plan.name: f"vlan{tenant.plan.transit_vlan}_l3" for tenant in overlay.relaying}
    for network in overlay.relays:
        plan = network.plan
        near = [f"vlan{other.plan.vlan}" for other in overlay.servers_networks(network)]
        group: Tree = {
            "server": {server: {} for server in plan.relays},
            "upstream-interface": {name: {} for name in (transit[plan.tenant], *near)},
        }
        relay: Tree = found.setdefault(plan.tenant, {"gateway-interface": {plan.tenant: {}}})
        relay.setdefault("server-group", {})[plan.name] = group
        relay.setdefault("downstream-interface", {})[f"vlan{plan.vlan}"] = {"server-group-name": plan.name}
    return found
