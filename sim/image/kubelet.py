"""
What makes a host that runs the real kubelet out of one that runs the stand-in.

An image of another name, so that a site chooses by its pools' `image` which of its nodes run pods for real; the
programs are the toolchain's, of the pins of the control plane.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from coldaisle.toolchain import pins
from sim.image import pod_image, recipe

IMAGE = "debian-12-kubelet"
"""Name of the image, as a site's provisioning section gives it."""

TOOLS = ("kubelet", "device-plugin")
"""Programs of the toolchain that lie in the image, by their names there and here."""

FILES = recipe.HERE / "kubelet"
POD_IMAGES = "usr/local/share/coldaisle/pod-images.tar"
WANTED_BY_KUBELET = "kubelet.service.wants/coldaisle-device-plugin.service"

LEFT_OUT = tuple(path for path in recipe.LEFT_OUT if path not in {"usr/bin/ctr", "usr/lib/cni"})
"""What stays out of the root file system: `ctr` takes in the pods' images, and CNI plugins make their network."""


def digest() -> str:
    """Return the digest of the image: that of the plain one, and what its programs are built from."""
    parts = [recipe.image_digest(), *(pins.digest(pins.tool(name)) for name in TOOLS)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def add_to_layer(layer: Path, root: Path, programs: Mapping[str, Path]) -> None:
    """
    Put the kubelet and what it needs over the files of the plain image.

    Args:
        layer: Our files over the Debian root.
        root: The Debian root, from which busybox is taken.
        programs: The path of each program of TOOLS.
    """
    shutil.copytree(FILES, layer, symlinks=True, dirs_exist_ok=True)
    for name, path in programs.items():
        target = layer / "usr/local/bin" / name
        target.unlink(missing_ok=True)
        shutil.copyfile(path, target)
        target.chmod(0o755)
    wanted = layer / "etc/systemd/system" / WANTED_BY_KUBELET
    wanted.parent.mkdir()
    wanted.symlink_to(f"/etc/systemd/system/{wanted.name}")
    (layer / POD_IMAGES).parent.mkdir(parents=True, exist_ok=True)
    pod_image.write_images(root / "bin/busybox", layer / POD_IMAGES)
