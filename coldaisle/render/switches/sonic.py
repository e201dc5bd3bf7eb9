"""
SONiC: config_db.json, for `config load` over what the switch brings along (its MAC address, platform and pools).

BGP is in the tables of the FRR management framework, since the older ones cannot announce nodes' links. The table
COLDAISLE has no YANG model; SONiC keeps it and does nothing with it.
"""

from __future__ import annotations

import json

from coldaisle.plan.model import RoceClassPlan
from coldaisle.render.switches.sonic_overlay import (
    Rows,
    Tables,
    bgp_tables,
    overlay_loopbacks,
    overlay_tables,
    overlay_vlans,
    portchannels,
)
from coldaisle.render.switches.view import BEST_EFFORT, Port, SwitchView

MAP = "COLDAISLE"
"""Name of the maps and profiles."""
VRF = "default"
MBPS = 1000
_ACTIVE: dict[str, object] = {"admin_status": "true", "route_map_in": [MAP], "route_map_out": [MAP]}
"""FRR passes nothing between autonomous systems without a policy (RFC 8212), so that all is permitted by name."""


def sonic_config(view: SwitchView) -> str:
    """
    Return the configuration of a switch as JSON, with sorted keys.

    Raises:
        LookupError: the catalog does not say which lanes of the switch chip a port has, or a bond is not written.
    """
    if any(not port.plan.chip_lanes for port in view.ports):
        raise LookupError(f"the catalog does not say which lanes of its chip the ports of {view.switch.model} have")
    tables = _device(view) | _ports(view) | _vlans(view) | _bgp(view)
    tables |= portchannels(view.bonds, view.switch.mtu_bytes)
    if view.overlay is not None:
        tables |= overlay_tables(view.overlay)
    if view.fabric.roce is not None:
        tables |= _qos(view, view.fabric.roce)
    return json.dumps({name: rows for name, rows in tables.items() if rows}, indent=4, sort_keys=True) + "\n"


def _device(view: SwitchView) -> Tables:
    localhost: dict[str, object] = {
        "hostname": view.switch.name,
        "docker_routing_config_mode": "unified",
        "frr_mgmt_framework_config": "true",
    }
    if view.fabric.roce is not None:
        localhost["buffer_model"] = "dynamic"
    relays = bool(view.overlay and view.overlay.relays)
    if relays:
        # The relay that knows VRFs; without this, SONiC starts an older one that does not.
        localhost["has_sonic_dhcpv4_relay"] = "True"
    management: Rows = {}
    if view.management:
        gateway = view.switch.management_gateway
        management[f"eth0|{view.management}"] = {"gwaddr": gateway} if gateway else {}
    return {
        MAP: {"plan": {"fabric": view.fabric.name, "hash": view.plan_hash, "site": view.site.name}},
        "DEVICE_METADATA": {"localhost": localhost},
        "FEATURE": {name: {"state": "enabled"} for name in ("lldp", *(["dhcp_relay"] if relays else []))},
        "LLDP": {"GLOBAL": {"enabled": "true", "hello_time": str(view.fabric.lldp_interval_s)}},
        "MGMT_INTERFACE": management,
        "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": "true"}},
    }


def _ports(view: SwitchView) -> Tables:
    breakouts = {port.plan.whole: _breakout(port) for port in view.ports}
    interfaces: Rows = {}
    for port in view.ports:
        if port.cable and port.cable.address is not None:
            interfaces |= {port.plan.name: {}, f"{port.plan.name}|{port.cable.address}": {}}
        elif port.routed:
            interfaces[port.plan.name] = {"ipv6_use_link_local_only": "enable"}
    loopback: Rows = {"Loopback0": {}, f"Loopback0|{view.loopback_network}": {}} if view.loopback else {}
    if view.overlay:
        loopback |= overlay_loopbacks(view.overlay)
    return {
        "BREAKOUT_CFG": {name: {"brkout_mode": mode} for name, mode in breakouts.items()},
        "PORT": {port.plan.name: _port(view, port) for port in view.ports},
        "INTERFACE": interfaces,
        "LOOPBACK_INTERFACE": loopback,
    }


def _breakout(port: Port) -> str:
    return f"{port.plan.split}x{port.plan.rate_gbps:g}G"


def _port(view: SwitchView, port: Port) -> dict[str, object]:
    row: dict[str, object] = {
        "alias": port.plan.alias or port.plan.name,
        "index": str(port.plan.cage),
        "lanes": ",".join(map(str, port.plan.chip_lanes)),
        "speed": f"{port.rate_gbps * MBPS:g}" if port.rate_gbps < MBPS else str(int(port.rate_gbps * MBPS)),
        "admin_status": "up" if port.cable else "down",
    }
    if port.description:
        row["description"] = port.description
    return row | ({} if view.switch.mtu_bytes is None else {"mtu": str(view.switch.mtu_bytes)})


