"""The mirror of a rehearsal: what it holds, who signs it, and what is refused before minutes go into an installer."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import ImagePlan, SitePlan
from coldaisle.render.boot import target_of
from sim.errors import SimError
from sim.install import archive
from sim.install.mirror import kernel_version, require_modules, with_own_key
from sim.install.run import LOOK, QUESTIONS, wrong

ROOT = Path(__file__).parents[2]
VERSION = "6.12.94+deb13-amd64"
UDEB = "pool/main/a/anna/anna_1_all.udeb"
SUITE = "trixie"
DEB = "Package: hello\nVersion: 1\nArchitecture: all\nFilename: pool/hello_1_all.deb\nSize: 1\nSHA256: aa"

needs_gpg = pytest.mark.skipif(not all(map(shutil.which, ("gpg", "gpgv", "dpkg-deb"))), reason="needs gpg and dpkg")


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the rehearsal's site."""
    return open_site(ROOT / "inventory/rehearsal").plan


@pytest.fixture
def image(plan: SitePlan, tmp_path: Path) -> ImagePlan:
    """Return the rehearsal's image, with a kernel that has nothing but a header."""
    assert plan.provisioning is not None
    return of_kernel(plan.provisioning.images[0], tmp_path, VERSION)


def of_kernel(image: ImagePlan, folder: Path, version: str) -> ImagePlan:
    """Return an image in `folder` whose kernel says that it has a version."""
    text = f"{version} (builder) #1 SMP".encode() + b"\0"
    kernel = bytearray(0x400)
    kernel[0x20E:0x210] = (0x100).to_bytes(2, "little")
    kernel[0x300 : 0x300 + len(text)] = text
    (folder / image.kernel).write_bytes(kernel)
    return replace(image, source=str(folder))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a signed mirror of one package and one udeb."""
    root = tmp_path_factory.mktemp("mirror")
    control = tmp_path_factory.mktemp("package") / "DEBIAN/control"
    control.parent.mkdir()
    control.write_text(
        "Package: anna\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.net>\nDescription: one\n"
    )
    (root / UDEB).parent.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "--build", control.parents[1], root / UDEB], check=True, capture_output=True)
    archive.write_indices(root, SUITE, {"deb": [DEB], "udeb": [archive.udeb_stanza(root, UDEB)]})
    archive.sign(root, SUITE)
    return root


def verified(root: Path, *words: str) -> bool:
    """Tell whether gpgv, which the installer has too, takes a file for signed by the mirror's key."""
    command = ["gpgv", "--keyring", str(root / archive.KEY), *words]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@needs_gpg
def test_the_mirror_is_signed_by_its_own_key(mirror: Path, tmp_path: Path) -> None:
    """Both forms of the signature fit, and a Release that was changed by a byte does not."""
    release = mirror / "dists" / SUITE
    assert verified(mirror, str(release / "InRelease"))
    assert verified(mirror, str(release / "Release.gpg"), str(release / "Release"))
    other = tmp_path / "Release"
    other.write_bytes((release / "Release").read_bytes() + b"\n ")
    assert not verified(mirror, str(release / "Release.gpg"), str(other))


@needs_gpg
def test_release_has_the_digest_of_every_index(mirror: Path) -> None:
    """Each line of Release fits its file; debootstrap wants an index of each architecture that it names, `all` too."""
    release = mirror / "dists" / SUITE
    assert "\nArchitectures: amd64\n" in (release / "Release").read_text()
    lines = [line.split() for line in (release / "Release").read_text().splitlines() if line.startswith(" ")]
    assert {name for _, _, name in lines} == {
        f"{folder}/{name}" for folder in archive.COMPONENTS for name in ("Packages", "Packages.xz", "Release")
    }
    for digest, size, name in lines:
        content = (release / name).read_bytes()
        assert (digest, int(size)) == (hashlib.sha256(content).hexdigest(), len(content))


@needs_gpg
def test_an_index_says_where_a_udeb_lies(mirror: Path) -> None:
    """The installer finds a package by its name, at a path with that digest; other packages are in another index."""
    folder = mirror / "dists" / SUITE / "main/debian-installer/binary-amd64"
    (stanza,) = lzma.decompress((folder / "Packages.xz").read_bytes()).decode().strip().split("\n\n")
    content = (mirror / archive.field(stanza, "Filename")).read_bytes()
    assert archive.field(stanza, "Package") == "anna"
    assert archive.field(stanza, "SHA256") == hashlib.sha256(content).hexdigest()
    assert archive.field(stanza, "Size") == str(len(content))


