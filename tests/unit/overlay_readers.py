"""
Overlays read back from configurations of switches, with no code of the renderers.

EOS and FRR are read by hier-config, NVUE as YAML and SONiC as JSON. FRR knows neither VLANs nor ports: whoever makes
its links gives it those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from hier_config import HConfigChild

from tests.unit.switch_readers import Session, lines_of

Way = tuple[str, str]
"""Route distinguisher and route target."""
Carried = tuple[int | None, frozenset[int]]
"""VLAN without a tag, and those with theirs."""


@dataclass(frozen=True, slots=True)
class ReadOverlay:
    """
    What a configuration says of an overlay.

    `networks` and `tenants` are by VNI; a tenant's name is that of its VRF. `gateways` has VRF and address by VLAN,
    `relays` the DHCP servers by VLAN.
    """

    vtep: str | None
    networks: Mapping[int, Way]
    tenants: Mapping[int, tuple[str, Way]]
    sessions: frozenset[Session]
    vlans: Mapping[int, int] = field(default_factory=dict)
    gateways: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    relays: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    ports: Mapping[str, Carried] = field(default_factory=dict)
    gateway_mac: str | None = None


def _bare(address: str) -> str:
    return address.partition("/")[0]


def _one(found: list[str]) -> str | None:
    return found[0] if found else None


def _texts(line: HConfigChild, start: str) -> list[str]:
    """Return what follows some words, in each line below one that begins with them."""
    return [child.text.removeprefix(start) for child in line.children if child.text.startswith(start)]


def eos_overlay(text: str) -> ReadOverlay:
    """Read EOS."""
    tree = lines_of(text)
    interfaces = {line.text.split()[1]: line for line in tree.get_children(startswith="interface ")}
    router = next(iter(tree.get_children(startswith="router bgp ")))
    tunnel = interfaces.get("Vxlan1")
    vlans = {int(v): int(n) for v, n in (t.split(" vni ") for t in _texts(tunnel, "vxlan vlan "))} if tunnel else {}
    vrfs = {name: int(vni) for name, vni in (t.split(" vni ") for t in _texts(tunnel, "vxlan vrf "))} if tunnel else {}
    blocks = {line.text: line for line in router.children}
    macs = [line.text.split()[-1] for line in tree.get_children(startswith="ip virtual-router mac-address ")]
    switched = {n: line for n, line in interfaces.items() if _texts(line, "switchport ")}
    svis = {int(n[4:]): line for n, line in interfaces.items() if n.startswith("Vlan")}
    return ReadOverlay(
        vtep=_bare(_texts(interfaces["Loopback1"], "ip address ")[0]) if tunnel else None,
        networks={vni: _way(blocks[f"vlan {vlan}"], "route-target both ") for vlan, vni in vlans.items()},
        tenants={v: (n, _way(blocks[f"vrf {n}"], "route-target import evpn ")) for n, v in vrfs.items()},
        sessions=_eos_sessions(router, _bare(_texts(interfaces["Loopback0"], "ip address ")[0])),
        vlans=vlans,
        gateways={v: (_texts(s, "vrf ")[0], _texts(s, "ip address virtual ")[0]) for v, s in svis.items()},
        relays={v: tuple(t.split()[0] for t in _texts(s, "ip helper-address ")) for v, s in svis.items()},
        ports={name: _eos_port(line) for name, line in switched.items()},
        gateway_mac=_one(macs),
    )


def _way(block: HConfigChild, target: str) -> Way:
    return _texts(block, "rd ")[0], _texts(block, target)[0]


def _eos_sessions(router: HConfigChild, own: str) -> frozenset[Session]:
    """Return the sessions of the peers whose group is active for EVPN."""
    asn = int(router.text.split()[2])
    family = next(line for line in router.children if line.text == "address-family evpn")
    active = {text.split()[0] for text in _texts(family, "neighbor ") if text.endswith(" activate")}
    peers = [text.split() for text in _texts(router, "neighbor ")]
    members = {words[0] for words in peers if words[1:3] == ["peer", "group"] and words[-1] in active}
    numbers = {words[0]: int(words[2]) for words in peers if words[1] == "remote-as"}
    return frozenset(Session(own, asn, peer, numbers[peer]) for peer in members)


def _eos_port(line: HConfigChild) -> Carried:
    access, native = _one(_texts(line, "switchport access vlan ")), _one(_texts(line, "switchport trunk native vlan "))
    allowed = {int(vlan) for text in _texts(line, "switchport trunk allowed vlan ") for vlan in text.split(",")}
    bare = access or native
    return (None if bare is None else int(bare)), frozenset(allowed - {int(bare or 0)})


def frr_overlay(text: str) -> ReadOverlay:
    """Read FRR; the second address of its loopback is the tunnel's."""
    tree = lines_of(text)
    routers = {line.text: line for line in tree.get_children(startswith="router bgp ")}
    router = next(line for name, line in routers.items() if " vrf " not in name)
    asn = int(router.text.split()[2])
    loopback = next(line for line in tree.get_children(startswith="interface lo"))
    addresses = [_bare(address) for address in _texts(loopback, "ip address ")]
    family = _evpn(router)
    active = {text.split()[0] for text in _texts(family, "neighbor ") if text.endswith(" activate")}
    peers = [text.split() for text in _texts(router, "neighbor ")]
    numbers = {words[0]: int(words[2]) for words in peers if words[1] == "remote-as"}
    sources = {words[0]: words[2] for words in peers if words[1] == "update-source"}
    vrfs = {line.text.split()[1]: int(_texts(line, "vni ")[0]) for line in tree.get_children(startswith="vrf ")}
    vnis = {int(line.text.split()[1]): line for line in family.children if line.text.startswith("vni ")}
    return ReadOverlay(
        vtep=_one(addresses[1:]),
        networks={vni: _way(line, "route-target import ") for vni, line in vnis.items()},
        tenants={
            vni: (name, _way(_evpn(routers[f"router bgp {asn} vrf {name}"]), "route-target import "))
            for name, vni in vrfs.items()
        },
        sessions=frozenset(Session(sources[peer], asn, peer, numbers[peer]) for peer in active),
    )


