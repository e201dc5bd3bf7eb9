"""What of a fabric runs: every switch, a few hosts for each leaf, the cables between them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_interface
from zlib import crc32

from coldaisle.plan.model import CablePlan, End, FabricPlan, NicPlan, NodePlan, SitePlan
from sim.errors import SimError
from sim.network import INTERFACE_CHARS

LEAST_HOSTS = 2
"""Traffic needs somebody at the other end, however few hosts a leaf is given."""

FIRST_TABLE = 100
"""Routing table of a host's first port, as on real hosts: what comes from a port's address leaves by that port."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host's cabled port. `address` has a prefix length; it and `gateway` are None where the plan gives none."""

    end: End
    leaf: str
    rail: int | None
    address: str | None
    gateway: str | None
    mtu_bytes: int
    table: int


@dataclass(frozen=True, slots=True)
class Endpoint:
    """
    An address that traffic goes to and comes from: a host's port, or a leaf's loopback where hosts have no address.

    `network` is how routing tables name it, and `mtu_bytes` the longest packet that it sends.
    """

    device: str
    address: str
    network: str
    leaf: str
    rail: int | None
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class Twin:
    """
    What of a fabric runs.

    `site` is the plan with the kernel's names of ports, all cables in it; `fabric` has only the cables that run.
    `planned` translates a port of the twin into the plan's. `hosts_planned` counts the hosts that the fabric has.
    """

    site: SitePlan
    fabric: FabricPlan
    hosts: tuple[str, ...]
    hosts_planned: int
    host_ports: tuple[HostPort, ...]
    endpoints: tuple[Endpoint, ...]
    planned: Mapping[End, End]

    @property
    def switches(self) -> tuple[str, ...]:
        """Return the names of all switches."""
        return tuple(switch.name for switch in self.fabric.switches)

    @property
    def uplinks(self) -> tuple[CablePlan, ...]:
        """Return the cables between switches."""
        return tuple(cable for cable in self.fabric.cables if cable.kind != "node-leaf")


def twin_of(plan: SitePlan, name: str, hosts_per_leaf: int) -> Twin:
    """
    Return what runs of a routed fabric.

    Raises:
        SimError: its switches do not route.
    """
    given = plan.fabrics[name]
    if given.kind == "infiniband" or any(switch.asn is None or switch.loopback is None for switch in given.switches):
        have = f"{given.kind}, {given.topology}"
        fix = "name a fabric of kind roce or ethernet with the topology leaf-spine"
        raise SimError(f"fabric {name}", "its switches do not route, so that there is nothing to run", have, fix)
    fabric = replace(given, cables=tuple(_in_kernel(cable) for cable in given.cables))
    nodes = {node.name: node for node in plan.nodes}
    members = list(dict.fromkeys(cable.a.device for cable in fabric.cables if cable.a.device in nodes))
    hosts = _chosen(fabric, members, hosts_per_leaf)
    switches = {switch.name for switch in fabric.switches}
    runs = switches | set(hosts)
    cables = tuple(cable for cable in fabric.cables if {cable.a.device, cable.b.device} <= runs)
    ports = tuple(_host_ports(cables, nodes, hosts))
    running = replace(fabric, cables=cables)
    return Twin(
        site=replace(plan, fabrics={name: fabric}),
        fabric=running,
        hosts=hosts,
        hosts_planned=len(members),
        host_ports=ports,
        endpoints=tuple(_endpoints(running, ports)),
        planned={
            mine: theirs
            for ours, cable in zip(fabric.cables, given.cables, strict=True)
            for mine, theirs in ((ours.a, cable.a), (ours.b, cable.b))
        },
    )


def kernel_name(port: str) -> str:
    """Return a port's name as an interface may have it: at most 15 characters, no slash, no colon, no space."""
    name = re.sub(r"[/:\s]", ".", port)
    if len(name) <= INTERFACE_CHARS:
        return name
    return f"{name[: INTERFACE_CHARS - 5]}~{crc32(port.encode()) & 0xFFFF:04x}"


def _in_kernel(cable: CablePlan) -> CablePlan:
    a, b = (End(device=end.device, port=kernel_name(end.port)) for end in (cable.a, cable.b))
    return replace(cable, a=a, b=b)


def _chosen(fabric: FabricPlan, members: Iterable[str], hosts_per_leaf: int) -> tuple[str, ...]:
    """Return the first hosts of each leaf, whole hosts always, and at least two of them."""
    leaves: dict[str, list[str]] = {name: [] for name in members}
    for cable in fabric.cables:
        if cable.a.device in leaves:
            leaves[cable.a.device].append(cable.b.device)
    count: Counter[str] = Counter()
    chosen: list[str] = []
    for host, own in leaves.items():
        if len(chosen) < LEAST_HOSTS or any(count[leaf] < hosts_per_leaf for leaf in own):
            chosen.append(host)
            count.update(set(own))
    return tuple(chosen)


def _host_ports(cables: Iterable[CablePlan], nodes: Mapping[str, NodePlan], hosts: Iterable[str]) -> Iterable[HostPort]:
    nics: dict[End, tuple[int, NicPlan]] = {
        End(device=host, port=kernel_name(nic.name)): (at, nic)
        for host in hosts
        for at, nic in enumerate(nodes[host].nics)
    }
    for cable in cables:
        if cable.a in nics:
            at, nic = nics[cable.a]
            yield HostPort(
                end=cable.a,
                leaf=cable.b.device,
                rail=cable.rail,
                address=cable.a_address,
                gateway=cable.b_address.partition("/")[0] if cable.b_address else None,
                mtu_bytes=nic.mtu_bytes,
                table=FIRST_TABLE + at,
            )


def _endpoints(fabric: FabricPlan, ports: Iterable[HostPort]) -> Iterable[Endpoint]:
    """Yield the addresses of hosts; where the plan gives them none, the loopbacks of leaves."""
    addressed = [port for port in ports if port.address]
    for port in addressed:
        own = ip_interface(str(port.address))
        yield Endpoint(port.end.device, str(own.ip), str(own.network), port.leaf, port.rail, port.mtu_bytes)
    if addressed:
        return
    for switch in fabric.switches:
        if switch.role == "leaf" and switch.loopback:
            mtu = switch.mtu_bytes or fabric.mtu_bytes or 1500
            own = ip_interface(switch.loopback)
            yield Endpoint(switch.name, switch.loopback, str(own.network), switch.name, None, mtu)
