"""
A mirror of the rehearsal's own, made as a site without the internet makes one: few packages of one release, own key.

A mirror that others keep changes while one looks: its Release, signature, index of udebs and the kernel of the netboot
image are seldom of one time. So packages come from the release's signed index by apt, which verifies them; the
installer's own (udebs) by the digests that are pinned here, as their index is the one that lags. Both get one index
and one Release, signed by a key that is made for this mirror alone.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx

from coldaisle.paths import cache_dir
from sim.errors import SimError
from sim.image.build import Progress, make_whole
from sim.shell import find, run

HERE = Path(__file__).parent
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
KEY = "archive.gpg"
"""Name of the public key below a mirror's folder, as gpgv reads it."""

KEY_OWNER = "Coldaisle rehearsal <rehearsal@example.net>"
ARCHITECTURE = "amd64"
INSTALLED = (
    *("linux-image-cloud-amd64", "linux-image-amd64", "initramfs-tools", "zstd", "busybox"),
    *("locales", "console-setup", "keyboard-configuration", "kbd", "openssh-server", "python3", "tasksel", "apt-utils"),
    *(
        "systemd-timesyncd",
        "dbus",
        "e2fsprogs",
        "xfsprogs",
        "dosfstools",
        "efibootmgr",
        "os-prober",
        "eject",
        "pciutils",
    ),
    *("mdadm", "lvm2", "cryptsetup", "cryptsetup-initramfs", "clevis-luks", "clevis-tpm2", "clevis-initramfs"),
    *(
        "laptop-detect",
        "installation-report",
        "discover",
        "usbutils",
        "util-linux-extra",
        "acpid",
        "popularity-contest",
    ),
)
"""What the installer puts on a machine beside the base system, whatever its disks are."""

LOADERS = ("grub-pc", "grub-efi-amd64", "grub-efi-amd64-signed shim-signed")
"""Boot loaders; the first two exclude each other, so that each is resolved by itself."""

COMPONENTS = {"main/binary-amd64": "deb", "main/debian-installer/binary-amd64": "udeb"}
"""Folders of indices below a release's, and the ending of the files that each lists."""


def pinned(suite: str) -> dict[str, str]:
    """
    Return the udebs of a release: digest (SHA-256) by path below the archive's root.

    They fit the pinned installer: its kernel, and the versions of what its initrd has. No signature of that time was at
    hand any more, so they are trusted as they were first seen.

    Raises:
        SimError: none are known.
    """
    file = HERE / f"udebs-{suite}.sha256"
    if not file.exists():
        known = ", ".join(path.stem.removeprefix("udebs-") for path in sorted(HERE.glob("udebs-*.sha256")))
        raise SimError(suite, "no udebs of this release are pinned", f"known: {known}", f"add {file.name}")
    return {path: digest for digest, path in (line.split() for line in file.read_text().splitlines())}


def ensure(suite: str, upstream: str, packages: Iterable[str], progress: Progress) -> Path:
    """
    Return the folder of a mirror of `suite` with what an installation takes, made where the cache does not hold it.

    Args:
        suite: Name of the release.
        upstream: Root of the archive that packages come from.
        packages: What a node's installation adds.
        progress: Called with each step.
    """
    wanted = sorted({*INSTALLED, *packages})
    recipe = "\n".join([suite, *wanted, *LOADERS, *map(str, sorted(pinned(suite).items())), Path(__file__).read_text()])
    folder = cache_dir() / "archives" / f"{suite}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        make_whole(folder, lambda work, say: _build(work, suite, upstream, wanted, say), progress)
    return folder


def _build(work: Path, suite: str, upstream: str, packages: list[str], progress: Progress) -> None:
    progress(f"fetches the udebs of {suite}")
    fetch_udebs(work, upstream, pinned(suite))
    progress(f"fetches the packages of {suite}")
    with tempfile.TemporaryDirectory() as state:
        apt = Apt(Path(state), suite, upstream)
        stanzas = apt.fetch(work, packages)
    write_indices(work, suite, {"deb": stanzas, "udeb": [udeb_stanza(work, path) for path in sorted(pinned(suite))]})
    sign(work, suite)


def fetch_udebs(root: Path, upstream: str, wanted: dict[str, str]) -> None:
    """
    Fetch files below an archive's root, each of which has its digest.

    Raises:
        SimError: one cannot be had, or is another than the pinned one.
    """
    with httpx.Client(follow_redirects=True, timeout=60) as client:
        for path, digest in wanted.items():
            try:
                content = client.get(f"{upstream}/{path}").raise_for_status().content
            except httpx.HTTPError as error:
                fix = "set COLDAISLE_DEBIAN_MIRROR to a mirror that has it"
                raise SimError(f"{upstream}/{path}", "the mirror does not give it", str(error), fix) from error
            seen = hashlib.sha256(content).hexdigest()
            if seen != digest:
                fix = "verify the file; where it is right, pin this digest"
                raise SimError(path, "the udeb is not the one that is pinned", f"sha256 {seen}", fix)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)


