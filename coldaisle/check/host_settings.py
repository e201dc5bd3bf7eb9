"""Checks of what a pool's hosts are set to: settings that contradict each other, or that nothing could read back."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.engines import version_numbers
from coldaisle.plan.model import SitePlan
from coldaisle.spec.host_settings import GpuSpec
from coldaisle.spec.sections import SiteSpec


def check_driver_owner(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """A driver comes from the host or from the operator in the cluster: packages of both fight over one module (G6)."""
    operator = spec.gpu.gpu_operator if spec.gpu else None
    if operator is None or operator.driver != "operator":
        return
    for name, pool in sorted(spec.node_pools.items()):
        if pool.gpu and (pool.gpu.driver_version or pool.gpu.driver_packages):
            key = "driver_version" if pool.gpu.driver_version else "driver_packages"
            yield finding(
                spec,
                ("node_pools", name, "gpu", key),
                "two-driver-owners",
                what=f"pool {name} pins a driver on its hosts, and the GPU Operator installs one too",
                have=f"gpu.gpu_operator.driver: operator ({spec.marks.where(('gpu', 'gpu_operator', 'driver'))})",
                fix=f"remove {key} here, or set gpu_operator.driver to host",
            )


def check_driver_pin(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """A pinned driver reaches the pool's own floor, and its packages, fabric manager's too, have its version (G3)."""
    for name, pool in sorted(spec.node_pools.items()):
        if pool.gpu and pool.gpu.driver_version:
            yield from _below_floor(spec, name, pool.gpu, pool.gpu.driver_version)
            yield from _other_versions(spec, name, pool.gpu, pool.gpu.driver_version)


def _below_floor(spec: SiteSpec, pool: str, gpu: GpuSpec, version: str) -> Iterator[Finding]:
    if version_numbers(version) < version_numbers(gpu.driver_floor):
        yield finding(
            spec,
            ("node_pools", pool, "gpu", "driver_version"),
            "driver-below-floor",
            what=f"pool {pool} needs driver {gpu.driver_floor} or newer",
            have=f"its hosts are pinned to {version}",
            fix=f"raise driver_version to {gpu.driver_floor}",
        )


def _other_versions(spec: SiteSpec, pool: str, gpu: GpuSpec, version: str) -> Iterator[Finding]:
    for package, pinned in sorted(gpu.driver_packages.items()):
        if upstream(pinned) != version:
            yield finding(
                spec,
                ("node_pools", pool, "gpu", "driver_packages", package),
                "driver-mismatch",
                what=f"{package} is pinned to {pinned}, and the driver to {version}",
                have="fabric manager and the driver's parts work with exactly their own version only",
                fix=f"pin {package} to a version {version}-…, or correct driver_version",
            )


def upstream(version: str) -> str:
    """Return the part of a package's version that its maker gave: without epoch and packaging."""
    return version.rpartition(":")[2].partition("-")[0]


def check_imex(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """IMEX runs on hosts whose GPUs share an NVLink domain beyond the host."""
    for name, pool in sorted(spec.node_pools.items()):
        if pool.gpu and pool.gpu.imex == "host" and spec.catalog.systems[pool.system].nvlink_domain is None:
            yield finding(
                spec,
                ("node_pools", name, "gpu", "imex"),
                "imex-without-domain",
                what=f"pool {name} runs IMEX, and the GPUs of {pool.system} talk over NVLink within one node only",
                have=spec.catalog_where("systems", pool.system),
                fix="remove imex, or name nvlink_domain in the catalog where the system has one",
            )


def check_clock_offset(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """Only chrony tells by how much a clock is off."""
    for name, pool in sorted(spec.node_pools.items()):
        if pool.os.max_clock_offset_ms is not None and pool.os.time_service != "chrony":
            yield finding(
                spec,
                ("node_pools", name, "os", "max_clock_offset_ms"),
                "offset-without-chrony",
                what=f"pool {name} bounds the offset of its clocks, and {pool.os.time_service} does not tell it",
                fix="set time_service to chrony, or ask for clock_synchronized instead",
            )


HOST_SETTINGS_CHECKS = (check_driver_owner, check_driver_pin, check_imex, check_clock_offset)