@needs_gpg
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")
def test_apt_takes_the_mirror_with_its_key_only(mirror: Path, tmp_path: Path) -> None:
    """Apt of this machine reads a mirror whose key it was given, and refuses it with another's."""
    archive.Apt(tmp_path / "ours", SUITE, f"file:{mirror}", mirror / archive.KEY)
    other = tmp_path / "other"
    shutil.copytree(mirror / "dists", other / "dists")
    for name in ("Release.gpg", "InRelease"):
        (other / "dists" / SUITE / name).unlink()
    archive.sign(other, SUITE)
    with pytest.raises(SimError, match=r"not signed|NO_PUBKEY"):
        archive.Apt(tmp_path / "theirs", SUITE, f"file:{mirror}", other / archive.KEY)


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[str]:
    """Serve a folder with one file, `pool/one`, and return its address."""
    (tmp_path / "served/pool").mkdir(parents=True)
    (tmp_path / "served/pool/one").write_bytes(b"one")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_udebs_are_held_against_their_digests(upstream: str, tmp_path: Path) -> None:
    """A file with the pinned digest is kept; another, or one that is missing, is named."""
    good = hashlib.sha256(b"one").hexdigest()
    archive.fetch_udebs(tmp_path, upstream, {"pool/one": good})
    assert (tmp_path / "pool/one").read_bytes() == b"one"
    with pytest.raises(SimError, match="not the one that is pinned"):
        archive.fetch_udebs(tmp_path, upstream, {"pool/one": "0" * 64})
    with pytest.raises(SimError, match="the mirror does not give it"):
        archive.fetch_udebs(tmp_path, upstream, {"pool/two": good})


def test_modules_are_pinned_for_the_installers_kernel(image: ImagePlan, tmp_path: Path) -> None:
    """A kernel of another time, or a release that nobody pinned, is refused before the machine is turned on."""
    require_modules(image)
    with pytest.raises(SimError, match=r"no modules are pinned for the installer's kernel 6\.1\.0"):
        require_modules(of_kernel(image, tmp_path, "6.1.0-50-amd64"))
    with pytest.raises(SimError, match="no udebs of this release are pinned"):
        require_modules(replace(image, suite="bookworm"))


def test_the_installer_is_told_of_the_mirrors_own_key(plan: SitePlan, image: ImagePlan, tmp_path: Path) -> None:
    """The rehearsed plan shows the image's own files, and the key of the mirror that stands in."""
    (tmp_path / archive.KEY).write_bytes(b"key")
    (tmp_path / image.initrd).write_bytes(b"initrd")
    told = with_own_key(plan, image, tmp_path, tmp_path / "shown").provisioning
    assert told is not None
    (shown,) = told.images
    assert (shown.keyring, shown.sha256) == (archive.KEY, image.sha256)
    assert (Path(shown.source) / archive.KEY).read_bytes() == b"key"
    assert (Path(shown.source) / image.initrd).read_bytes() == b"initrd"


def test_the_version_of_a_kernel_is_read_from_its_header(image: ImagePlan) -> None:
    """The kernel itself says which modules it takes."""
    assert kernel_version((Path(image.source) / image.kernel).read_bytes()) == VERSION


GOOD = (
    "name=r01-n01",
    "root=/dev/vda3",
    "filesystem=ext4",
    "serials=CDREHEARSAL0001",
    "arguments=BOOT_IMAGE=/boot/vmlinuz root=UUID=1 ro console=ttyS0",
    "suite=trixie",
    "password=*",
    "packages=trusted",
)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("name=r01-n02", "its name is not r01-n01"),
        ("root=/dev/vda2", "its root is not on the planned partition"),
        ("filesystem=xfs", "its root is no ext4"),
        ("serials=OTHER", "it has no disk CDREHEARSAL0001"),
        ("arguments=url=http://198.51.100.2/preseed.cfg", "it still runs the installer"),
        ("suite=bookworm", "it is not trixie"),
        ("password=", "root has a password"),
        ("packages=", "its apt does not trust the mirror"),
    ],
)
def test_what_an_installed_machine_says_is_held_against_the_plan(plan: SitePlan, line: str, what: str) -> None:
    """All is well with the planned answers; each other one, and each that is missing, is named."""
    assert plan.provisioning is not None
    target = target_of(plan, plan.provisioning, plan.nodes[0])
    assert target is not None
    assert wrong(target, GOOD) == []
    others = [each for each in GOOD if each.partition("=")[0] != line.partition("=")[0]]
    assert wrong(target, [*others, line]) == wrong(target, others) == [what]


def test_the_questions_are_answered_in_one_line_each(tmp_path: Path) -> None:
    """A shell gives each question's answer behind its name, an asterisk as it is, and nothing where a command fails."""
    (tmp_path / "shadow").write_text("root:*:1:0:99999:7:::\n")
    apt = tmp_path / "apt-get"
    apt.write_text("#!/bin/sh\nexit 1\n")
    apt.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", QUESTIONS.replace("/etc/shadow", str(tmp_path / "shadow"))],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert list(said) == list(LOOK)
    assert said["password"] == "*"  # noqa: S105 - a hash that no password has
    assert said["packages"] == ""
    assert said["arguments"] == " ".join(Path("/proc/cmdline").read_text().split())
