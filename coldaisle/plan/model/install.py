"""What is installed on a node's disks: the disks by marks that stay with them, and how they are laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskPlan:
    """`count` disks whose `mark` (serial, wwn, model or path) is `value`: all that the node has of them."""

    mark: Literal["serial", "wwn", "model", "path"]
    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionPlan:
    """LUKS on the root disk: what unlocks it, and the Tang server where it is one."""

    unlock: Literal["tpm2", "tang"]
    tang_url: str | None
    tang_thumbprint: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """
    How an image is installed on a pool's nodes.

    `wipe` says whether what is on the disks may go; each node's `wipe_consent` names the serials that it was said of.
    """

    raid: Literal["raid0", "raid1", "raid10"] | None
    encryption: EncryptionPlan | None
    filesystem: Literal["ext4", "xfs"]
    packages: tuple[str, ...]
    wipe: bool
