"""Installing images: each node's disks by marks that stay, and the settings that a pool's nodes share."""

from __future__ import annotations

from typing import Literal, cast

from coldaisle.plan.model import DiskPlan, EncryptionPlan, InstallPlan
from coldaisle.spec.hardware import NodeHardware
from coldaisle.spec.install import EncryptionSpec, InstallSpec
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.provisioning import ImageSpec
from coldaisle.spec.sections import SiteSpec


def image_of(spec: SiteSpec, pool: PoolSpec) -> ImageSpec | None:
    """Return the image of a pool, or None where it has none."""
    images = spec.provisioning.images if spec.provisioning else []
    return next((image for image in images if image.name == pool.image), None)


def is_installed(spec: SiteSpec, pool: PoolSpec) -> bool:
    """Tell whether a pool's nodes boot over the network once, into an installer, and from their disks after that."""
    image = image_of(spec, pool)
    return pool.boot == "network" and image is not None and image.kind != "squashfs"


def plan_install(pool: PoolSpec) -> InstallPlan | None:
    """Return the settings of a pool's installation."""
    wanted = pool.install
    if wanted is None:
        return None
    return InstallPlan(
        raid=wanted.raid,
        encryption=_encryption(wanted.encryption),
        filesystem=wanted.filesystem,
        packages=tuple(wanted.packages),
        wipe=wanted.wipe,
    )


def _encryption(wanted: EncryptionSpec | None) -> EncryptionPlan | None:
    if wanted is None:
        return None
    return EncryptionPlan(unlock=wanted.unlock, tang_url=wanted.tang_url, tang_thumbprint=wanted.tang_thumbprint)


def disks_of(wanted: InstallSpec | None, hardware: NodeHardware) -> tuple[DiskPlan, ...]:
    """Return a node's disks; a label becomes the serial of the delivery list, and is left out without one."""
    found = []
    for choice in wanted.disks if wanted else ():
        mark, value = choice.mark
        if mark == "label":
            mark, value = "serial", hardware.disks.get(value, "")
        if value:
            kind = cast('Literal["serial", "wwn", "model", "path"]', mark)
            found.append(DiskPlan(mark=kind, value=value, count=choice.count))
    return tuple(found)


def consent_of(wanted: InstallSpec | None, node: str) -> tuple[str, ...]:
    """Return the serials of a node's disks that may be wiped; none where the pool does not wipe."""
    return tuple(sorted(wanted.wipe_consent.get(node, ()))) if wanted and wanted.wipe else ()
