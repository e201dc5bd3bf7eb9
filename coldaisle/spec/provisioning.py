"""The host that nodes boot from, and the images that it offers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from coldaisle.spec.base import Address, HallRef, ImageRef, Name, SpecModel, mistake

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

ImageKind = Literal["squashfs", "autoinstall", "preseed", "kickstart"]
"""How an image comes up: a root in memory, or the installer of Ubuntu, Debian, or Red Hat and Rocky."""

HttpUrl = Annotated[str, Field(pattern=r"^https?://[^/\s]+(/\S*)?$")]


class ImageSpec(SpecModel):
    """
    A net-boot image: its files lie below `source`, a folder or an address.

    A squashfs image has a root file system; autoinstall has the ISO of the live server in its place; the installers of
    Debian and Red Hat take everything else from `mirror`.
    """

    name: Name
    kind: ImageKind = "squashfs"
    source: str
    kernel: str = "vmlinuz"
    initrd: str = "initrd.img"
    rootfs: str = ""
    """Left out, rootfs.squashfs of a squashfs image; the ISO of an autoinstall image has no default."""
    kernel_arguments: str = ""
    sha256: dict[str, Sha256] = Field(default_factory=dict)
    """Digest of each file by its name; one that is left out is measured when the image is published."""
    suite: str = ""
    """Name of the release on a Debian mirror, such as bookworm."""
    mirror: HttpUrl | None = None
    """Where the installer takes packages from: the archive's root (Debian, Ubuntu), or the tree with `images/`."""
    security_mirror: HttpUrl | None = None
    """Root of the archive of security updates; left out, an installation has none from there."""
    keyring: str = ""
    """File with the keys that sign `mirror`, in the binary form that gpgv reads; left out, those of Debian."""
    kernel_package: str = ""
    """Kernel that is installed; left out, the installer's own choice."""
    signed_by: str = ""
    """Whose key the kernel is signed with, such as Debian: what firmware with secure boot wants to know."""

    @model_validator(mode="after")
    def _has_what_it_boots(self) -> Self:
        if self.kind == "autoinstall" and not self.rootfs:
            what, fix = "an autoinstall image boots from the ISO of the live server", "add rootfs: with the ISO's name"
            raise mistake("missing-key", what, fix, "no rootfs")
        if self.kind in {"preseed", "kickstart"} and self.rootfs:
            what = f"the installer of a {self.kind} image has no root file system of its own"
            raise mistake("bad-value", what, "remove rootfs", self.rootfs)
        if self.keyring and self.kind != "preseed":
            what = f"the installer of a {self.kind} image takes no keyring from here"
            raise mistake("bad-value", what, "remove keyring", self.keyring)
        if self.kind == "preseed" and not self.suite:
            what, fix = "a preseed image installs a release", "add suite:, such as bookworm"
            raise mistake("missing-key", what, fix, "no suite")
        return self


class SignedChain(SpecModel):
    """
    The first programs of a secure boot, as files: shim, which firmware trusts, and the GRUB that shim trusts.

    `source` is a folder or an address that holds both.
    """

    source: str
    shim: str = "shimx64.efi.signed"
    grub: str = "grubnetx64.efi.signed"
    sha256: dict[str, Sha256]
    signed_by: str
    """Whose key shim trusts: GRUB and every kernel must be signed with it."""


class BootProgram(SpecModel):
    """A first program that Debian's ipxe package lacks, such as that of aarch64; `source` is a file or an address."""

    source: str
    sha256: Sha256


class HallSourcesSpec(SpecModel):
    """What a hall serves itself, so that an installation of its racks does not cross the site."""

    hall: HallRef
    images_url: HttpUrl | None = None
    """Where `NAME/FILE` of every image lies; left out, the provisioner's own."""
    mirrors: dict[ImageRef, HttpUrl] = Field(default_factory=dict)
    """By image, over its `mirror`."""
    security_mirrors: dict[ImageRef, HttpUrl] = Field(default_factory=dict)
    """By image, over its `security_mirror`."""


class ProvisioningSpec(SpecModel):
    """A service host on the management network that answers DHCP, TFTP and HTTP."""

    host: Name
    host_address: Address
    interface: str
    http_port: int = Field(default=80, ge=1, le=65535)
    images: list[ImageSpec] = Field(default_factory=list)
    proxy: HttpUrl | None = None
    """HTTP proxy that installers reach their mirrors through."""
    name_servers: list[Address] = Field(default_factory=list)
    """Name servers that DHCP tells of; none where mirrors are named by address."""
    signed_chain: dict[Literal["x86_64", "aarch64"], SignedChain] = Field(default_factory=dict)
    """Shim and GRUB of each architecture that boots with secure boot."""
    boot_programs: dict[Literal["aarch64-uefi"], BootProgram] = Field(default_factory=dict)
    relayed: bool = False
    """The nodes' network is another one, whose router relays DHCP to `host_address`."""
    transfers: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Files of images that are sent at once; more are told to come back, which their boot scripts do."""
    halls: list[HallSourcesSpec] = Field(default_factory=list)
    """Halls that serve images and packages to their own racks."""

    @field_validator("halls")
    @classmethod
    def _halls_differ(cls, value: list[HallSourcesSpec]) -> list[HallSourcesSpec]:
        names = [served.hall for served in value]
        for name in sorted({name for name in names if names.count(name) > 1}):
            raise mistake("duplicate-name", f"hall {name} is served twice", "say in one entry what it serves")
        return value
