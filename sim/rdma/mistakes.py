"""What somebody does to running guests and their cables, for a demonstration or a drill."""

from __future__ import annotations

from dataclasses import dataclass

from coldaisle.plan.model import NodePlan
from sim.network import host_port
from sim.rdma.guests import Guest
from sim.rdma.place import Lab
from sim.shell import find, run

SHORT_BYTES = 1500
"""What a port takes that nobody has told of longer packets."""

CLASSES = "/sys/kernel/config/rdma_cm/*/ports/*/default_roce_tos"


@dataclass(frozen=True, slots=True)
class Mistakes:
    """
    Ports are members of the bond by their names, on the first of the two nodes.

    `short_cables` lets the cable of a port take 1500 bytes only, `host_mtus` sets a port itself to that, and `dscp` is
    what somebody else has the host mark connections with.
    """

    short_cables: tuple[str, ...] = ()
    host_mtus: tuple[str, ...] = ()
    dscp: int | None = None


def make(mistakes: Mistakes, lab: Lab, node: NodePlan, guest: Guest) -> None:
    """Make mistakes at the first node; they stay until somebody sets right what they changed."""
    for nic in (nic for nic in node.nics if nic.name in mistakes.short_cables):
        words = [find("ip", "iproute2"), "-n", lab.namespace(node.name), "link", "set", host_port(node, nic).name]
        run([*words, "mtu", str(SHORT_BYTES)])
    for name in mistakes.host_mtus:
        guest.ask(f"ip link set {name} mtu {SHORT_BYTES}")
    if mistakes.dscp is not None:
        guest.ask(f"for file in {CLASSES}; do echo {mistakes.dscp << 2} >$file; done")
