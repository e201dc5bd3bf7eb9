"""What a guest's kernel says of its ports and its RDMA devices, in the plan's words."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sim.rdma.guests import Guest

TABLES = "/sys/class/infiniband/*/ports/*"
GIDS = f"grep -s . {TABLES}/gids/* {TABLES}/gid_attrs/*/* | grep -v ':0000:0000:0000:0000:0000:0000:0000:0000$'"
"""Every entry that is in use, with its kind and the network port that it belongs to, by path."""

COMMANDS = ("ip -d -json link show", "rdma -j link show", "ibv_devinfo", GIDS)
BETWEEN = "-- next --"
"""Stands between the answers of commands that are given in one go."""

ROCE_V2 = "RoCE v2"


@dataclass(frozen=True, slots=True)
class Gid:
    """An entry of an RDMA device's table: its index, its address, its kind, and the interface that has the address."""

    device: str
    index: int
    address: str
    kind: str
    interface: str


@dataclass(frozen=True, slots=True)
class Reading:
    """
    A guest as it was seen.

    `links` are the ports as `ip -d -json link` has them by name; `devices` the RDMA device of each port; `rdma_mtus`
    the active MTU of each RDMA device in bytes.
    """

    host: str
    links: Mapping[str, Mapping[str, Any]]
    devices: Mapping[str, str]
    rdma_mtus: Mapping[str, int]
    gids: tuple[Gid, ...]

    def mtu(self, port: str) -> int | None:
        """Return the MTU of a port in bytes, None where there is no such port."""
        return self.links.get(port, {}).get("mtu")

    def info(self, port: str, kind: str = "info_data") -> Mapping[str, Any]:
        """Return what the driver of a virtual port says of it, or (info_slave_data) a bond of its member."""
        found: Mapping[str, Any] = self.links.get(port, {}).get("linkinfo", {}).get(kind, {})
        return found


def read(guest: Guest) -> Reading:
    """Ask a guest for all of it."""
    said = guest.ask(f"; echo; echo {BETWEEN}; ".join(COMMANDS)).stdout.split(f"{BETWEEN}\n")
    links, devices, mtus, gids = (*said, "", "", "", "")[: len(COMMANDS)]
    return Reading(
        host=guest.name,
        links={link["ifname"]: link for link in json.loads(links.strip() or "[]")},
        devices={link["netdev"]: link["ifname"] for link in json.loads(devices.strip() or "[]") if "netdev" in link},
        rdma_mtus=parse_mtus(mtus),
        gids=parse_gids(gids),
    )


def parse_mtus(text: str) -> dict[str, int]:
    """Return the active MTU of each device, from `ibv_devinfo`."""
    found = {}
    for part in re.split(r"^hca_id:", text, flags=re.MULTILINE)[1:]:
        mtu = re.search(r"active_mtu:\s+(\d+)", part)
        if mtu:
            found[part.split()[0]] = int(mtu[1])
    return found


def parse_gids(text: str) -> tuple[Gid, ...]:
    """Return the tables of all devices, from lines of sysfs with their paths; an entry without a kind is not in use."""
    values: dict[tuple[str, str, int], str] = {}
    for line in text.splitlines():
        path, _, value = line.partition(":")
        parts = PurePosixPath(path).parts
        if len(parts) > 4 and parts[-1].isdigit():  # noqa: PLR2004 - / sys class infiniband DEVICE
            values[parts[4], parts[-2], int(parts[-1])] = value
    return tuple(
        Gid(device, index, _plain(value), values[device, "types", index], values.get((device, "ndevs", index), ""))
        for (device, kind, index), value in sorted(values.items())
        if kind == "gids" and (device, "types", index) in values
    )


def _plain(gid: str) -> str:
    """Return a GID as the address that it stands for; IPv4 addresses are in it as RFC 4291 maps them."""
    address = ipaddress.IPv6Address(gid)
    return str(address.ipv4_mapped or address)
