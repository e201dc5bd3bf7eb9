"""The namespaces, cables and host addresses of a twin as the records and commands that make them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from coldaisle.plan.model import End
from sim.network import Link, Port, Wiring
from sim.twin.cables import Joint
from sim.twin.topology import HostPort, Twin


def wiring_of(twin: Twin, joined: Sequence[Joint]) -> Wiring:
    """Return what must exist: a namespace a device, a veth pair a joined cable. Switches get addresses from FRR."""
    addresses = {port.end: (port.address,) for port in twin.host_ports if port.address}
    sizes = mtus(twin)
    links = [
        Link(
            Port(joint.a.device, joint.a.port, addresses=addresses.get(joint.a, ())),
            Port(joint.b.device, joint.b.port, addresses=addresses.get(joint.b, ())),
            sizes[joint.b],
        )
        for joint in joined
    ]
    return Wiring(devices=(*twin.switches, *twin.hosts), bridges=(), links=tuple(links), taps=())


def mtus(twin: Twin) -> dict[End, int]:
    """Return the planned MTU of every port that runs: a switch's own, a host's by its port."""
    of_switch = {switch.name: switch.mtu_bytes or twin.fabric.mtu_bytes or 1500 for switch in twin.fabric.switches}
    of_host = {port.end: port.mtu_bytes for port in twin.host_ports}
    ends = (end for cable in twin.fabric.cables for end in (cable.a, cable.b))
    return {end: of_host[end] if end in of_host else of_switch[end.device] for end in ends}


def host_commands(ports: Sequence[HostPort], joined: Sequence[Joint]) -> dict[str, list[str]]:
    """
    Return the `ip` commands of each host: the MTU of its ports, and a table a port.

    What comes from a port's address leaves by that port, as the files that real hosts are given say.
    """
    there = {end for joint in joined for end in (joint.a, joint.b)}
    commands: defaultdict[str, list[str]] = defaultdict(list)
    for port in ports:
        if port.end in there:
            commands[port.end.device] += _port_commands(port)
    return dict(commands)


def _port_commands(port: HostPort) -> list[str]:
    name = port.end.port
    commands = [f"link set {name} mtu {port.mtu_bytes}"]
    if port.address and port.gateway:
        own = port.address.partition("/")[0]
        commands += [
            f"rule add from {own} lookup {port.table} priority {port.table}",
            f"route add default via {port.gateway} dev {name} table {port.table}",
        ]
    return commands
