"""The initramfs: busybox, the modules that reach the root, and the `init` of this folder, as a compressed cpio."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from sim.image.modules import load_order
from sim.image.recipe import BOOT_MODULES, HERE
from sim.shell import find, run


def write_initramfs(root: Path, modules: Path, target: Path, scratch: Path) -> None:
    """
    Write the initramfs to `target`.

    Args:
        root: The Debian root, from which busybox is taken.
        modules: The kernel's module folder (`lib/modules/VERSION`), with modules.dep.
        target: The file to write.
        scratch: An empty folder for the tree.
    """
    for name in ("bin", "dev", "proc", "sys", "etc", "modules"):
        (scratch / name).mkdir(parents=True)
    shutil.copy2(root / "bin/busybox", scratch / "bin/busybox")
    (scratch / "bin/sh").symlink_to("busybox")
    for name in ("init", "udhcpc.script"):
        shutil.copy2(HERE / "initramfs" / name, scratch / name)
    _copy_modules(load_order(modules, BOOT_MODULES), scratch / "modules")
    _pack(scratch, target)


def _copy_modules(paths: Sequence[Path], folder: Path) -> None:
    """Copy modules into one folder, with the order in which they load."""
    for path in paths:
        shutil.copy2(path, folder / path.name)
    (folder / "order").write_text("".join(f"{path.name}\n" for path in paths))


def _pack(tree: Path, target: Path) -> None:
    """Write `tree` as a zstd-compressed cpio archive: the kernel unpacks that fastest."""
    cpio, zstd = find("cpio", "cpio"), find("zstd", "zstd")
    script = (
        f'cd "$1" && find . -print0 | {cpio} --null --create --format=newc --quiet --owner=0:0 | {zstd} -q -10 -o "$2"'
    )
    run(["bash", "-o", "pipefail", "-c", script, "pack", tree, target])
