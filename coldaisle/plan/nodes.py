"""Nodes: names, addresses, ports with their rails and their nearest GPUs, BMCs, labels and taints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor
from typing import Literal, cast

from coldaisle.plan.allocations import hand_out
from coldaisle.plan.install import consent_of, disks_of, is_installed
from coldaisle.plan.management import DEFAULT_MTU_BYTES, boot_nic, management_addresses, management_interface
from coldaisle.plan.model import BmcPlan, CablePlan, End, FabricPlan, NicPlan, NodePlan, PartsPlan
from coldaisle.plan.placement import drawn_by_pool
from coldaisle.spec.bmc import BmcSettings
from coldaisle.spec.catalog import System, SystemNic
from coldaisle.spec.hardware import NodeHardware
from coldaisle.spec.node_pools import PlacedNode, PoolSpec
from coldaisle.spec.sections import SiteSpec

BOOT_ORDERS = {"network": ("pxe", "disk"), "image-installed": ("disk", "pxe")}
"""Boot devices, as ipmitool names them, by how a pool boots."""

RACK_LABEL = "coldaisle.io/rack"
POOL_LABEL = "coldaisle.io/pool"
ROLE_LABEL = "coldaisle.io/role"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"


@dataclass(frozen=True, slots=True)
class _Port:
    """Where a cable ends at a node: the fabric, and this side's and the other side's address."""

    fabric: str
    cable: CablePlan
    address: str | None
    peer: str | None
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class _Context:
    """What planning one node looks up."""

    spec: SiteSpec
    ports: Mapping[End, _Port]
    management: Mapping[str, str]
    bmc: Mapping[str, str]
    power_limits: Mapping[str, int | None]
    bonded: frozenset[End]


def plan_nodes(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> tuple[NodePlan, ...]:
    """
    Return every node of a site, sorted by name.

    Args:
        spec: The site.
        fabrics: Its planned fabrics; a node's ports get rail and address from their cables.
    """
    limits = {name: _power_limit_w(spec, pool) for name, pool in spec.node_pools.items()}
    context = _Context(spec, _ports(spec, fabrics), management_addresses(spec), _bmcs(spec), limits, _bonded(fabrics))
    return tuple(_plan_node(context, node) for node in spec.nodes)


def _power_limit_w(spec: SiteSpec, pool: PoolSpec) -> int | None:
    """Return the limit of a pool's nodes, which a BMC takes in whole watts; rounded down, the ledgers stay true."""
    limit_w = drawn_by_pool(spec, pool).max_w if pool.power_cap else None
    return None if limit_w is None else floor(limit_w)


def _bonded(fabrics: Mapping[str, FabricPlan]) -> frozenset[End]:
    """Return the ports of nodes that are members of a bond."""
    bonds = (bond for fabric in fabrics.values() for bond in fabric.bonds)
    return frozenset(End(device=bond.device, port=port) for bond in bonds for port in bond.ports)


def _bmcs(spec: SiteSpec) -> dict[str, str]:
    pool = spec.addressing.bmc
    given = spec.allocations.get("bmc", {})
    return hand_out(pool, (node.name for node in spec.nodes), given) if pool else {}


def _ports(spec: SiteSpec, fabrics: Mapping[str, FabricPlan]) -> dict[End, _Port]:
    names = {node.name for node in spec.nodes}
    ports: dict[End, _Port] = {}
    for name, fabric in fabrics.items():
        mtu = spec.fabrics[name].node_mtu_bytes or fabric.mtu_bytes or DEFAULT_MTU_BYTES
        for cable in fabric.cables:
            if cable.a.device in names:
                ports[cable.a] = _Port(name, cable, cable.a_address, cable.b_address, mtu)
            if cable.b.device in names:
                ports[cable.b] = _Port(name, cable, cable.b_address, cable.a_address, mtu)
    return ports


def _plan_node(context: _Context, node: PlacedNode) -> NodePlan:
    spec = context.spec
    system, pool = spec.catalog.systems[node.system], spec.node_pools[node.pool]
    hardware = spec.hardware.get(node.name, NodeHardware())
    return NodePlan(
        name=node.name,
        fqdn=f"{node.name}.{spec.site.domain}",
        pool=node.pool,
        rack=node.rack,
        rack_unit=node.rack_unit,
        system=node.system,
        management_address=context.management[node.name],
        boot_nic=boot_nic(system),
        boot=pool.boot,
        # The system of a pool is a server, which the spec has seen to.
        architecture=cast("str", system.architecture),
        firmware=cast('Literal["bios", "uefi"]', system.firmware),
        gpus=system.gpus.count if system.gpus else 0,
        nics=tuple(_nics(context, node, system, hardware, pool)),
        bmc=_bmc(context, node, hardware, pool),
        labels=_labels(spec, node, pool),
        taints=_taints(pool),
        nvlink_domain=node.rack if system.nvlink_domain == "rack" else None,
        power_limit_w=context.power_limits[node.pool],
        disks=disks_of(pool.install, hardware),
        wipe_consent=consent_of(pool.install, node.name),
        parts=_parts(hardware),
        state=spec.journal.states.get(node.name),
    )


