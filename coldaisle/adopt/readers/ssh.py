"""
Hosts and switches as they tell of themselves over SSH: a file a device, as `coldaisle adopt --live --keep` writes it.

Only ports that a cable can hang on are facts: what a host makes of them (bridges, VLANs, pods' own ports) is the plan's
to say, or the cluster's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.adopt.facts import Collector, Reading
from coldaisle.adopt.readers.parsing import (
    Json,
    address_of,
    at,
    interface_of,
    json_of,
    mac_of,
    maps,
    number_of,
    short,
    text_of,
)
from coldaisle.adopt.readers.redfish import serial_of

ARCHITECTURES = frozenset({"x86_64", "aarch64"})
MADE = frozenset({"bridge", "vlan", "bond", "vxlan", "tun", "dummy", "ipvlan", "macvlan", "geneve", "vrf", "wireguard"})
"""Kinds of links that a host makes by itself (ip-link(8), TYPES)."""
PODS = ("cali", "cilium", "cni", "docker", "flannel", "kube-", "lxc", "nodelocaldns", "veth", "virbr")
"""What names of ports begin with that container networks make."""
FILLERS = frozenset({"", "localdomain", "(none)"})
"""What `hostname -d` says where nobody has set a domain."""


def read(files: Mapping[str, str]) -> Reading:
    """Return what devices tell of themselves."""
    into = Collector("ssh")
    for path, text in sorted(files.items()):
        value = json_of(text, path, into)
        if value is not None and at(value, "address") is None:
            into.unreadable(path, "it is no device's answer", "give a folder that `adopt --live --keep` wrote")
        elif value is not None:
            _device(value, path, into)
    return into.reading()


def _device(value: Json, path: str, into: Collector) -> None:
    asked = address_of(at(value, "address"))
    name, domain = short(text_of(at(value, "hostname")) or str(asked))
    own = (text_of(at(value, "domain")) or domain or "").lower()
    machine = text_of(at(value, "machine"))
    into.add(
        "site",
        "",
        path,
        domain=None if own in FILLERS else own,
        timezone=text_of(at(value, "timezone")),
        ntp_servers=_time_servers(text_of(at(value, "ntp")) or ""),
    )
    into.add(
        "device",
        name,
        path,
        kind="node" if at(value, "role") == "host" else None,
        manufacturer=serial_of(at(value, "vendor")),
        model=serial_of(at(value, "product")),
        serial=serial_of(at(value, "serial")),
        management_address=asked,
        architecture=machine if machine in ARCHITECTURES else None,
        kernel=text_of(at(value, "kernel")),
        os=text_of(at(value, "os")),
    )
    ruled = {each.get("src") for each in maps(at(value, "rules"))}
    for port in _ports(at(value, "links")):
        address = _address(port)
        into.add(
            "port",
            f"{name}:{port['ifname']}",
            path,
            name=text_of(port["ifname"]),
            mac=mac_of(port.get("permaddr") or port.get("address")),
            mtu=number_of(port.get("mtu")),
            address=address,
            own_rule="yes" if address and address_of(address) in ruled else None,
        )
    _gateway(value, asked, path, into)


def _time_servers(text: str) -> tuple[str, ...]:
    """Return servers of timesyncd's (`NTP=a b`) or chrony's (`server a iburst`, `pool a`) settings, in their order."""
    found: list[str] = []
    for line in text.splitlines():
        found += line.removeprefix("NTP=").split() if line.startswith("NTP=") else line.split()[1:2]
    return tuple(dict.fromkeys(found))


def _ports(links: Json) -> Iterator[dict[str, Json]]:
    for link in maps(links):
        name = text_of(link.get("ifname"))
        made = at(link, "linkinfo", "info_kind") in MADE
        if name and link.get("link_type") == "ether" and not made and not name.startswith(PODS):
            yield link


def _address(port: dict[str, Json]) -> str | None:
    """Return the first address of a port that others may know, with its prefix."""
    found = (
        interface_of(f"{each.get('local')}/{each.get('prefixlen')}")
        for each in maps(port.get("addr_info"))
        if each.get("scope") == "global" and not each.get("temporary")
    )
    return next((each for each in found if each), None)


def _gateway(value: Json, asked: str | None, path: str, into: Collector) -> None:
    """Keep the gateway of the port that has the address by which the host was asked."""
    of_port = {
        address_of(each.get("local")): text_of(port.get("ifname"))
        for port in maps(at(value, "links"))
        for each in maps(port.get("addr_info"))
    }
    for route in maps(at(value, "routes")):
        if at(value, "role") == "host" and asked in of_port and route.get("dev") == of_port[asked]:
            into.add("network", "management", path, gateway=address_of(route.get("gateway")))
