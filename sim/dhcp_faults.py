"""
Faults of the network that nodes boot from: a machine that answers DHCP beside the provisioner, one that asks forever.

Both are real programs on a node's own port: dnsmasq, as a forgotten virtual machine host runs it, and busybox's client,
under a new MAC address each time.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.errors import SimError
from sim.processes import ProcessGroups
from sim.shell import find, run

if TYPE_CHECKING:
    from sim.faults import Target

OFFERED = 32
"""How many addresses a rogue server gives out: the last ones of the node's network."""

ROGUE, FLOOD = "rogue-dhcp", "dhcp-exhausted"

ASKS_FOREVER = """
ip link add link "$1" name asks0 type macvlan mode bridge 2>/dev/null
number=0
while true; do
  number=$((number + 1))
  ip link set asks0 down
  ip link set asks0 address "$(printf '02:fa:%02x:%02x:%02x:%02x' 0 0 $((number / 256 % 256)) $((number % 256)))" up
  "$2" udhcpc -i asks0 -f -n -q -t 1 -T 1 -s /bin/true
done
"""
"""A new machine each second, which takes what it is given and never gives it back."""


def rogue_command(port: str, address: str, leases: Path) -> list[str]:
    """Return the command of a DHCP server on `port`, whose own `address` has a prefix length; `leases` is its file."""
    network = ipaddress.ip_interface(address).network
    last = network.broadcast_address - 1
    offered = f"{last - OFFERED + 1},{last},{network.netmask},5m"
    return [
        find("dnsmasq", "dnsmasq-base"),
        *("--keep-in-foreground", "--log-facility=-", "--log-dhcp", "--conf-file=/dev/null", "--port=0"),
        *(f"--interface={port}", "--bind-interfaces", "--no-ping", "--dhcp-authoritative"),
        *(f"--dhcp-range={offered}", "--dhcp-boot=another.efi", f"--dhcp-leasefile={leases}"),
    ]


def flood_command(port: str) -> list[str]:
    """Return the command that asks for addresses on `port` until it is ended."""
    return ["sh", "-c", ASKS_FOREVER, "flood", port, find("busybox", "busybox-static")]


def answer_dhcp(target: Target, _options: Mapping[str, Any]) -> None:
    """Start a DHCP server on a node's boot port."""
    address = target.node.management_address
    whole = address if "/" in address else f"{address}/24"
    leases = target.state.folder / f"{ROGUE}-{target.node.name}.leases"
    _start(target, ROGUE, rogue_command(target.node.boot_nic, whole, leases))


def ask_forever(target: Target, _options: Mapping[str, Any]) -> None:
    """Start asking for addresses on a node's boot port."""
    _start(target, FLOOD, flood_command(target.node.boot_nic))


def end_answers(target: Target, _options: Mapping[str, Any]) -> None:
    """End the DHCP server of a node."""
    ProcessGroups(target.state.site).stop(f"{ROGUE}-{target.node.name}")
    (target.state.folder / f"{ROGUE}-{target.node.name}.leases").unlink(missing_ok=True)


def end_asking(target: Target, _options: Mapping[str, Any]) -> None:
    """End asking; its port goes with it."""
    ProcessGroups(target.state.site).stop(f"{FLOOD}-{target.node.name}")
    run(
        [find("ip", "iproute2"), "-n", target.state.namespace(target.node.name), "link", "delete", "asks0"], check=False
    )


def _start(target: Target, name: str, command: list[str]) -> None:
    """Start a program in a node's network namespace; SimError where the node's port is a guest's."""
    if target.machine.kind == "guest":
        fix = "choose a node that is no guest"
        raise SimError(target.node.name, f"{name} runs on a node's own port", "it is a guest's", fix)
    groups, full = ProcessGroups(target.state.site), f"{name}-{target.node.name}"
    groups.start(full, command, target.state.logs / f"{full}.log", namespace=target.state.namespace(target.node.name))