def _evpn(router: HConfigChild) -> HConfigChild:
    return next(line for line in router.children if line.text == "address-family l2vpn evpn")


def nvue_overlay(text: str) -> ReadOverlay:
    """Read NVUE."""
    tree: dict[str, Any] = yaml.safe_load(text)[0]["set"]
    interfaces, vrfs = tree["interface"], tree["vrf"]
    bridge = tree.get("bridge", {}).get("domain", {}).get("br_default", {}).get("vlan", {})
    svis = {row["vlan"]: row for row in interfaces.values() if row["type"] == "svi"}
    neighbors = vrfs["default"]["router"]["bgp"]["neighbor"]
    asn = tree["router"]["bgp"]["autonomous-system"]
    macs = {row["link"]["mac-address"] for row in svis.values()}
    return ReadOverlay(
        vtep=tree.get("nve", {}).get("vxlan", {}).get("source", {}).get("address"),
        networks={
            int(vni): (row["rd"], next(iter(row["route-target"]["import"])))
            for vni, row in tree["evpn"].get("vni", {}).items()
        },
        tenants={
            int(next(iter(row["evpn"]["vni"]))): (name, _nvue_way(row["router"]["bgp"]))
            for name, row in vrfs.items()
            if name != "default"
        },
        sessions=frozenset(
            Session(row["update-source"], asn, peer, row["remote-as"])
            for peer, row in neighbors.items()
            if row["address-family"].get("l2vpn-evpn", {}).get("enable") == "on"
        ),
        vlans={int(vlan): int(next(iter(row["vni"]))) for vlan, row in bridge.items() if "vni" in row},
        gateways={vlan: (row["ip"]["vrf"], next(iter(row["ip"]["address"]))) for vlan, row in svis.items()},
        relays={vlan: _nvue_servers(tree, vlan) for vlan in svis},
        ports={
            name: _nvue_port(row["bridge"]["domain"]["br_default"])
            for name, row in interfaces.items()
            if "bridge" in row
        },
        gateway_mac=_one(sorted(macs)),
    )


