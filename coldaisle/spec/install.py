"""
Installing an image on a node's disks: which disks, how they are laid out, and who agreed that what is on them goes.

Disks are chosen by what stays with them (serial, WWN, model, slot). The kernel's own names (sda, nvme0n1) depend on the
order in which it finds them, and are no choice.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from coldaisle.spec.base import SpecModel, mistake
from coldaisle.spec.hardware import NodeRef
from coldaisle.spec.provisioning import HttpUrl

BY_PATH = "/dev/disk/by-path/"
KEYS = ("label", "serial", "wwn", "model", "path")
RAID_MINIMUM = {"raid0": 2, "raid1": 2, "raid10": 4}
"""Fewest members of each level (md(4))."""


def _stays(value: str) -> str:
    """Refuse a kernel's own name of a disk, whatever key it was written under."""
    if value.startswith("/dev/") and not value.startswith(BY_PATH):
        what = f"{value} is the name that a kernel gives to whichever disk it finds first"
        fix = "choose by serial, label (of hardware.NODE.disks), wwn, model, or path below /dev/disk/by-path"
        raise mistake("disk-by-kernel-name", what, fix, value)
    return value


Stable = Annotated[str, Field(min_length=1), AfterValidator(_stays)]


class DiskChoice(SpecModel):
    """One disk by exactly one of its marks; `model` may stand for `count` like disks, all that there are."""

    label: Stable | None = None
    """A name of `hardware.NODE.disks`, which says each node's serial."""
    serial: Stable | None = None
    wwn: Stable | None = None
    model: Stable | None = None
    path: Stable | None = None
    """A link below /dev/disk/by-path: a slot, whatever disk is in it."""
    count: int = Field(default=1, ge=1, le=64)

    @model_validator(mode="after")
    def _is_one_choice(self) -> Self:
        given = [key for key in KEYS if getattr(self, key) is not None]
        if len(given) != 1:
            what, have = "a disk is chosen by one of its marks", ", ".join(given) or "none"
            raise mistake("bad-value", what, f"give one of {', '.join(KEYS)}", have)
        if self.count > 1 and self.model is None:
            what = f"one {given[0]} is one disk"
            raise mistake("bad-value", what, "remove count, or choose by model", f"count {self.count}")
        return self

    @property
    def mark(self) -> tuple[str, str]:
        """Return the key that was given, and its value."""
        return next((key, str(getattr(self, key))) for key in KEYS if getattr(self, key) is not None)


class EncryptionSpec(SpecModel):
    """
    LUKS on the root disk, unlocked without a person: by the machine's TPM, or by a Tang server of the site.

    The passphrase that the installer needs is made on the node and thrown away when the unlocking is bound.
    """

    unlock: Literal["tpm2", "tang"]
    tang_url: HttpUrl | None = None
    tang_thumbprint: str | None = None
    """Thumbprint of the Tang server's signing key, so that no other server is trusted."""

    @model_validator(mode="after")
    def _knows_its_server(self) -> Self:
        if self.unlock == "tang" and not (self.tang_url and self.tang_thumbprint):
            what, fix = "a disk that Tang unlocks needs to know its server", "add tang_url and tang_thumbprint"
            raise mistake("missing-key", what, fix, "unlock: tang")
        return self


class InstallSpec(SpecModel):
    """How the image of a pool is installed on its nodes' own disks."""

    disks: list[DiskChoice] = Field(default_factory=list)
    raid: Literal["raid0", "raid1", "raid10"] | None = None
    encryption: EncryptionSpec | None = None
    filesystem: Literal["ext4", "xfs"] = "ext4"
    packages: list[str] = Field(default_factory=list)
    wipe: bool = False
    """What is on the disks may go. Without it an installer stops at a disk that is not blank."""
    wipe_consent: dict[NodeRef, list[str]] = Field(default_factory=dict)
    """Who may be wiped: the serials of the disks, by node. Both must be named."""
