"""
Configurations of switches read back: the sessions that each one opens, and the ports that it gives addresses.

EOS and FRR are read by hier-config, which refuses a line that stands twice, NVUE as YAML and SONiC as JSON, so that no
code of the renderers is used.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from hier_config import HConfig, HConfigChild, Platform, get_hconfig


@dataclass(frozen=True, slots=True)
class Session:
    """A BGP session as one switch opens it: own address and number, and the peer's."""

    address: str
    asn: int
    peer_address: str
    peer_asn: int

    @property
    def mirrored(self) -> Session:
        """Return what the other end has to open."""
        return Session(self.peer_address, self.peer_asn, self.address, self.asn)


@dataclass(frozen=True, slots=True)
class Read:
    """
    What a configuration says: host name, number, sessions, and the address of each port that has one.

    `by_port` has the peer's number of each session that names a port instead of an address.
    """

    hostname: str
    asn: int | None
    sessions: frozenset[Session]
    addresses: Mapping[str, str]
    by_port: Mapping[str, int]


def _by_port(peers: Mapping[str, int]) -> dict[str, int]:
    return {peer: number for peer, number in peers.items() if peer.startswith(("Ethernet", "swp"))}


def _sessions(asn: int | None, addresses: Iterable[str], peers: Mapping[str, int]) -> frozenset[Session]:
    """Return the sessions whose own address shares its network with the peer; a peer without one is left out."""
    own = {str(other): str(at.ip) for at in map(ipaddress.ip_interface, addresses) for other in at.network}
    return frozenset(
        Session(own[peer], asn, peer, number) for peer, number in peers.items() if peer in own and asn is not None
    )


def lines_of(text: str) -> HConfig:
    """Return the tree of a text without its comments and the words that end a section, which indents show too."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("!", "exit", "end")))
    return get_hconfig(Platform.ARISTA_EOS, "\n".join(lines))


def _words(lines: Iterable[HConfigChild], *first: str) -> list[list[str]]:
    """Return the words of the lines that begin with some."""
    split = [line.text.split() for line in lines]
    return [words for words in split if words[: len(first)] == list(first)]


def _addresses(parsed: HConfig) -> dict[str, str]:
    found: dict[str, str] = {}
    for interface in parsed.get_children(startswith="interface "):
        name = interface.text.split()[1]
        for family in ("ip", "ipv6"):
            for words in _words(interface.children, family, "address"):
                found |= {name: words[2]} if name.startswith(("Ethernet", "swp")) else {}
    return found


def lines_read(text: str) -> Read:
    """Read EOS or FRR."""
    parsed = lines_of(text)
    routers = list(parsed.get_children(startswith="router bgp "))
    asn = int(routers[0].text.split()[2]) if routers else None
    neighbors = _words(routers[0].all_children(), "neighbor") if routers else []
    peers = {_peer(words): int(words[-1]) for words in neighbors if words[-2] == "remote-as"}
    group = {words[2]: words[4] for words in neighbors if words[3:4] == ["peer-group"]}
    active = {words[1] for words in neighbors if words[2] == "activate"}
    addresses = _addresses(parsed)
    live = {peer: number for peer, number in peers.items() if group.get(peer, peer) in active}
    hostname = next(iter(parsed.get_children(startswith="hostname "))).text.split()[1]
    return Read(hostname, asn, _sessions(asn, addresses.values(), live), addresses, _by_port(live))


def _peer(words: list[str]) -> str:
    """Return the address or the port of a line `neighbor ... remote-as N`; EOS writes the word interface before it."""
    return words[2] if words[1] == "interface" else words[1]


def nvue_read(text: str) -> Read:
    """Read NVUE."""
    tree = yaml.safe_load(text)[0]["set"]
    asn = tree.get("router", {}).get("bgp", {}).get("autonomous-system")
    bgp = tree.get("vrf", {}).get("default", {}).get("router", {}).get("bgp", {})
    peers = {
        peer: found["remote-as"]
        for peer, found in bgp.get("neighbor", {}).items()
        if any(family["enable"] == "on" for family in found["address-family"].values())
    }
    addresses = {
        name: address
        for name, found in tree["interface"].items()
        if name.startswith("swp")
        for address in found.get("ip", {}).get("address", {})
    }
    hostname = tree["system"]["hostname"]
    return Read(hostname, asn, _sessions(asn, addresses.values(), peers), addresses, _by_port(peers))


def sonic_read(text: str) -> Read:
    """Read SONiC."""
    tables: dict[str, dict[str, Any]] = json.loads(text)
    asn = int(tables["BGP_GLOBALS"]["default"]["local_asn"]) if "BGP_GLOBALS" in tables else None
    active = {
        key.split("|")[1] for key, row in tables.get("BGP_NEIGHBOR_AF", {}).items() if row["admin_status"] == "true"
    }
    addresses = dict(key.split("|") for key in tables.get("INTERFACE", {}) if "|" in key)
    own = {str(ipaddress.ip_interface(address).ip) for address in addresses.values()}
    sessions = frozenset(
        Session(row["local_addr"], asn, peer, int(row["asn"]))
        for peer, row in ((key.split("|")[1], row) for key, row in tables.get("BGP_NEIGHBOR", {}).items())
        if peer in active and row.get("local_addr") in own and asn is not None
    )
    rows = {key.split("|")[1]: int(row["asn"]) for key, row in tables.get("BGP_NEIGHBOR", {}).items()}
    live = {peer: number for peer, number in rows.items() if peer in active}
    return Read(tables["DEVICE_METADATA"]["localhost"]["hostname"], asn, sessions, addresses, _by_port(live))


READERS: Mapping[str, Callable[[str], Read]] = {
    "cumulus": nvue_read,
    "sonic": sonic_read,
    "eos": lines_read,
    "frr": lines_read,
}
"""Readers by the operating system of the plan."""