def _parts(hardware: NodeHardware) -> PartsPlan | None:
    """Return the delivered parts; None where the delivery list names no serial."""
    if not (hardware.serial or hardware.gpus or hardware.dimms):
        return None
    gpus, dimms = dict(sorted(hardware.gpus.items())), dict(sorted(hardware.dimms.items()))
    return PartsPlan(serial=hardware.serial, gpus=gpus, dimms=dimms)


def _nics(
    context: _Context, node: PlacedNode, system: System, hardware: NodeHardware, pool: PoolSpec
) -> Iterator[NicPlan]:
    """Yield the ports that are cabled, and the boot port; one that no fabric takes has nothing to plan."""
    for name, nic in system.nics.items():
        port = context.ports.get(End(device=node.name, port=name))
        if nic.role != "bmc" and (port is not None or name == boot_nic(system)):
            yield _nic(context, node, name, nic, port, hardware.macs.get(name), pool)


def _nic(  # noqa: PLR0913, PLR0917 - what one port is made of
    context: _Context, node: PlacedNode, name: str, nic: SystemNic, port: _Port | None, mac: str | None, pool: PoolSpec
) -> NicPlan:
    address, gateway = _ends(context, node, name, port)
    return NicPlan(
        name=name,
        fabric=port.fabric if port else "",
        rail=port.cable.rail if port else None,
        mac=mac,
        address=address,
        gateway=gateway,
        mtu_bytes=port.mtu_bytes if port else DEFAULT_MTU_BYTES,
        vfs=pool.rdma.vfs_per_port if pool.rdma and nic.role == "compute" else 0,
        gpu=nic.gpu,
        plane=nic.plane,
    )


def _ends(context: _Context, node: PlacedNode, name: str, port: _Port | None) -> tuple[str | None, str | None]:
    """Return address and gateway of a port; a member of a bond has neither, whatever its bond has (N7)."""
    if context.bonded and End(device=node.name, port=name) in context.bonded:
        return None, None
    if name == boot_nic(context.spec.catalog.systems[node.system]):
        return management_interface(context.spec, context.management[node.name])
    return _fabric_ends(port)


def _fabric_ends(port: _Port | None) -> tuple[str | None, str | None]:
    """Return address and gateway on a routed fabric, where the gateway is the switch's end of the cable."""
    if port is None:
        return None, None
    return port.address, port.peer.partition("/")[0] if port.peer else None


def _bmc(context: _Context, node: PlacedNode, hardware: NodeHardware, pool: PoolSpec) -> BmcPlan | None:
    if node.name not in context.bmc:
        return None
    site = context.spec.site
    return BmcPlan(
        address=context.bmc[node.name],
        mac=hardware.bmc_mac,
        protocol=hardware.bmc_protocol,
        credentials=site.bmc_credentials,
        ca_file=site.bmc_ca_file,
        # A disk that an installer has not reached yet does not boot, and firmware goes on to the network.
        boot_order=BOOT_ORDERS["image-installed" if is_installed(context.spec, pool) else pool.boot],
        settings=_bmc_settings(context.spec.catalog.systems[node.system], hardware, pool.bmc),
        default_credentials=site.bmc_default_credentials,
        event_destination=site.bmc_event_destination if hardware.bmc_protocol == "redfish" else None,
    )


def _bmc_settings(system: System, hardware: NodeHardware, wanted: BmcSettings) -> dict[str, str | int | bool]:
    """Return the facts of a BMC's settings; a boot port without a known MAC address has none (a check tells)."""
    facts: dict[str, str | int | bool] = {"machine_uuid": hardware.uuid} if hardware.uuid else {}
    if hardware.serial and hardware.bmc_protocol == "redfish":  # IPMI has it in a format of the maker's, or not at all
        facts["machine_serial"] = hardware.serial
    if wanted.boot_mode and system.firmware:
        facts["boot_mode"] = system.firmware
    if wanted.secure_boot is not None:
        facts["secure_boot"] = "on" if wanted.secure_boot else "off"
    mac = hardware.macs.get(boot_nic(system))
    if wanted.boot_nic and mac:
        facts["boot_nic"] = mac.lower()
    if wanted.boot_override:
        facts["boot_override"] = wanted.boot_override
    if wanted.virtual_media:
        facts["virtual_media"] = wanted.virtual_media
    return facts | {f"bios.{name}": value for name, value in sorted(wanted.bios.items())}


def _labels(spec: SiteSpec, node: PlacedNode, pool: PoolSpec) -> dict[str, str]:
    """Return Kubernetes labels: where the node stands, and what it is for. A pool's own labels win."""
    site = spec.site
    region = {REGION_LABEL: site.region} if site.region else {}
    ours = {RACK_LABEL: node.rack, POOL_LABEL: node.pool, ROLE_LABEL: pool.role, ZONE_LABEL: site.zone or site.name}
    return dict(sorted((ours | region | pool.labels).items()))


def _taints(pool: PoolSpec) -> tuple[str, ...]:
    """Return a pool's taints; one for training keeps everything else away, since its jobs take whole nodes."""
    if pool.taints is not None:
        return tuple(pool.taints)
    return (f"{ROLE_LABEL}={pool.role}:NoSchedule",) if pool.role == "training" else ()
