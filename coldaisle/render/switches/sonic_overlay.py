"""
SONiC: tunnels, tenants, gateways and overlay sessions, as rows of CONFIG_DB.

Gateways are static anycast gateways: the same address on every leaf, with the one MAC of the table SAG. Tenants' BGP is
in the tables of the FRR management framework, as the underlay's is.
"""

from __future__ import annotations

from coldaisle.render.overlay import EVPN_HOPS, LeafNetwork, LeafTenant, SwitchOverlay
from coldaisle.render.switches.view import Bond, SwitchView

VTEP, NVO = "vtep", "nvo"
EVPN = "l2vpn_evpn"
Rows = dict[str, dict[str, object]]
Tables = dict[str, Rows]


def vrf_name(tenant: str) -> str:
    """Return a tenant's VRF as SONiC names it: its names begin with Vrf."""
    return f"Vrf-{tenant}"


def portchannels(bonds: tuple[Bond, ...], mtu_bytes: int | None) -> Tables:
    """
    Return the bonds of a switch.

    Raises:
        LookupError: a bond's ports end on several leaves, for which no configuration is written.
    """
    if any(bond.plan.multihomed for bond in bonds):
        raise LookupError("bonds over several leaves (EVPN multihoming) are not written for SONiC")
    channels: Rows = {}
    members: Rows = {}
    for bond in bonds:
        name = f"PortChannel{bond.plan.number}"
        channels[name] = {"admin_status": "up", "min_links": "1", "description": bond.plan.device}
        channels[name] |= {} if mtu_bytes is None else {"mtu": str(mtu_bytes)}
        channels[name] |= {"fast_rate": "true"} if bond.plan.lacp_rate == "fast" else {}
        channels[name] |= {"fallback": "true"} if bond.plan.lacp_fallback else {}
        members |= {f"{name}|{port.plan.name}": {} for port in bond.ports}
    return {"PORTCHANNEL": channels, "PORTCHANNEL_MEMBER": members}


def overlay_tables(overlay: SwitchOverlay) -> Tables:
    """Return the tables that a leaf has for its overlay alone; VLAN and BGP tables are shared with the rest."""
    if overlay.vtep is None:
        return {}
    pairs = [(network.plan.vlan, network.plan.vni) for network in overlay.networks]
    pairs += [(tenant.plan.transit_vlan, tenant.plan.vni) for tenant in overlay.tenants]
    suppressed = overlay.networks if overlay.plan.arp_suppression else ()
    return {
        "VXLAN_TUNNEL": {VTEP: {"src_ip": overlay.vtep}},
        "VXLAN_EVPN_NVO": {NVO: {"source_vtep": VTEP}},
        "VXLAN_TUNNEL_MAP": {
            f"{VTEP}|map_{vni}_Vlan{vlan}": {"vlan": f"Vlan{vlan}", "vni": str(vni)} for vlan, vni in pairs
        },
        "VRF": {vrf_name(tenant.plan.name): {"vni": str(tenant.plan.vni)} for tenant in overlay.tenants},
        "SAG": {"GLOBAL": {"gateway_mac": overlay.plan.gateway_mac}} if overlay.gateways else {},
        "SUPPRESS_VLAN_NEIGH": {f"Vlan{network.plan.vlan}": {"suppress": "on"} for network in suppressed},
        "VLAN_INTERFACE": _vlan_interfaces(overlay),
        "DHCPV4_RELAY": _relays(overlay),
        "STATIC_ROUTE": _ways_out(overlay),
    }


def overlay_loopbacks(overlay: SwitchOverlay) -> Rows:
    """Return the loopbacks of a leaf's overlay: the tunnel's, and one in each VRF whose DHCP requests it passes on."""
    if overlay.vtep is None:
        return {}
    rows: Rows = {"Loopback1": {}, f"Loopback1|{overlay.vtep}/32": {}}
    for tenant in overlay.relaying:
        name = f"Loopback{tenant.relay_loopback}"
        rows |= {name: {"vrf_name": vrf_name(tenant.plan.name)}, f"{name}|{overlay.vtep}/32": {}}
    return rows


