"""The mirror of a rehearsal is held against itself first: an installer would stop at a question after minutes."""

from __future__ import annotations

import hashlib
import lzma
import re
from dataclasses import replace
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import ImagePlan
from sim.errors import SimError
from sim.install.mirror import UDEBS, Index, kernel_version, require_whole

ROOT = Path(__file__).parents[2]
VERSION = "6.12.107+deb13-amd64"


@pytest.fixture
def image(tmp_path: Path) -> ImagePlan:
    """Return the rehearsal's image, with a kernel that has nothing but a header."""
    provisioning = open_site(ROOT / "inventory/rehearsal").plan.provisioning
    assert provisioning is not None
    text = f"{VERSION} (builder) #1 SMP".encode() + b"\0"
    kernel = bytearray(0x400)
    kernel[0x20E:0x210] = (0x100).to_bytes(2, "little")
    kernel[0x300 : 0x300 + len(text)] = text
    (tmp_path / provisioning.images[0].kernel).write_bytes(kernel)
    return replace(provisioning.images[0], source=str(tmp_path))


def whole(version: str) -> Index:
    """Return a mirror of one time, which has modules of one kernel."""
    udebs = lzma.compress(f"Package: kernel-image-{version}-di\nVersion: 1\n".encode())
    return Index(f"SHA256:\n {hashlib.sha256(udebs).hexdigest()} {len(udebs)} {UDEBS}\n", signed=True, udebs=udebs)


def test_a_whole_mirror_passes(image: ImagePlan) -> None:
    """Signature, index and kernel are of one time."""
    require_whole(image, whole(VERSION))


def test_a_mirror_of_two_times_is_refused(image: ImagePlan) -> None:
    """A signature, an index, or modules of another time are each named."""
    good = whole(VERSION)
    with pytest.raises(SimError, match=r"Release\.gpg does not sign"):
        require_whole(image, replace(good, signed=False))
    with pytest.raises(SimError, match="is not the one of Release"):
        require_whole(image, replace(good, udebs=whole("6.12.94").udebs))
    with pytest.raises(SimError, match=re.escape(f"no modules for the installer's kernel {VERSION}")):
        require_whole(image, whole("6.12.94+deb13-amd64"))


def test_the_version_of_a_kernel_is_read_from_its_header(image: ImagePlan) -> None:
    """The kernel itself says which modules it takes."""
    assert kernel_version((Path(image.source) / image.kernel).read_bytes()) == VERSION