class Apt:
    """Apt of this machine with settings, lists and a status of its own: an empty machine of another release."""

    def __init__(self, state: Path, suite: str, upstream: str, keyring: Path = KEYRING) -> None:
        """Read the lists of a release; SimError where none of the keys in `keyring` signs it."""
        for name in ("lists/partial", "archives/partial"):
            (state / name).mkdir(parents=True)
        (state / "status").touch()
        (state / "sources.list").write_text(f"deb [signed-by={keyring}] {upstream} {suite} main\n")
        self._state, self._suite, self._upstream = state, suite, upstream
        run(self._words("apt-get", "update"))

    def _words(self, program: str, *words: str) -> list[str | Path]:
        state = self._state
        options = {
            "Dir::State": state,
            "Dir::State::lists": state / "lists",
            "Dir::State::status": state / "status",
            "Dir::Cache": state,
            "Dir::Cache::archives": state / "archives",
            "Dir::Etc::sourcelist": state / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Architecture": ARCHITECTURE,
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Debug::NoLocking": "true",
        }
        flags = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        return [find(program, "apt"), "-qq", *flags, *words]

    def fetch(self, root: Path, packages: list[str]) -> list[str]:
        """Fetch packages and all that they need below an archive's root, and return their entries of the index."""
        base = self._base()
        for loader in LOADERS:
            run(self._words("apt-get", "--yes", "--download-only", "install", *base, *packages, *loader.split()))
        names = sorted({file.name.partition("_")[0] for file in (self._state / "archives").glob("*.deb")})
        shown = run(self._words("apt-cache", "--no-all-versions", "show", *names)).stdout
        stanzas = [stanza.strip() for stanza in shown.split("\n\n") if stanza.strip()]
        for stanza in stanzas:
            self._place(root, stanza)
        return stanzas

    def _base(self) -> list[str]:
        """Return what debootstrap unpacks before anything else, as it says itself."""
        with tempfile.TemporaryDirectory() as target:
            words = [
                find("debootstrap", "debootstrap"),
                "--print-debs",
                f"--keyring={KEYRING}",
                f"--arch={ARCHITECTURE}",
            ]
            return run([*words, self._suite, target, self._upstream]).stdout.split()

    def _place(self, root: Path, stanza: str) -> None:
        name, version = field(stanza, "Package"), field(stanza, "Version").replace(":", "%3a")
        file = self._state / "archives" / f"{name}_{version}_{field(stanza, 'Architecture')}.deb"
        target = root / field(stanza, "Filename")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, target)


def field(stanza: str, name: str) -> str:
    """Return a field of an entry of an index, or nothing."""
    found = re.search(rf"^{name}: (.*)$", stanza, re.MULTILINE)
    return found[1] if found else ""


def udeb_stanza(root: Path, path: str) -> str:
    """Return the entry of a file in an index: what the package says of itself, where it lies, and its digest."""
    content = (root / path).read_bytes()
    control = run([find("dpkg-deb", "dpkg"), "--field", root / path]).stdout.strip()
    return f"{control}\nFilename: {path}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}"


def write_indices(root: Path, suite: str, stanzas: dict[str, list[str]]) -> None:
    """Write the indices of a release, plain and compressed, and the Release that has their digests."""
    release = root / "dists" / suite
    for folder, ending in COMPONENTS.items():
        (release / folder).mkdir(parents=True)
        text = "".join(f"{stanza}\n\n" for stanza in stanzas[ending]).encode()
        (release / folder / "Packages").write_bytes(text)
        (release / folder / "Packages.xz").write_bytes(lzma.compress(text))
        # The installer takes a mirror for one of its architecture where this file is.
        component = folder.rpartition("/")[0]
        told = f"Archive: {suite}\nComponent: {component}\nArchitecture: {ARCHITECTURE}\n"
        (release / folder / "Release").write_text(told)
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S UTC")
    head = [f"Origin: coldaisle\nLabel: coldaisle\nSuite: {suite}\nCodename: {suite}\nDate: {date}"]
    head += [f"Architectures: {ARCHITECTURE}\nComponents: main\nDescription: what an installation takes\nSHA256:"]
    (release / "Release").write_text("\n".join([*head, *_digests(release)]) + "\n")


def _digests(release: Path) -> Iterator[str]:
    for file in sorted(path for path in release.glob("*/**/*") if path.is_file()):
        content = file.read_bytes()
        yield f" {hashlib.sha256(content).hexdigest()} {len(content):>10} {file.relative_to(release)}"


def sign(root: Path, suite: str) -> None:
    """Sign a release with a key that is made here; its secret half is gone afterwards, so nothing else is signed."""
    release = root / "dists" / suite
    with tempfile.TemporaryDirectory() as home:
        gpg = [find("gpg", "gpg"), "--homedir", home, "--batch", "--quiet", "--pinentry-mode", "loopback"]
        gpg += ["--passphrase", ""]
        run([*gpg, "--quick-generate-key", KEY_OWNER, "ed25519", "sign", "never"])
        run([*gpg, "--output", root / KEY, "--export"])
        run([*gpg, "--output", release / "Release.gpg", "--armor", "--detach-sign", release / "Release"])
        run([*gpg, "--output", release / "InRelease", "--clearsign", release / "Release"])
        run([find("gpgconf", "gpgconf"), "--homedir", home, "--kill", "all"])