def _relays(overlay: SwitchOverlay) -> Rows:
    """Return the relay of each network: requests leave from a loopback, and name their own network beside it."""
    loopbacks = {tenant.plan.name: f"Loopback{tenant.relay_loopback}" for tenant in overlay.relaying}
    return {
        f"Vlan{network.plan.vlan}": {
            "dhcpv4_servers": list(network.plan.relays),
            "source_interface": loopbacks[network.plan.tenant],
            "link_selection": "enable",
        }
        for network in overlay.relays
    }


def _ways_out(overlay: SwitchOverlay) -> Rows:
    """Return the routes out of tenants; several routers to one place are one row."""
    routers: dict[str, list[str]] = {}
    for tenant in overlay.tenants:
        for way in tenant.exits:
            routers.setdefault(f"{vrf_name(tenant.plan.name)}|{way.to}", []).append(way.via)
    return {row: {"nexthop": ",".join(found)} for row, found in routers.items()}


def _vlan_interfaces(overlay: SwitchOverlay) -> Rows:
    rows: Rows = {}
    for network in overlay.gateways:
        name = f"Vlan{network.plan.vlan}"
        rows[name] = {"vrf_name": vrf_name(network.plan.tenant), "static_anycast_gateway": "true"}
        rows[f"{name}|{network.plan.gateway}"] = {}
    for tenant in overlay.tenants:
        rows[f"Vlan{tenant.plan.transit_vlan}"] = {"vrf_name": vrf_name(tenant.plan.name)}
    return rows


def overlay_vlans(overlay: SwitchOverlay) -> Rows:
    """Return the rows of VLANs that no port carries: those of routed traffic."""
    return {f"Vlan{tenant.plan.transit_vlan}": {"vlanid": str(tenant.plan.transit_vlan)} for tenant in overlay.tenants}


def bgp_tables(
    view: SwitchView, overlay: SwitchOverlay, active: dict[str, object], timers: dict[str, object]
) -> Tables:
    """
    Return the BGP rows of the overlay.

    Args:
        view: The switch.
        overlay: Its part of the overlay.
        active: What every session's row of an address family has.
        timers: What every session's row has.
    """
    evpn: dict[str, object] = {"advertise-all-vni": "true"} if overlay.vtep else {}
    row = dict(active) if overlay.vtep else {**active, "unchanged_nexthop": "true"}
    families: Rows = {f"default|{EVPN}": evpn}
    for tenant in overlay.tenants:
        families |= _tenant_families(tenant)
    return {
        "BGP_GLOBALS": {
            vrf_name(tenant.plan.name): {"local_asn": str(view.switch.asn), "router_id": view.router_id}
            for tenant in overlay.tenants
        },
        "BGP_GLOBALS_AF": families,
        "BGP_GLOBALS_EVPN_VNI": {f"default|{EVPN}|{n.plan.vni}": _vni(n) for n in overlay.networks},
        "ROUTE_REDISTRIBUTE": {
            f"{vrf_name(tenant.plan.name)}|{source}|bgp|ipv4": {}
            for tenant in overlay.tenants
            for source in ("connected", *(["static"] if tenant.exits else []))
        },
        "BGP_NEIGHBOR": {
            f"default|{neighbor.address}": {
                "asn": str(neighbor.asn),
                "name": neighbor.name,
                "local_addr": str(view.loopback),
                "ebgp_multihop": "true",
                "ebgp_multihop_ttl": str(EVPN_HOPS),
                **timers,
            }
            for neighbor in overlay.neighbors
        },
        "BGP_NEIGHBOR_AF": {f"default|{neighbor.address}|{EVPN}": row for neighbor in overlay.neighbors},
    }


def _tenant_families(tenant: LeafTenant) -> Rows:
    vrf, targets = vrf_name(tenant.plan.name), [tenant.plan.route_target]
    evpn: dict[str, object] = {
        "advertise-ipv4-unicast": "true",
        "route-distinguisher": tenant.route_distinguisher,
        "import-rts": targets,
        "export-rts": targets,
    }
    return {f"{vrf}|ipv4_unicast": {}, f"{vrf}|{EVPN}": evpn}


def _vni(network: LeafNetwork) -> dict[str, object]:
    targets = [network.plan.route_target]
    return {"route-distinguisher": network.route_distinguisher, "import-rts": targets, "export-rts": targets}
