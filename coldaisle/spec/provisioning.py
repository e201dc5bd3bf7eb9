"""The host that nodes boot from, and the images that it offers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coldaisle.spec.base import Address, Name, SpecModel

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ImageSpec(SpecModel):
    """A net-boot image: three files below `source`, a folder or an address."""

    name: Name
    source: str
    kernel: str = "vmlinuz"
    initrd: str = "initrd.img"
    rootfs: str = "rootfs.squashfs"
    kernel_arguments: str = ""
    sha256: dict[str, Sha256] = Field(default_factory=dict)
    """Digest of each file by its name; one that is left out is measured when the image is published."""


class ProvisioningSpec(SpecModel):
    """A service host on the management network that answers DHCP, TFTP and HTTP."""

    host: Name
    host_address: Address
    interface: str
    http_port: int = Field(default=80, ge=1, le=65535)
    images: list[ImageSpec] = Field(default_factory=list)
