"""
The wires of a site: a network namespace a device, a bridge for the out-of-band network, a veth pair a cable.

`wiring` says from the plan what must exist; `connect` makes what is missing; nothing else is touched, so that a second
call repairs.
"""

from __future__ import annotations

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from coldaisle.plan.model import CablePlan, End, FabricPlan, NicPlan, NodePlan, SitePlan
from sim.shell import find, run

ROOT = ""
"""The namespace of the machine itself, which plays the deploy host."""

INTERFACE_CHARS = 15
"""Longest interface name in Linux (IFNAMSIZ less the final zero)."""

LLDP_FORWARD_MASK = 0x4000
"""Lets a guest's bridge pass LLDP frames on, as a cable would (group_fwd_mask, bit 14 of 01:80:c2:00:00:0e)."""

BMC_DEVICE = "bmc"
CONTROL_PLANE = "cp"
OOB_MTU_BYTES = 1500
AGEING_S, HZ = 86_400, 100
"""How long a bridge knows where a host is, and the parts of a second in which it counts (ip-link(8): USER_HZ)."""


@dataclass(frozen=True, slots=True)
class Port:
    """
    A network port: the device that it belongs to ("" is this machine), and its name there.

    One of a bridge that is not for `multicast` gets none from its neighbours: IPv6 does not work through it.
    """

    device: str
    name: str
    mac: str | None = None
    bridge: str | None = None
    addresses: tuple[str, ...] = ()
    multicast: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two ports."""

    a: Port
    b: Port
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class Tap:
    """The port of a guest: what QEMU opens, bridged to the cable."""

    device: str
    name: str
    bridge: str
    mtu_bytes: int


Owned = TypeVar("Owned", Port, Tap)


@dataclass(frozen=True, slots=True)
class Wiring:
    """All that must exist. `bridges` are (device, name, MTU); `routes` are (device, destination, next hop)."""

    devices: tuple[str, ...]
    bridges: tuple[tuple[str, str, int], ...]
    links: tuple[Link, ...]
    taps: tuple[Tap, ...]
    routes: tuple[tuple[str, str, str], ...] = field(default=())


def wiring(plan: SitePlan) -> Wiring:
    """Return the wires of a plan. The order is the plan's, so the same plan gives the same names."""
    oob = oob_switch(plan)
    links = [*_oob_links(plan, oob), *_fabric_links(plan)]
    taps = [guest_tap(node, nic) for node in plan.nodes if node.boot == "network" for nic in node.nics]
    bridges = [(oob, "br0", OOB_MTU_BYTES), *((tap.device, tap.bridge, tap.mtu_bytes) for tap in taps)]
    devices = dict.fromkeys([oob, *(end.device for link in links for end in (link.a, link.b))])
    return Wiring(
        devices=tuple(device for device in devices if device != ROOT),
        bridges=tuple(bridges),
        links=tuple(links),
        taps=tuple(taps),
        routes=tuple(_routes(plan)),
    )


def oob_switch(plan: SitePlan) -> str:
    """Return the name of the switch that joins all management ports."""
    switches = (switch for fabric in plan.fabrics.values() for switch in fabric.switches)
    return next((switch.name for switch in switches if switch.role == "oob"), "oob01")


def is_guest(node: NodePlan) -> bool:
    """Tell whether a node is a whole machine (it boots over the network) and not a container."""
    return node.boot == "network"


def management_networks(plan: SitePlan) -> Sequence[ipaddress.IPv4Network]:
    """Return the networks of BMCs and of hosts that the out-of-band bridge joins, each a /24 of the plan."""
    addresses = [node.bmc.address for node in plan.nodes if node.bmc]
    addresses += [node.management_address for node in plan.nodes]
    networks = {ipaddress.ip_interface(f"{address.split('/')[0]}/24").network for address in addresses}
    return sorted(network for network in networks if isinstance(network, ipaddress.IPv4Network))


def with_prefix(address: str) -> str:
    """Return a management address with its prefix length; plans give it with or without."""
    return address if "/" in address else f"{address}/24"


def deploy_addresses(plan: SitePlan) -> tuple[str, ...]:
    """Return this machine's addresses on the out-of-band network: the first of each network."""
    return tuple(f"{network.network_address + 1}/{network.prefixlen}" for network in management_networks(plan))


