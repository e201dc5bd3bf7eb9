"""The switches of a running twin: FRR with the generated configurations, its sessions, and the kernel's routes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from zlib import crc32

from coldaisle.render.frr import switch_config
from sim.fabric import load_configuration, start_daemons
from sim.shell import find, run
from sim.twin.place import Place
from sim.twin.topology import Twin

AT_ONCE = 4
"""Programs that run beside each other: enough to keep two cores busy."""

V6_SETTINGS = {
    "net.ipv6.conf.all.forwarding": "1",
    "net.ipv6.fib_multipath_hash_policy": "1",
    "net.ipv6.conf.all.keep_addr_on_down": "1",
    "net.ipv6.conf.default.keep_addr_on_down": "1",
}
"""What a router of IPv6 needs beside; a port that goes down must keep its addresses, as one of IPv4 does."""

SEED = "net.ipv4.fib_multipath_hash_seed"
"""
Makes each switch spread flows in its own way, as real ones do.

With one seed for all, a flow would meet the same choice at its spine as at its leaf, and some cores would have no
traffic at all (polarisation).
"""

In = TypeVar("In")
Out = TypeVar("Out")


def beside(function: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
    """Return a function's results in the order of the items, a few at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(function, items))


def configurations(twin: Twin) -> dict[str, str]:
    """Return the configuration of each switch, as `coldaisle fabric configs` writes it for FRR."""
    return {name: switch_config(twin.site, twin.fabric.name, name) for name in twin.switches}


def start(place: Place, texts: Mapping[str, str]) -> dict[str, str]:
    """Start all switches with their configurations, and return what each said of its own; nothing where it took it."""
    groups = place.groups

    def one(name: str) -> str:
        settings = [f"{key}={value}" for key, value in V6_SETTINGS.items()]
        settings.append(f"{SEED}={crc32(name.encode())}")
        # -e: kernels before 6.11 have no seed.
        run([*inside(place, name), find("sysctl", "procps"), "-eqw", *settings])
        start_daemons(groups, name, place.namespace(name), place.sockets(name), place.logs)
        file = place.folder / "configurations" / name / "frr.conf"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[name])
        (file.parent / "vtysh.conf").touch()  # its own settings, of which it has none; without the file it complains
        return load_configuration(place.sockets(name), file).strip()

    return dict(zip(texts, beside(one, texts), strict=True))


def inside(place: Place, device: str) -> list[str]:
    """Return the words that run a command in a device's network namespace."""
    return [find("nsenter", "util-linux"), f"--net=/run/netns/{place.namespace(device)}"]


def sessions(place: Place, switches: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the state of every BGP session, by switch and neighbour as the configuration names it."""
    names = list(switches)

    def one(name: str) -> dict[str, str]:
        command = [find("vtysh", "frr"), "--vty_socket", str(place.sockets(name)), "-c", "show bgp summary json"]
        return parse_sessions(run(command, check=False).stdout)

    return {
        (name, peer): state
        for name, found in zip(names, beside(one, names), strict=True)
        for peer, state in found.items()
    }


def parse_sessions(text: str) -> dict[str, str]:
    """Return neighbour and state of each session, in all address families, from `show bgp summary json`."""
    try:
        families: dict[str, Any] = json.loads(text or "{}")
    except ValueError:
        return {}
    return {
        peer: str(each.get("state", "?"))
        for family in families.values()
        if isinstance(family, dict)
        for peer, each in family.get("peers", {}).items()
    }


def routes(place: Place, switches: Iterable[str], version: int) -> dict[str, dict[str, int]]:
    """Return for each switch how many paths the kernel has to each network that BGP gave it."""
    names = list(switches)

    def one(name: str) -> dict[str, int]:
        command = [find("ip", "iproute2"), "-n", place.namespace(name), f"-{version}", "-json", "route", "show"]
        return parse_routes(run([*command, "proto", "bgp"], check=False).stdout)

    return dict(zip(names, beside(one, names), strict=True))


def parse_routes(text: str) -> dict[str, int]:
    """Return how many live paths each network has, from `ip -json route`; a host's network gets its prefix length."""
    counts: dict[str, int] = {}
    for route in json.loads(text or "[]"):
        hops = route.get("nexthops") or [route]
        live = sum(1 for hop in hops if not {"dead", "linkdown"} & set(hop.get("flags", ())))
        network = str(route["dst"])
        if "/" not in network and network != "default":
            network += "/128" if ":" in network else "/32"
        counts[network] = counts.get(network, 0) + live
    return counts
