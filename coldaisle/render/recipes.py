"""
Partitions for debian-installer, in the words of its recipes.

A recipe fits either firmware mode: a disk has a partition for GRUB (BIOS) and one for EFI, and then the root or what
holds it. In BIOS mode EFI's stays empty and of no type of its own: method{ efi } makes it in EFI mode alone, and
$bootable{ } does nothing on GPT. Sizes are minimum, priority and maximum in megabytes, -1 for all that is left.
"""

from __future__ import annotations

from coldaisle.plan.model import InstallPlan

ROOT_PARTITION = 3
"""Number of the partition that is the root, or a member of its array: it comes after GRUB's and EFI's."""

_GRUB = "1 1 1 free method{ biosgrub } ."
_EFI = "256 256 256 fat32 method{ efi } format{ } ."
_BOOT = (
    "768 768 768 ext4 $primary{ } method{ format } format{ } use_filesystem{ } filesystem{ ext4 } mountpoint{ /boot } ."
)
_MEMBER = "1500 2048 -1 raid $lvmignore{ } $primary{ } method{ raid } ."


def method_of(install: InstallPlan) -> str:
    """Return how debian-installer partitions: `regular`, `raid`, or `crypto`, which is LVM on LUKS."""
    if install.raid:
        return "raid"
    return "crypto" if install.encryption else "regular"


def recipe_of(install: InstallPlan) -> str:
    """Return the recipe of an installation, in one line."""
    middle = {"regular": (), "raid": (), "crypto": (_BOOT,)}[method_of(install)]
    last = _MEMBER if install.raid else _root(install)
    return " ".join(("coldaisle ::", _GRUB, _EFI, *middle, last))


def _root(install: InstallPlan) -> str:
    logical = "$lvmok{ } lv_name{ root } " if install.encryption else ""
    kind = install.filesystem
    made = f"method{{ format }} format{{ }} use_filesystem{{ }} filesystem{{ {kind} }} mountpoint{{ / }} ."
    return f"1500 2048 -1 {kind} {logical}{made}"