# -- the out-of-band network ------------------------------------------------------------------------------------
def _oob_links(plan: SitePlan, oob: str) -> Iterator[Link]:
    """
    Yield the links of the bridge: first what no plan has a cable for, then the plan's out-of-band cables.

    All BMCs share one port, since one process answers for all of them.
    """
    yield _to_oob(oob, Port(ROOT, f"ca-{plan.name}0"[:INTERFACE_CHARS], addresses=deploy_addresses(plan)), "deploy")
    bmcs = tuple(with_prefix(node.bmc.address) for node in plan.nodes if node.bmc)
    yield _to_oob(oob, Port(BMC_DEVICE, "bmc0", addresses=bmcs), "bmc")
    if plan.cluster is not None:
        host = urlsplit(plan.cluster.api_server).hostname or ""
        yield _to_oob(oob, Port(CONTROL_PLANE, "mgmt0", addresses=(with_prefix(host),)), "cluster")
    for cable in (cable for fabric in plan.fabrics.values() for cable in fabric.cables if cable.kind == "oob"):
        end, other = (cable.a, cable.b) if cable.b.device == oob else (cable.b, cable.a)
        if end.port != BMC_DEVICE:
            yield _to_oob(oob, _oob_port(plan, end), other.port)


def _to_oob(oob: str, port: Port, name: str) -> Link:
    """Return the link of one port to the out-of-band bridge, whose own port is `name`."""
    return Link(port, Port(oob, name[:INTERFACE_CHARS], bridge="br0"), OOB_MTU_BYTES)


def _oob_port(plan: SitePlan, end: End) -> Port:
    """Return a device's management port; service hosts and switches have a fixed address, nodes ask for theirs."""
    node = next((node for node in plan.nodes if node.name == end.device), None)
    if node is not None:
        return host_port(node, next(nic for nic in node.nics if nic.name == end.port))
    switches = (switch for fabric in plan.fabrics.values() for switch in fabric.switches)
    address = next((switch.management_address for switch in switches if switch.name == end.device), None)
    if plan.provisioning is not None and plan.provisioning.host == end.device:
        address = plan.provisioning.host_address
    return Port(end.device, end.port[:INTERFACE_CHARS], addresses=(with_prefix(address),) if address else ())


# -- fabrics ----------------------------------------------------------------------------------------------------
def _fabric_links(plan: SitePlan) -> Iterator[Link]:
    """Yield the cables of every fabric that carries data."""
    nodes = {node.name: node for node in plan.nodes}
    for fabric in plan.fabrics.values():
        for cable in fabric.cables:
            if cable.kind != "oob":
                yield _cable_link(fabric, cable, nodes)


def _cable_link(fabric: FabricPlan, cable: CablePlan, nodes: dict[str, NodePlan]) -> Link:
    """Return the link of one cable; the switch's end takes the plan's name of the port."""
    ends = []
    for end in (cable.a, cable.b):
        node = nodes.get(end.device)
        if node is None:
            ends.append(Port(end.device, end.port[:INTERFACE_CHARS]))
        else:
            ends.append(host_port(node, next(nic for nic in node.nics if nic.name == end.port)))
    return Link(ends[0], ends[1], fabric.mtu_bytes or cable.mtu_bytes or OOB_MTU_BYTES)


def host_port(node: NodePlan, nic: NicPlan) -> Port:
    """Return a node's end of a cable: the port itself in a container, the outer side of a bridge for a guest."""
    if is_guest(node):
        return Port(node.name, f"up-{nic.name}"[:INTERFACE_CHARS], bridge=bridge_name(nic))
    return Port(node.name, nic.name, mac=nic.mac)


def guest_tap(node: NodePlan, nic: NicPlan) -> Tap:
    """Return the tap that carries one port of a guest; it takes frames as long as the cable does."""
    return Tap(node.name, nic.name, bridge_name(nic), guest_mtu_bytes(nic) or OOB_MTU_BYTES)


def guest_mtu_bytes(nic: NicPlan) -> int | None:
    """
    Return the largest MTU that a guest's port offers; None where it is Ethernet's own.

    It is the usual 216 bytes above the host's (9216 for 9000).
    """
    return nic.mtu_bytes + 216 if nic.mtu_bytes > OOB_MTU_BYTES else None


def bridge_name(nic: NicPlan) -> str:
    """Return the name of the bridge that joins the tap of a guest's port to its cable."""
    return f"br-{nic.name}"[:INTERFACE_CHARS]


def _routes(plan: SitePlan) -> Iterator[tuple[str, str, str]]:
    """Yield the routes to pods and services, which live behind the control plane's address."""
    if plan.cluster is None:
        return
    host = urlsplit(plan.cluster.api_server).hostname or ""
    for network in (plan.cluster.pod_cidr, plan.cluster.service_cidr):
        yield ROOT, network, host


# -- making it --------------------------------------------------------------------------------------------------
def connect(prefix: str, wanted: Wiring) -> int:
    """
    Make what is missing of a wiring, and return how many links and taps were made.

    `prefix` starts the name of every namespace. Addresses are set on old ports too, since a plan may have moved them.
    """
    present = namespaces(prefix)
    new = frozenset(device for device in wanted.devices if f"{prefix}{device}" not in present)
    _batch([f"netns add {prefix}{device}" for device in wanted.devices if device in new])
    ports = {device: frozenset() if device in new else _ports(prefix, device) for device in (ROOT, *wanted.devices)}
    _batch(_bridge_commands(prefix, wanted, ports))
    links = [link for link in wanted.links if link.a.name not in ports[link.a.device]]
    taps = [tap for tap in wanted.taps if tap.name not in ports[tap.device]]
    _batch([_link_command(prefix, link) for link in links])
    made, ends, own_taps = _ends(links), _ends(wanted.links), by_device(taps)
    for device in (ROOT, *wanted.devices):
        commands = _port_commands(device, made[device], own_taps[device]) + _address_commands(ends[device])
        _batch(commands, namespace=f"{prefix}{device}" if device else None)
    _batch([f"route replace {network} via {hop}" for _, network, hop in wanted.routes])
    return len(links) + len(taps)