def _vlans(view: SwitchView) -> Tables:
    """Return the VLANs of ports that are not routed; the ports of a bond carry what the bond does."""
    rows: Rows = {f"Vlan{vlan}": {"vlanid": str(vlan)} for vlan in view.vlans}
    members: Rows = {}
    bonded = [(f"PortChannel{bond.plan.number}", bond.ports[0]) for bond in view.bonds]
    for name, port in [*((port.plan.name, port) for port in view.edge_ports), *bonded]:
        for vlan in port.vlans:
            mode = "untagged" if vlan == port.untagged else "tagged"
            members[f"Vlan{vlan}|{name}"] = {"tagging_mode": mode}
    return {"VLAN": rows | (overlay_vlans(view.overlay) if view.overlay else {}), "VLAN_MEMBER": members}


def _bgp(view: SwitchView) -> Tables:
    bgp = view.fabric.bgp
    if bgp is None or view.loopback_network is None or view.switch.asn is None:
        return {}
    family, neighbors = f"{view.family}_unicast", view.neighbors
    own = {port.cable.peer_address: port.cable.address for port in view.ports if port.cable}
    local = {peer.partition("/")[0]: (address or "").partition("/")[0] for peer, address in own.items() if peer}
    timers: dict[str, object] = {"keepalive": str(bgp.keepalive_s), "holdtime": str(bgp.hold_s)}
    tables: Tables = {
        "BGP_GLOBALS": {
            VRF: {
                "local_asn": str(view.switch.asn),
                "router_id": view.router_id,
                "default_ipv4_unicast": "false",
                "load_balance_mp_relax": "true",
                "log_nbr_state_changes": "true",
                **timers,
            }
        },
        "BGP_GLOBALS_AF": {f"{VRF}|{family}": {"max_ebgp_paths": str(bgp.maximum_paths)}},
        "BGP_GLOBALS_AF_NETWORK": {f"{VRF}|{family}|{network}": {} for network in view.announced},
        "BGP_NEIGHBOR": {
            f"{VRF}|{neighbor.address}": {
                "asn": str(neighbor.asn),
                "name": f"{neighbor.name} {neighbor.port}",
                **({} if neighbor.unnumbered else {"local_addr": local[neighbor.address]}),
                **timers,
            }
            for neighbor in neighbors
        },
        "BGP_NEIGHBOR_AF": {f"{VRF}|{neighbor.address}|{family}": dict(_ACTIVE) for neighbor in neighbors},
        "ROUTE_MAP_SET": {MAP: {}},
        "ROUTE_MAP": {f"{MAP}|10": {"route_operation": "permit"}},
    }
    for name, rows in (bgp_tables(view, view.overlay, _ACTIVE, timers) if view.overlay else {}).items():
        tables[name] = {**tables.get(name, {}), **rows}
    return tables


def _qos(view: SwitchView, roce: RoceClassPlan) -> Tables:
    lossless, notices, rest = str(roce.priority), str(roce.cnp_priority), str(BEST_EFFORT)
    classes = sorted({lossless, notices, rest})
    ports = [port.plan.name for port in view.ports if port.cable]
    schedulers = {lossless: "roce", notices: "cnp", rest: "rest"}
    queues: Rows = {f"{port}|{queue}": {"scheduler": schedulers[queue]} for port in ports for queue in classes}
    for port in ports:
        queues[f"{port}|{lossless}"]["wred_profile"] = MAP
    return {
        "DSCP_TO_TC_MAP": {MAP: {str(mark): str(priority) for mark, priority in view.dscp_priorities().items()}},
        "TC_TO_PRIORITY_GROUP_MAP": {MAP: {tc: tc if tc == lossless else rest for tc in classes}},
        "TC_TO_QUEUE_MAP": {MAP: {tc: tc for tc in classes}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {MAP: {lossless: lossless}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {MAP: {lossless: lossless}},
        "PORT_QOS_MAP": {port: _port_map(lossless) for port in ports},
        "SCHEDULER": {
            "roce": {"type": "DWRR", "weight": str(roce.bandwidth_percent)},
            "rest": {"type": "DWRR", "weight": str(100 - roce.bandwidth_percent)},
            "cnp": {"type": "STRICT"},
        },
        "WRED_PROFILE": {MAP: _wred(roce)},
        "QUEUE": queues,
        "CABLE_LENGTH": {"AZURE": {port.plan.name: f"{roce.cable_length_m}m" for port in view.ports}},
        "BUFFER_PG": {f"{port}|{lossless}": {"profile": "NULL"} for port in ports},
    }


def _port_map(lossless: str) -> dict[str, object]:
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map", "pfc_to_pg_map")
    return {**dict.fromkeys(maps, MAP), "pfc_enable": lossless}


def _wred(roce: RoceClassPlan) -> dict[str, object]:
    """Return when marks begin: the same for each colour, since nothing in the fabric colours packets."""
    row: dict[str, object] = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        row |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": str(roce.ecn_min_bytes),
            f"{colour}_max_threshold": str(roce.ecn_max_bytes),
            f"{colour}_drop_probability": str(roce.ecn_probability_percent),
        }
    return row