def _nvue_way(bgp: Mapping[str, Any]) -> Way:
    return bgp["rd"], next(iter(bgp["route-import"]["from-evpn"]["route-target"]))


def _nvue_servers(tree: Mapping[str, Any], vlan: int) -> tuple[str, ...]:
    for relay in tree["service"].get("dhcp-relay", {}).values():
        down = relay["downstream-interface"].get(f"vlan{vlan}")
        if down:
            return tuple(relay["server-group"][down["server-group-name"]]["server"])
    return ()


def _nvue_port(row: Mapping[str, Any]) -> Carried:
    bare = row.get("access", row.get("untagged"))
    return bare, frozenset(int(vlan) for vlan in row.get("vlan", {}) if int(vlan) != bare)


def sonic_overlay(text: str) -> ReadOverlay:
    """Read SONiC."""
    tables: dict[str, dict[str, Any]] = json.loads(text)
    maps = {int(row["vni"]): int(row["vlan"][4:]) for row in tables.get("VXLAN_TUNNEL_MAP", {}).values()}
    families = tables["BGP_GLOBALS_AF"]
    tenants = {
        int(row["vni"]): (name.removeprefix("Vrf-"), _sonic_way(families[f"{name}|l2vpn_evpn"]))
        for name, row in tables.get("VRF", {}).items()
    }
    neighbors = {key.split("|")[1]: row for key, row in tables["BGP_NEIGHBOR"].items()}
    active = {key.split("|")[1] for key in tables["BGP_NEIGHBOR_AF"] if key.endswith("|l2vpn_evpn")}
    asn = int(tables["BGP_GLOBALS"]["default"]["local_asn"])
    rows = tables.get("VLAN_INTERFACE", {})
    addresses = {int(key.split("|")[0][4:]): key.split("|")[1] for key in rows if "|" in key}
    return ReadOverlay(
        vtep=_one([row["src_ip"] for row in tables.get("VXLAN_TUNNEL", {}).values()]),
        networks={
            int(key.split("|")[2]): _sonic_way(row) for key, row in tables.get("BGP_GLOBALS_EVPN_VNI", {}).items()
        },
        tenants=tenants,
        sessions=frozenset(
            Session(neighbors[peer]["local_addr"], asn, peer, int(neighbors[peer]["asn"])) for peer in active
        ),
        vlans={vlan: vni for vni, vlan in maps.items() if vni not in tenants},
        gateways={v: (rows[f"Vlan{v}"]["vrf_name"].removeprefix("Vrf-"), at) for v, at in addresses.items()},
        relays={v: tuple(tables["DHCPV4_RELAY"].get(f"Vlan{v}", {}).get("dhcpv4_servers", ())) for v in addresses}
        if "DHCPV4_RELAY" in tables
        else dict.fromkeys(addresses, ()),
        ports=_sonic_ports(tables.get("VLAN_MEMBER", {})),
        gateway_mac=tables.get("SAG", {}).get("GLOBAL", {}).get("gateway_mac"),
    )


def _sonic_way(row: Mapping[str, Any]) -> Way:
    return row["route-distinguisher"], row["import-rts"][0]


def _sonic_ports(members: Mapping[str, Mapping[str, str]]) -> dict[str, Carried]:
    found: dict[str, Carried] = {}
    for key, row in members.items():
        vlan, port = re.fullmatch(r"Vlan(\d+)\|(\w+)", key).groups()  # type: ignore[union-attr] # else it fails
        bare, tagged = found.get(port, (None, frozenset()))
        untagged = row["tagging_mode"] == "untagged"
        found[port] = (int(vlan), tagged) if untagged else (bare, tagged | {int(vlan)})
    return found


OVERLAY_READERS: Mapping[str, Callable[[str], ReadOverlay]] = {
    "cumulus": nvue_overlay,
    "sonic": sonic_overlay,
    "eos": eos_overlay,
    "frr": frr_overlay,
}
"""Readers by the operating system of the plan."""