def _ends(links: Iterable[Link]) -> defaultdict[str, list[Port]]:
    return by_device(end for link in links for end in (link.a, link.b))


def by_device(owned: Iterable[Owned]) -> defaultdict[str, list[Owned]]:
    """Return ports or taps by their device, in their order."""
    found: defaultdict[str, list[Owned]] = defaultdict(list)
    for each in owned:
        found[each.device].append(each)
    return found


def _ip() -> str:
    return find("ip", "iproute2")


def namespaces(prefix: str) -> frozenset[str]:
    """Return the network namespaces whose names start with `prefix`."""
    folder = Path("/run/netns")
    return frozenset(path.name for path in folder.glob(f"{prefix}*")) if folder.exists() else frozenset()


def _ports(prefix: str, device: str) -> frozenset[str]:
    """Return the names of a device's network ports."""
    where = ["-n", f"{prefix}{device}"] if device else []
    found = json.loads(run([_ip(), *where, "-json", "link", "show"]).stdout or "[]")
    return frozenset(port["ifname"] for port in found)


def _batch(commands: Sequence[str], namespace: str | None = None) -> None:
    """Run many `ip` commands in one process: a site has hundreds."""
    if commands:
        where = ["-n", namespace] if namespace else []
        run([_ip(), *where, "-batch", "-"], stdin="".join(f"{command}\n" for command in commands))


def _bridge_commands(prefix: str, wanted: Wiring, ports: dict[str, frozenset[str]]) -> list[str]:
    """
    Return the commands that make the missing bridges: no spanning tree, no learning of multicast groups.

    Who is where is kept for a day: a bridge that forgets it after five minutes sends the next packet to all its ports.
    """
    kind = f"type bridge stp_state 0 forward_delay 0 ageing_time {AGEING_S * HZ} mcast_snooping 0"
    guests = {tap.device for tap in wanted.taps}
    forward = f" group_fwd_mask {LLDP_FORWARD_MASK:#x}"
    return [
        f"link add name {name} netns {prefix}{device} mtu {mtu} {kind}{forward if device in guests else ''}"
        for device, name, mtu in wanted.bridges
        if name not in ports[device]
    ]


def _link_command(prefix: str, link: Link) -> str:
    """Return the command that makes a veth pair with each end in its namespace."""
    a, b = (f"name {end.name}{f' netns {prefix}{end.device}' if end.device else ''}" for end in (link.a, link.b))
    macs = [f" address {end.mac}" if end.mac else "" for end in (link.a, link.b)]
    mtu = f"mtu {link.mtu_bytes}"
    return f"link add {a} {mtu}{macs[0]} type veth peer {b} {mtu}{macs[1]}"


def _port_commands(device: str, ends: Sequence[Port], taps: Sequence[Tap]) -> list[str]:
    """Return what a device's new ports need: a bridge, and to be up."""
    commands = [f"tuntap add dev {tap.name} mode tap" for tap in taps]
    commands += [f"link set {tap.name} mtu {tap.mtu_bytes} master {tap.bridge} up" for tap in taps]
    commands += [f"link set {end.name} master {end.bridge}" for end in ends if end.bridge]
    quiet = [end.name for end in ends if end.bridge and not end.multicast]
    commands += [f"link set {name} type bridge_slave mcast_flood off" for name in quiet]
    bridges = dict.fromkeys([*(end.bridge for end in ends if end.bridge), *(tap.bridge for tap in taps)])
    commands += [f"link set {name} up" for name in (*bridges, *(end.name for end in ends))]
    return commands + (["link set lo up"] if device and ends else [])


def _address_commands(ends: Sequence[Port]) -> list[str]:
    """Return the commands that give a device's ports their addresses; they change nothing where all is right."""
    return [f"address replace {address} dev {end.name}" for end in ends for address in end.addresses]


def disconnect(prefix: str, site: str) -> None:
    """Delete every namespace of a site with its ports, and this machine's port; links end with either end."""
    remove_namespaces(prefix)
    run([_ip(), "link", "delete", f"ca-{site}0"[:INTERFACE_CHARS]], check=False)


def remove_namespaces(prefix: str) -> None:
    """Delete every namespace whose name starts with `prefix`, with its ports."""
    _batch([f"netns delete {name}" for name in sorted(namespaces(prefix))])
