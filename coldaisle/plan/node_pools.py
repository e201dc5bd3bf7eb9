"""Node pools: the settings that like nodes share, and the host that they boot from."""

from __future__ import annotations

from collections.abc import Mapping

from coldaisle.plan.model import (
    FabricPlan,
    GpuPlan,
    ImagePlan,
    NodePlan,
    OsPlan,
    PoolPlan,
    PowerCapPlan,
    ProvisioningPlan,
    RdmaPlan,
)
from coldaisle.plan.placement import drawn_by_pool
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.provisioning import ImageSpec
from coldaisle.spec.sections import SiteSpec


def plan_pools(spec: SiteSpec, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]) -> tuple[PoolPlan, ...]:
    """Return every pool of a site, sorted by name."""
    members: dict[str, list[NodePlan]] = {name: [] for name in sorted(spec.node_pools)}
    for node in nodes:
        members[node.pool].append(node)
    return tuple(_plan_pool(spec, name, tuple(nodes), fabrics) for name, nodes in members.items())


def _plan_pool(spec: SiteSpec, name: str, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]) -> PoolPlan:
    pool = spec.node_pools[name]
    return PoolPlan(
        name=name,
        role=pool.role,
        system=pool.system,
        image=pool.image,
        nodes=tuple(node.name for node in nodes),
        os=_os(spec, pool),
        rdma=_rdma(spec, pool, nodes, fabrics),
        gpu=_gpu(spec, pool),
        power_cap=_power_cap(spec, pool),
    )


def _power_cap(spec: SiteSpec, pool: PoolSpec) -> PowerCapPlan | None:
    if pool.power_cap is None:
        return None
    node_w = drawn_by_pool(spec, pool).max_w
    return PowerCapPlan(watts=pool.power_cap.watts, scope=pool.power_cap.scope, node_w=node_w)


def _os(spec: SiteSpec, pool: PoolSpec) -> OsPlan:
    site = spec.site
    return OsPlan(
        timezone=site.timezone,
        ntp_servers=tuple(site.ntp_servers),
        sysctl=dict(sorted(pool.os.sysctl.items())),
        hugepages_2mi=pool.os.hugepages_2mi,
        boot_timeout_s=pool.os.boot_timeout_s,
        admin_user=site.admin_user,
        admin_authorized_keys_file=f"{site.admin_key_file}.pub",
    )


def _rdma(
    spec: SiteSpec, pool: PoolSpec, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]
) -> RdmaPlan | None:
    if pool.rdma is None:
        return None
    dscp = _roce_dscp(spec, nodes, fabrics) if pool.rdma.mode == "roce" else None
    memlock, vfs = pool.rdma.memlock, pool.rdma.vfs_per_port
    return RdmaPlan(mode=pool.rdma.mode, dscp=dscp, memlock=memlock, vfs_per_port=vfs)


def _roce_dscp(spec: SiteSpec, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]) -> int | None:
    """Return the class of the RoCE fabric that the pool's ports are on, so that hosts and switches mark alike."""
    names = sorted({nic.fabric for node in nodes for nic in node.nics if nic.fabric})
    return next((spec.fabrics[name].roce.dscp for name in names if fabrics[name].kind == "roce"), None)


def _gpu(spec: SiteSpec, pool: PoolSpec) -> GpuPlan | None:
    gpus = spec.catalog.systems[pool.system].gpus
    if pool.gpu is None or gpus is None:
        return None
    return GpuPlan(
        count=gpus.count,
        model=gpus.model,
        driver_floor=pool.gpu.driver_floor,
        persistence=pool.gpu.persistence,
        fabric_state=pool.gpu.fabric_state,
    )


def plan_provisioning(spec: SiteSpec) -> ProvisioningPlan | None:
    """Return the host that nodes boot from, and its images, or None where nothing boots over the network."""
    provisioning = spec.provisioning
    if provisioning is None:
        return None
    management = spec.addressing.management
    return ProvisioningPlan(
        host=provisioning.host,
        host_address=provisioning.host_address,
        interface=provisioning.interface,
        subnet=management.subnet,
        gateway=management.gateway,
        http_port=provisioning.http_port,
        images=tuple(_image(image) for image in sorted(provisioning.images, key=lambda image: image.name)),
    )


def _image(image: ImageSpec) -> ImagePlan:
    return ImagePlan(
        name=image.name,
        source=image.source,
        kernel=image.kernel,
        initrd=image.initrd,
        rootfs=image.rootfs,
        kernel_arguments=image.kernel_arguments,
        sha256=dict(sorted(image.sha256.items())),
    )
