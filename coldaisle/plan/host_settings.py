"""What the hosts of a pool are set to: each setting of its spec, with what its hardware and its fabric add."""

from __future__ import annotations

from collections.abc import Mapping

from coldaisle.plan.model import FabricPlan, GpuPlan, NodePlan, OsPlan, PciPlan, RdmaPlan
from coldaisle.spec.fabrics import RoceClass
from coldaisle.spec.host_settings import OsSpec
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.sections import SiteSpec

IOMMU_ARGUMENTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("x86_64", "off"): ("iommu=off", "intel_iommu=off", "amd_iommu=off"),
    ("x86_64", "on"): ("iommu=nopt", "intel_iommu=on"),
    ("x86_64", "passthrough"): ("iommu=pt", "intel_iommu=on"),
    ("aarch64", "off"): ("iommu.passthrough=1",),
    ("aarch64", "on"): ("iommu.passthrough=0",),
    ("aarch64", "passthrough"): ("iommu.passthrough=1",),
}
"""
Words of the kernel's command line (kernel-parameters.txt). AMD's IOMMU is on where the firmware has it; on Arm the
SMMU cannot be turned off there, and lets everything through instead.
"""

NUMA_BALANCING = "kernel.numa_balancing"
GIB_WORDS = ("hugepagesz=1G", "hugepages={}")
"""How pages of 1 GiB are asked for: the size goes before the number (kernel-parameters.txt)."""


def plan_os(spec: SiteSpec, pool: PoolSpec) -> OsPlan:
    """Return the operating system settings of a pool."""
    site, os = spec.site, pool.os
    return OsPlan(
        timezone=site.timezone,
        ntp_servers=tuple(site.ntp_servers),
        sysctl=_sysctl(os),
        hugepages_2mi=os.hugepages_2mi,
        hugepages_1gi=os.hugepages_1gi,
        boot_timeout_s=os.boot_timeout_s,
        admin_user=site.admin_user,
        admin_authorized_keys_file=f"{site.admin_key_file}.pub",
        kernel_release=os.kernel.release if os.kernel else None,
        kernel_arguments=_kernel_arguments(spec, pool),
        modules=_modules(spec, pool),
        packages=dict(sorted({**os.packages, **(os.kernel.packages if os.kernel else {})}.items())),
        cpu_governor=os.cpu_governor,
        pci=PciPlan(**os.pci.model_dump()),
        time_service=os.time_service,
        clock_synchronized=os.clock_synchronized,
        max_clock_offset_ms=os.max_clock_offset_ms,
        nofile=os.nofile,
        verify_path_mtu=os.verify_path_mtu,
    )


def _sysctl(os: OsSpec) -> dict[str, str]:
    balancing = {} if os.numa_balancing is None else {NUMA_BALANCING: str(int(os.numa_balancing))}
    return dict(sorted({**balancing, **os.sysctl}.items()))


def _kernel_arguments(spec: SiteSpec, pool: PoolSpec) -> tuple[str, ...]:
    """Return the words that settings ask for, then the pool's own; the order of the last is kept."""
    architecture = spec.catalog.systems[pool.system].architecture or ""
    iommu = IOMMU_ARGUMENTS.get((architecture, pool.os.iommu or ""), ())
    pages = tuple(word.format(pool.os.hugepages_1gi) for word in GIB_WORDS) if pool.os.hugepages_1gi else ()
    return (*iommu, *pages, *pool.os.kernel_arguments)


def _modules(spec: SiteSpec, pool: PoolSpec) -> tuple[str, ...]:
    """Return the modules that the pool asks for, and those that its generation of GPUs needs (G4)."""
    gpus = spec.catalog.systems[pool.system].gpus
    needed = spec.catalog.gpus[gpus.model].host_modules if gpus and pool.gpu else []
    return tuple(sorted({*pool.os.modules, *needed}))


def plan_rdma(
    spec: SiteSpec, pool: PoolSpec, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]
) -> RdmaPlan | None:
    """Return the RDMA settings of a pool; None where it has none."""
    rdma = pool.rdma
    if rdma is None:
        return None
    roce = _roce(spec, nodes, fabrics) if rdma.mode == "roce" else None
    return RdmaPlan(
        mode=rdma.mode,
        dscp=roce.dscp if roce else None,
        priority=roce.priority if roce and rdma.nic_qos == "mlnx" else None,
        memlock=rdma.memlock,
        vfs_per_port=rdma.vfs_per_port,
        firmware_vfs=rdma.firmware_vfs,
        netns=rdma.netns,
    )


def _roce(spec: SiteSpec, nodes: tuple[NodePlan, ...], fabrics: Mapping[str, FabricPlan]) -> RoceClass | None:
    """Return the class of the RoCE fabric that the pool's ports are on, so that hosts and switches mark alike."""
    names = sorted({nic.fabric for node in nodes for nic in node.nics if nic.fabric})
    return next((spec.fabrics[name].roce for name in names if fabrics[name].kind == "roce"), None)


def plan_gpu(spec: SiteSpec, pool: PoolSpec) -> GpuPlan | None:
    """Return the GPU settings of a pool; None where it has none, or no GPUs."""
    system = spec.catalog.systems[pool.system]
    gpu, gpus = pool.gpu, system.gpus
    if gpu is None or gpus is None:
        return None
    owner = spec.gpu.gpu_operator.driver if spec.gpu else "host"
    # A tray of a rack-scale system runs none: its NVSwitches stand in trays of their own.
    has_switches = gpu.fabric_state is not None and system.nvlink_domain is None
    return GpuPlan(
        count=gpus.count,
        model=gpus.model,
        vendor=spec.catalog.gpus[gpus.model].vendor,
        driver_owner=owner,
        driver_floor=gpu.driver_floor,
        driver_version=gpu.driver_version,
        packages=dict(sorted(gpu.driver_packages.items())),
        persistence=gpu.persistence,
        fabric_state=gpu.fabric_state,
        max_uncorrected_ecc=gpu.max_uncorrected_ecc,
        fabric_manager=has_switches and gpu.driver_version is not None and owner == "host",
        imex=gpu.imex,
    )
