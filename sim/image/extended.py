"""An image with more in it than the site's hosts need: packages and files in a layer over the same root."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from sim.image import recipe
from sim.image.build import (
    Image,
    Progress,
    ensure_image,
    locked,
    make_whole,
    merged,
    point,
    write_manifest,
    write_squashfs,
)
from sim.shell import find, run

DONE_WITH = ("var/cache", "var/lib/apt", "var/log", "etc/resolv.conf", "tmp", "root")
"""What apt leaves in the layer and no host needs."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What an image adds: its own name, Debian packages of the image's suite, and a tree of files that lies on top."""

    name: str
    packages: tuple[str, ...]
    files: Path

    def digest(self) -> str:
        """Return the digest of the whole image: the one below, the packages and every file."""
        parts = [recipe.image_digest(), *self.packages]
        for path in sorted(self.files.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                told = hashlib.sha256(path.read_bytes()).hexdigest()
                parts.append(f"{path.relative_to(self.files)} {path.stat().st_mode & 0o777:o} {told}")
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def ensure_extended(cache: Path, below: str, extension: Extension, progress: Progress) -> tuple[Image, Path]:
    """
    Return the image `below` and the folder of the extended one, each built if the cache does not hold it.

    The folder has what a host fetches: vmlinuz, initrd.img, rootfs.squashfs, and manifest.json.

    Raises:
        SimError: No space, a missing program, or packages that cannot be had.
    """
    image = ensure_image(cache, below, progress)
    folder = cache / f"extended-{extension.digest()}"
    with locked(cache, progress):
        if not folder.exists():
            make_whole(folder, lambda work, say: _build(image, extension, work, say), progress)
        point(cache / extension.name, folder)
        remove_unnamed(cache)
    return image, folder


def _build(image: Image, extension: Extension, work: Path, progress: Progress) -> None:
    layer = work / "layer"
    layer.mkdir()
    progress(f"installs {', '.join(extension.packages)}")
    _install(image, extension.packages, layer, work)
    shutil.copytree(extension.files, layer, symlinks=True, dirs_exist_ok=True)
    for name in ("vmlinuz", "initrd.img"):
        shutil.copyfile(image.folder / name, work / name)
    progress("packs the root file system")
    write_squashfs((layer, *image.layers), work / "rootfs.squashfs", work / "merged")
    write_manifest(work, extension.digest())


def _install(image: Image, packages: tuple[str, ...], layer: Path, work: Path) -> None:
    """Let the root's own apt install packages; what it changes is the layer."""
    scratch = work / "scratch"
    scratch.mkdir()
    with merged(image.layers, work / "merged", written=(layer, scratch)) as root:
        shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
        apt: list[str | Path] = [find("chroot", "coreutils"), root, "env", "DEBIAN_FRONTEND=noninteractive"]
        apt += ["apt-get", "-qq"]
        run([*apt, "update"])
        run([*apt, "install", "--yes", "--no-install-recommends", *packages])
    for name in DONE_WITH:
        left = layer / name
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink(missing_ok=True)
    shutil.rmtree(scratch)


def remove_unnamed(cache: Path) -> None:
    """Remove extended images that no name points at any more."""
    named = {path.readlink().name for path in cache.iterdir() if path.is_symlink()}
    for path in cache.glob("extended-*"):
        if path.name not in named:
            shutil.rmtree(path)
