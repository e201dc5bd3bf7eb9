"""Bonds of nodes: the ports that a node has on a fabric, as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coldaisle.plan.management import DEFAULT_MTU_BYTES, boot_nic, management_addresses, management_interface
from coldaisle.plan.model import BondPlan, CablePlan
from coldaisle.spec.fabrics import FabricSpec
from coldaisle.spec.overlay import BondSpec
from coldaisle.spec.sections import SiteSpec


@dataclass(frozen=True, slots=True)
class _Context:
    """What planning one bond looks up: the boot port and the management address of each node."""

    spec: SiteSpec
    asked: BondSpec
    boot_nics: Mapping[str, str]
    management: Mapping[str, str]


def plan_bonds(
    spec: SiteSpec, fabric: FabricSpec, indexes: Mapping[str, int], cables: Iterable[CablePlan]
) -> tuple[BondPlan, ...]:
    """
    Return the bond of each node that has two ports or more on a fabric, sorted by node.

    Args:
        spec: The site.
        fabric: The fabric; one that asks for no bonds has none.
        indexes: The index of each node in the fabric, which stays its own.
        cables: The fabric's cables.
    """
    if fabric.bond is None:
        return ()
    systems = {node.name: spec.catalog.systems[node.system] for node in spec.nodes if node.name in indexes}
    members: defaultdict[str, list[CablePlan]] = defaultdict(list)
    for cable in cables:
        # A BMC has its port for itself, on whatever fabric that is.
        if cable.a.device in systems and systems[cable.a.device].nics[cable.a.port].role != "bmc":
            members[cable.a.device].append(cable)
    boot_nics = {name: boot_nic(system) for name, system in systems.items()}
    context = _Context(spec, fabric.bond, boot_nics, management_addresses(spec))
    return tuple(
        _bond(context, members[device], indexes[device] + 1) for device in sorted(members) if len(members[device]) > 1
    )


def _bond(context: _Context, cables: list[CablePlan], number: int) -> BondPlan:
    """
    Return the bond of a node's cables, whose ends at the node have the fabric's one MTU.

    It has the boot port's MAC address, else its first port's, so that whoever knows the node by it (DHCP, the leaves'
    tables) still does when the node runs its bond; and with the boot port goes the management address.
    """
    asked, device, ports = context.asked, cables[0].a.device, tuple(cable.a.port for cable in cables)
    boot = context.boot_nics[device] if context.boot_nics[device] in ports else None
    hardware = context.spec.hardware.get(device)
    address, gateway = management_interface(context.spec, context.management[device]) if boot else (None, None)
    return BondPlan(
        device=device,
        number=number,
        members=tuple(cable.b for cable in cables),
        multihomed=len({cable.b.device for cable in cables}) > 1,
        system_mac=asked.system_mac,
        lacp_fallback=asked.lacp_fallback,
        lacp_rate=asked.lacp_rate,
        name=asked.name,
        ports=ports,
        hash_policy=asked.hash_policy,
        mtu_bytes=cables[0].mtu_bytes or DEFAULT_MTU_BYTES,
        mac=hardware.macs.get(boot or ports[0]) if hardware else None,
        address=address,
        gateway=gateway,
    )
