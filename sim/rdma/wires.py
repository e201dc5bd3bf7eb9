"""The cables of two guests: a management network, and each port back to back with the other guest's."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coldaisle.plan.model import NicPlan, NodePlan, SitePlan
from sim.machines import Machine
from sim.network import OOB_MTU_BYTES, Link, Port, Wiring, connect, guest_mtu_bytes, guest_tap, host_port, with_prefix
from sim.rdma.place import PROVISIONER, Lab
from sim.shell import find, run

SWITCH = "oob"
FORWARDED = 0x4004
"""
A cable passes every frame on; a bridge keeps those of link protocols for itself. A port's group_fwd_mask lets LACP
(bit 2) and LLDP (bit 14) through.
"""

CABLE_MBPS = 10_000
"""What the ports say of their speed: LACP takes ports of one speed into an aggregate. Emulation has no real one."""


@dataclass(frozen=True, slots=True)
class Cables:
    """The cables between the two, each named by the port that it has at both ends."""

    ports: tuple[str, ...]


def wiring(plan: SitePlan, cables: Cables) -> Wiring:
    """Return the namespaces, bridges, cables and taps of two guests and their provisioner."""
    one, two = plan.nodes
    nics = {node.name: {nic.name: nic for nic in node.nics} for node in plan.nodes}
    address = with_prefix(plan.provisioning.host_address) if plan.provisioning else ""
    links = [_managed(Port(PROVISIONER, "mgmt0", addresses=(address,)), PROVISIONER)]
    links += [_managed(host_port(node, nics[node.name][node.boot_nic]), node.name) for node in plan.nodes]
    links += [
        Link(
            host_port(one, nics[one.name][port]),
            host_port(two, nics[two.name][port]),
            guest_mtu_bytes(nics[one.name][port]) or OOB_MTU_BYTES,
        )
        for port in cables.ports
    ]
    taps = [guest_tap(node, nic) for node in plan.nodes for nic in node.nics]
    return Wiring(
        devices=(PROVISIONER, SWITCH, one.name, two.name),
        bridges=((SWITCH, "br0", OOB_MTU_BYTES), *((tap.device, tap.bridge, tap.mtu_bytes) for tap in taps)),
        links=tuple(links),
        taps=tuple(taps),
    )


def _managed(port: Port, name: str) -> Link:
    return Link(port, Port(SWITCH, f"to-{name}"[:15], bridge="br0"), OOB_MTU_BYTES)


def lay(lab: Lab, plan: SitePlan, cables: Cables) -> None:
    """Make the wiring, and let LACP through."""
    connect(lab.prefix, wiring(plan, cables))
    for node in plan.nodes:
        for name in cables.ports:
            nic = next(nic for nic in node.nics if nic.name == name)
            for port in (guest_tap(node, nic).name, host_port(node, nic).name):
                words = [find("ip", "iproute2"), "-n", lab.namespace(node.name), "link", "set", port]
                run([*words, "type", "bridge_slave", "group_fwd_mask", hex(FORWARDED)])


def outer(node: NodePlan, nic: NicPlan) -> str:
    """Return the name of a guest's port outside of the guest: the end of the cable, where traffic is watched."""
    return host_port(node, nic).name


def with_speed(machine: Machine, cables: Cables) -> Machine:
    """Return a guest whose ports on these cables know their speed."""
    nics = tuple(replace(nic, speed_mbps=CABLE_MBPS) if nic.name in cables.ports else nic for nic in machine.nics)
    return replace(machine, nics=nics)
