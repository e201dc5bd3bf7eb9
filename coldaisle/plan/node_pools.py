"""Node pools: the settings that like nodes share, and the host that they boot from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from coldaisle.plan.gpu_stack import offered
from coldaisle.plan.host_settings import plan_gpu, plan_os, plan_rdma
from coldaisle.plan.install import plan_install
from coldaisle.plan.model import (
    AcceptancePlan,
    BootProgramPlan,
    FabricPlan,
    FirmwarePlan,
    HallSourcesPlan,
    ImagePlan,
    NodePlan,
    PoolPlan,
    PowerCapPlan,
    ProvisioningPlan,
)
from coldaisle.plan.placement import drawn_by_pool
from coldaisle.plan.rollout import plan_rollout
from coldaisle.spec.facility import placed_racks
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.provisioning import ImageSpec, ProvisioningSpec
from coldaisle.spec.sections import SiteSpec

DEFAULT_ROOTFS = "rootfs.squashfs"

SIGNED_NAMES = {"x86_64": ("shimx64.efi", "grubx64.efi"), "aarch64": ("shimaa64.efi", "grubaa64.efi")}
"""Shim, and the name under which it asks for its second stage, which is built into it."""

OWN_NAMES = {"aarch64-uefi": "snponly-arm64.efi"}
"""First program of a firmware by its architecture and mode, where the ipxe package of Debian has none."""


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
        os=plan_os(spec, pool),
        rdma=plan_rdma(spec, pool, nodes, fabrics),
        gpu=plan_gpu(spec, pool),
        power_cap=_power_cap(spec, pool),
        install=plan_install(pool),
        secure_boot=pool.secure_boot,
        firmware=tuple(FirmwarePlan(**dict(item)) for item in pool.firmware),
        rollout=plan_rollout(pool.rollout, spec),
        acceptance=_acceptance(pool),
        offers=offered(spec, pool),
    )


def _acceptance(pool: PoolSpec) -> AcceptancePlan | None:
    wanted = pool.acceptance
    if wanted is None:
        return None
    return AcceptancePlan(phase=wanted.phase, domains=tuple(wanted.domains), after_failures=wanted.after_failures)


def _power_cap(spec: SiteSpec, pool: PoolSpec) -> PowerCapPlan | None:
    if pool.power_cap is None:
        return None
    node_w = drawn_by_pool(spec, pool).max_w
    return PowerCapPlan(watts=pool.power_cap.watts, scope=pool.power_cap.scope, node_w=node_w)


def plan_provisioning(spec: SiteSpec) -> ProvisioningPlan | None:
    """Return the host that nodes boot from, and its images, or None where nothing boots over the network."""
    management = spec.addressing.management
    if spec.provisioning is None:
        return None
    planned = provisioning_of(spec.provisioning, management.subnet, management.gateway)
    return replace(planned, by_rack=_sources_by_rack(spec, spec.provisioning))


def _sources_by_rack(spec: SiteSpec, provisioning: ProvisioningSpec) -> dict[str, HallSourcesPlan]:
    """Return what each rack's hall serves itself; racks of other halls are left out."""
    halls = {
        served.hall: HallSourcesPlan(
            images_url=served.images_url,
            mirrors=dict(sorted(served.mirrors.items())),
            security_mirrors=dict(sorted(served.security_mirrors.items())),
        )
        for served in provisioning.halls
    }
    return {rack.name: halls[rack.hall] for rack in placed_racks(spec.facility) if rack.hall in halls}


def provisioning_of(provisioning: ProvisioningSpec, subnet: str, gateway: str | None) -> ProvisioningPlan:
    """Return the plan of boot services in the network that they serve, with the gateway that nodes are told of."""
    return ProvisioningPlan(
        host=provisioning.host,
        host_address=provisioning.host_address,
        interface=provisioning.interface,
        subnet=subnet,
        gateway=gateway,
        http_port=provisioning.http_port,
        images=tuple(_image(image) for image in sorted(provisioning.images, key=lambda image: image.name)),
        proxy=provisioning.proxy,
        name_servers=tuple(provisioning.name_servers),
        transfers=provisioning.transfers,
        relayed=provisioning.relayed,
        programs=tuple(_programs(provisioning)),
        signed=tuple(sorted(provisioning.signed_chain)),
    )


def _programs(provisioning: ProvisioningSpec) -> Iterator[BootProgramPlan]:
    """Yield the first programs that the ipxe package lacks: a signed chain under the names that shim expects."""
    for architecture, chain in sorted(provisioning.signed_chain.items()):
        for file, name in zip((chain.shim, chain.grub), SIGNED_NAMES[architecture], strict=True):
            yield BootProgramPlan(name=name, source=f"{chain.source}/{file}", sha256=chain.sha256.get(file))
    for name, program in sorted(provisioning.boot_programs.items()):
        yield BootProgramPlan(name=OWN_NAMES[name], source=program.source, sha256=program.sha256)


def _image(image: ImageSpec) -> ImagePlan:
    return ImagePlan(
        name=image.name,
        kind=image.kind,
        source=image.source,
        kernel=image.kernel,
        initrd=image.initrd,
        rootfs=image.rootfs or (DEFAULT_ROOTFS if image.kind == "squashfs" else None),
        kernel_arguments=image.kernel_arguments,
        sha256=dict(sorted(image.sha256.items())),
        suite=image.suite,
        mirror=image.mirror,
        security_mirror=image.security_mirror,
        keyring=image.keyring or None,
        kernel_package=image.kernel_package,
        signed_by=image.signed_by,
    )
