"""
The network of a host as files of systemd: names and MTUs of its ports, rails, bonds, and tenants' interfaces.

networkd takes the first file that fits a port, in the order of their names, so that ours come before an image's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coldaisle.plan.host_side import HostSide
from coldaisle.render.files import HostFile, bare_address, render

if TYPE_CHECKING:
    from coldaisle.plan.model import NicPlan, NodePlan

FOLDER = "/etc/systemd/network"

FIRST_RAIL_TABLE = 100
"""Routing table of rail 0; rail N has this number plus N. Below the kernel's own tables (253 to 255)."""

PLANE_TABLES = 32
"""From the tables of one plane to those of the next; more rails than there are in any system."""


def network_files(node: NodePlan, side: HostSide) -> Iterator[HostFile]:
    """
    Yield the files of a node's network.

    Args:
        node: The node; a port without a MAC address has no name by it yet, and nothing to carry.
        side: Its bonds and its interfaces on tenants' networks.
    """
    bond_of = side.bond_of
    for nic in node.nics:
        if nic.mac is not None:
            yield _link(nic, bonded=nic.name in bond_of)
            yield from _port(nic, side)
    for bond in side.bonds:
        yield _networkd(f"15-coldaisle-{bond.name}.netdev", render("os/bond.netdev.j2", bond=bond))
        yield _layer3(bond.name, bond.mtu_bytes, side, bond.address, bond.gateway)
    for interface in side.interfaces:
        if interface.vlan is not None:
            yield _networkd(f"15-coldaisle-{interface.name}.netdev", render("os/vlan.netdev.j2", interface=interface))
            yield _layer3(interface.name, interface.mtu_bytes, side)


def _networkd(name: str, content: str) -> HostFile:
    return HostFile(path=f"{FOLDER}/{name}", content=content, reload=("networkd",))


def _link(nic: NicPlan, *, bonded: bool) -> HostFile:
    """Return what names a port, which a member's own MAC does: the one that it shows is its bond's."""
    key = "PermanentMACAddress" if bonded else "MACAddress"
    content = render("os/nic.link.j2", key=key, mac=nic.mac, name=nic.name, mtu_bytes=nic.mtu_bytes)
    return HostFile(path=f"{FOLDER}/10-coldaisle-{nic.name}.link", content=content, reload=("udev",))


def _port(nic: NicPlan, side: HostSide) -> Iterator[HostFile]:
    """Yield the file of a port that has something to carry: a bond, VLANs, or a rail's address."""
    path, bond = f"20-coldaisle-{nic.name}.network", side.bond_of.get(nic.name)
    if bond is not None:
        content = render("os/member.network.j2", name=nic.name, mtu_bytes=bond.mtu_bytes, bond=bond.name)
        yield _networkd(path, content)
    elif nic.rail is not None and nic.address is not None:
        yield _networkd(path, _rail(nic))
    elif any(nic.name in {interface.parent, interface.name} for interface in side.interfaces):
        yield _layer3(nic.name, nic.mtu_bytes, side, nic.address, nic.gateway)


def _rail(nic: NicPlan) -> str:
    return render(
        "os/rail.network.j2",
        mac=nic.mac,
        mtu_bytes=nic.mtu_bytes,
        address=nic.address,
        host_address=bare_address(nic.address or ""),
        gateway=nic.gateway,
        table=FIRST_RAIL_TABLE + PLANE_TABLES * nic.plane + (nic.rail or 0),
    )


def _layer3(
    name: str, mtu_bytes: int, side: HostSide, address: str | None = None, gateway: str | None = None
) -> HostFile:
    """
    Return the file of an interface that has addresses, or that VLANs stand on.

    Args:
        name: The interface: a port, a bond or a VLAN.
        mtu_bytes: Its MTU.
        side: The node's bonds and interfaces, in which its own tenant's network and its VLANs are found.
        address: Its address on the management network, with the prefix length.
        gateway: The node's default gateway.
    """
    own = next((interface for interface in side.interfaces if interface.name == name), None)
    content = render(
        "os/interface.network.j2",
        name=name,
        mtu_bytes=mtu_bytes,
        vlans=[interface.name for interface in side.interfaces if interface.parent == name],
        address=address or (own and own.address),
        gateway=gateway,
        dhcp=own is not None and own.dhcp,
        routes=[{"destination": route, "gateway": own.gateway} for route in own.routes] if own else [],
    )
    return _networkd(f"20-coldaisle-{name}.network", content)
