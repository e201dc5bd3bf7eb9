"""What a node has before any fabric: an address on the management network, and a port that it boots from."""

from __future__ import annotations

from coldaisle.plan.allocations import hand_out
from coldaisle.spec.catalog import System
from coldaisle.spec.sections import SiteSpec

DEFAULT_MTU_BYTES = 1500
"""MTU of a port that no fabric speaks of: Ethernet's own."""


def management_addresses(spec: SiteSpec) -> dict[str, str]:
    """Return the management address of each node, without its prefix length."""
    given = spec.allocations.get("management", {})
    reserved = [spec.provisioning.host_address] if spec.provisioning else []
    return hand_out(spec.addressing.management, (node.name for node in spec.nodes), given, reserved)


def boot_nic(system: System) -> str:
    """Return the port that a system boots from: the one that the catalog names, else its first management port."""
    return system.boot_nic or next(iter(system.nics_of("management")), "")


def management_interface(spec: SiteSpec, address: str) -> tuple[str, str | None]:
    """Return a management address with its prefix length, and the gateway there."""
    pool = spec.addressing.management
    return f"{address}/{pool.subnet.partition('/')[2]}", pool.gateway
