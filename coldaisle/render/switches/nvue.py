"""
Cumulus Linux: what NVUE reads with `nv config replace`, as /etc/nvue.d/startup.yaml holds it.

`qos roce` brings the pools and the headroom of lossless mode; the map, the queues, PFC and ECN are written out beside
it, because NVUE's own map puts eight marks into the lossless class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from coldaisle.plan.model import RoceClassPlan
from coldaisle.render.overlay import SwitchOverlay
from coldaisle.render.switches.nvue_overlay import (
    ON,
    Tree,
    bond_interface,
    bridge_port,
    bridge_vlans,
    dhcp_relays,
    gateway_interface,
    overlay_branches,
    overlay_neighbors,
    tenant_vrfs,
)
from coldaisle.render.switches.view import BEST_EFFORT, PRIORITIES, Port, SwitchView

BRIDGE = "br_default"
"""NVUE's own bridge."""
PROFILE = "default-global"
"""NVUE's profile of all ports."""


def nvue_config(view: SwitchView) -> str:
    """Return the configuration of a switch as YAML, with sorted keys."""
    tree: Tree = {
        "interface": _interfaces(view),
        "service": {"lldp": {"tx-interval": view.fabric.lldp_interval_s}},
        "system": {"hostname": view.switch.name},
    }
    if view.access_ports:
        tree["bridge"] = {"domain": {BRIDGE: {"type": "vlan-aware", "vlan": bridge_vlans(view)}}}
    if view.overlay:
        tree |= overlay_branches(view, view.overlay)
        relays = dhcp_relays(view.overlay)
        tree["service"] |= {"dhcp-relay": relays} if relays else {}
    if view.fabric.roce is not None:
        tree["qos"] = _qos(view.fabric.roce, view.dscp_priorities())
    tree |= _routing(view)
    text = yaml.dump([{"set": tree}], Dumper=_Dumper, sort_keys=True, default_flow_style=False, width=120)
    return f"# {view.origin}\n{text}"


class _Dumper(yaml.CSafeDumper):
    """Writes values that occur twice twice: NVUE's file has no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401, ARG002 - PyYAML's own signature
        return True


def _interfaces(view: SwitchView) -> Tree:
    found: Tree = {}
    if view.management and view.switch.management_port:
        gateway = view.switch.management_gateway
        ip: Tree = {"address": {view.management: {}}, "vrf": view.fabric.management_vrf}
        found[view.switch.management_port] = {"type": "eth", "ip": ip | ({"gateway": {gateway: {}}} if gateway else {})}
    if view.loopback_network:
        own = [view.loopback_network, *([f"{view.overlay.vtep}/32"] if view.overlay and view.overlay.vtep else [])]
        found["lo"] = {"type": "loopback", "ip": {"address": {address: {} for address in own}}}
    for port in view.ports:
        if port.plan.split > 1:
            found[port.plan.whole] = {"type": "swp", "link": {"breakout": {f"{port.plan.split}x": {}}}}
        if port.cable:
            found[port.plan.name] = _port(view, port)
    found |= {f"bond{bond.plan.number}": bond_interface(bond, BRIDGE) for bond in view.bonds}
    if view.overlay:
        found |= _gateways(view.overlay)
    return found


def _gateways(overlay: SwitchOverlay) -> Tree:
    mac = overlay.plan.gateway_mac
    return {f"vlan{network.plan.vlan}": gateway_interface(network, mac) for network in overlay.gateways}


def _port(view: SwitchView, port: Port) -> Tree:
    cable = port.cable
    link: Tree = {"state": {"up": {}}}
    if view.switch.mtu_bytes is not None:
        link["mtu"] = view.switch.mtu_bytes
    if port.rate_gbps != port.plan.rate_gbps:
        link["speed"] = f"{port.rate_gbps:g}G"
    tree: Tree = {"type": "swp", "description": port.description, "link": link}
    if not port.routed:
        # A bond takes part in the bridge for its ports.
        return tree | ({} if port.bond else bridge_port(port, BRIDGE))
    tree |= {"ip": {"address": {cable.address: {}}}} if cable and cable.address else {}
    uplink = cable is not None and cable.peer_is_switch and any(bond.plan.multihomed for bond in view.bonds)
    return tree | ({"evpn": {"multihoming": {"uplink": ON}}} if uplink else {})


def _routing(view: SwitchView) -> Tree:
    bgp = view.fabric.bgp
    if bgp is None or view.loopback_network is None or view.switch.asn is None:
        return {}
    overlay, family = view.overlay, f"{view.family}-unicast"
    router: Tree = {
        "enable": ON,
        "path-selection": {"multipath": {"aspath-ignore": ON}},
        "timers": {"keepalive": bgp.keepalive_s, "hold": bgp.hold_s},
        "address-family": {
            family: {
                "enable": ON,
                "multipaths": {"ebgp": bgp.maximum_paths},
                "network": {network: {} for network in view.announced},
            }
        },
        "neighbor": {
            neighbor.address: {
                "type": "unnumbered" if neighbor.unnumbered else "numbered",
                "remote-as": neighbor.asn,
                "description": f"{neighbor.name} {neighbor.port}",
                "address-family": {family: {"enable": ON}},
            }
            for neighbor in view.neighbors
        },
    }
    if overlay:
        router["address-family"] |= {"l2vpn-evpn": {"enable": ON}}
        router["neighbor"] |= overlay_neighbors(view, overlay)
    own = {"enable": ON, "autonomous-system": view.switch.asn, "router-id": view.router_id}
    vrfs = tenant_vrfs(view, overlay) if overlay else {}
    return {"router": {"bgp": own}, "vrf": {"default": {"router": {"bgp": router}}, **vrfs}}


def _qos(roce: RoceClassPlan, dscp_priorities: Mapping[int, int]) -> Tree:
    lossless, notices = str(roce.priority), str(roce.cnp_priority)
    special = {roce.priority: roce.priority, roce.cnp_priority: roce.cnp_priority}
    classes = {str(priority): special.get(priority, BEST_EFFORT) for priority in range(PRIORITIES)}
    marked = {
        "ecn": "enable",
        "red": "disable",
        "min-threshold": roce.ecn_min_bytes,
        "max-threshold": roce.ecn_max_bytes,
        "probability": roce.ecn_probability_percent,
    }
    pfc = {"switch-priority": {lossless: {}}, "tx": "enable", "rx": "enable", "cable-length": roce.cable_length_m}
    schedule = {
        str(BEST_EFFORT): {"mode": "dwrr", "bw-percent": 100 - roce.bandwidth_percent},
        lossless: {"mode": "dwrr", "bw-percent": roce.bandwidth_percent},
        notices: {"mode": "strict"},
    }
    dscp = {str(mark): {"switch-priority": priority} for mark, priority in dscp_priorities.items()}
    return {
        "roce": {"enable": ON, "mode": "lossless"},
        "mapping": {PROFILE: {"trust": "l3", "dscp": dscp}},
        "egress-queue-mapping": {PROFILE: {"switch-priority": {n: {"traffic-class": c} for n, c in classes.items()}}},
        "egress-scheduler": {PROFILE: {"traffic-class": schedule}},
        "congestion-control": {PROFILE: {"traffic-class": {lossless: marked}}},
        "pfc": {PROFILE: pfc},
    }
