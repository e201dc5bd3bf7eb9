"""The part of a plan that two guests can be: the two nodes with the ports that are proved, and a provisioner. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from pathlib import Path

from coldaisle.plan.model import NodePlan, PoolPlan, ProvisioningPlan, SitePlan
from coldaisle.plan.node_pools import provisioning_of
from coldaisle.spec.provisioning import ImageSpec, ProvisioningSpec
from sim.errors import SimError
from sim.network import with_prefix
from sim.rdma.image import IMAGE
from sim.rdma.place import PROVISIONER

BOOT_TIMEOUT_S = 900
"""A guest takes 25 CPU seconds to answer SSH (measured); a machine may have much else to do."""

HTTP_PORT = 8080
KERNEL_ARGUMENTS = "console=ttyS0 quiet mitigations=off"
"""A trusted, emulated CPU: the last two make its boot faster."""


@dataclass(frozen=True, slots=True)
class Files:
    """What the deploy host has for the two guests: its SSH key, and the folder of their image."""

    key: Path
    image: Path


def cut(plan: SitePlan, ports: dict[str, tuple[str, ...]], files: Files) -> SitePlan:
    """
    Return the plan of two machines: their management port and the ports that are proved, booted over the network.

    What a guest of this size cannot have is left out: huge pages, virtual functions, GPUs, BMCs and the cluster.

    Args:
        plan: The whole site.
        ports: The ports to keep of each of the two nodes, beside the one that it boots from.
        files: The deploy host's.

    Raises:
        SimError: a port has no MAC address, or the nodes are on different management networks.
    """
    nodes = tuple(_node(node, ports[node.name]) for node in plan.nodes if node.name in ports)
    members = {node.pool for node in nodes}
    pools = tuple(_pool(pool, files) for pool in plan.pools if pool.name in members)
    return replace(
        plan,
        nodes=nodes,
        pools=pools,
        provisioning=_provisioning(nodes, files.image),
        cluster=None,
        gpu_stack=None,
        endpoints=(),
        autoscaler=None,
        plays=(),
        admin_private_key_file=str(files.key),
    )


def _node(node: NodePlan, ports: tuple[str, ...]) -> NodePlan:
    kept = tuple(replace(nic, vfs=0) for nic in node.nics if nic.name in {node.boot_nic, *ports})
    for nic in kept:
        if nic.mac is None:
            have = "hardware.yaml has none"
            fix = "write the port's MAC address there: DHCP and the files of a host find it by that"
            raise SimError(f"{node.name}:{nic.name}", "its MAC address is not known", have, fix)
    return replace(node, nics=kept, boot="network", firmware="bios", bmc=None, gpus=0)


def _pool(pool: PoolPlan, files: Files) -> PoolPlan:
    system = replace(
        pool.os,
        hugepages_2mi=0,
        boot_timeout_s=BOOT_TIMEOUT_S,
        admin_authorized_keys_file=f"{files.key}.pub",
    )
    rdma = replace(pool.rdma, vfs_per_port=0) if pool.rdma else None
    return replace(pool, os=system, rdma=rdma, gpu=None, image=IMAGE.name, install=None, secure_boot=False)


def _provisioning(nodes: tuple[NodePlan, ...], image: Path) -> ProvisioningPlan:
    """Return services at an address of the management network that neither node has."""
    own = [ipaddress.ip_interface(with_prefix(node.management_address)) for node in nodes]
    network = own[0].network
    if any(one.ip not in network for one in own):
        have = ", ".join(f"{node.name}: {node.management_address}" for node in nodes)
        fix = "name two nodes of one management network"
        raise SimError("management", "the two nodes are on different networks", have, fix)
    taken = {one.ip for one in own}
    free = next(address for address in network.hosts() if address not in taken)
    offered = ImageSpec(name=IMAGE.name, source=str(image), kernel_arguments=KERNEL_ARGUMENTS)
    services = ProvisioningSpec(
        host=PROVISIONER, host_address=str(free), interface="mgmt0", http_port=HTTP_PORT, images=[offered]
    )
    return provisioning_of(services, str(network), None)
