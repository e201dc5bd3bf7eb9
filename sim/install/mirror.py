"""
The mirror of a rehearsal, and the installer's kernel and initrd.

A namespace reaches nothing. So an nginx inside has the address that the image's mirror names, and hands requests
through a socket to one outside, which passes them on to where apt of this machine gets its packages, and keeps what
comes: the second rehearsal takes it from disk. This machine gets no address of the site: its own networks may have it.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from coldaisle.paths import cache_dir
from coldaisle.plan.model import ImagePlan
from sim.errors import SimError
from sim.install.place import Lab
from sim.shell import find, run

INSTALLERS = {"trixie": "debian-installer-13-netboot-amd64_20250803+deb13u7_all.deb"}
"""
Debian's package with the installer of a release, for x86_64. Its kernel (6.12.107) is one that the release has modules
for as udebs; a newer package may come before its modules do.
"""

PACKAGES_AT = "pool/main/d/debian-installer-netboot-images"

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
UDEBS = "main/debian-installer/binary-amd64/Packages.xz"
"""The index of the installer's own packages, below a release's folder."""


@dataclass(frozen=True, slots=True)
class Index:
    """What a mirror has of a release: its Release, whether Release.gpg signs that, and the index of udebs."""

    release: str
    signed: bool
    udebs: bytes


INSIDE = """\
    server {{
        listen {address}:{port};
        location / {{ proxy_pass http://unix:{folder}/mirror.sock:; }}
    }}
"""

OUTSIDE = """\
    proxy_cache_path {cache} levels=1:2 keys_zone=mirror:10m max_size=2g inactive=30d;
    server {{
        listen unix:{folder}/mirror.sock;
        location {folder_there}/ {{
            proxy_pass {upstream}/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host {upstream_host};
            proxy_ssl_server_name on;
            proxy_cache mirror;
            # What was fetched a while ago is asked for again with its date, and comes anew only where it changed.
            proxy_cache_valid 200 10m;
            proxy_cache_revalidate on;
            proxy_cache_use_stale error timeout;
        }}
    }}
"""

WHOLE = """\
user root;
worker_processes 1;
daemon off;
pid {folder}/{name}.pid;
error_log {folder}/logs/{name}-error.log;
events {{}}
http {{
    access_log {folder}/logs/{name}-access.log;
{server}}}
"""


def address_of(image: ImagePlan) -> str:
    """Return the address that an image's mirror has in its site."""
    return urlsplit(image.mirror or "").hostname or ""


def upstream() -> str:
    """Return where this machine's apt gets its packages, or what COLDAISLE_DEBIAN_MIRROR says."""
    told = os.environ.get("COLDAISLE_DEBIAN_MIRROR")
    if told:
        return told.rstrip("/")
    done = run([find("apt-get", "apt"), "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"], check=False)
    found = [line.rstrip("/") for line in done.stdout.splitlines() if re.search(r"/debian/?$", line)]
    return found[0] if found else "http://deb.debian.org/debian"


def start(lab: Lab, image: ImagePlan) -> None:
    """Start both relays, the one inside at the address that the image's mirror names."""
    there, source = urlsplit(image.mirror or ""), urlsplit(upstream())
    cache = cache_dir() / "mirror"
    cache.mkdir(parents=True, exist_ok=True)
    values = {
        "folder": lab.folder,
        "cache": cache,
        "address": there.hostname,
        "port": there.port or 80,
        "folder_there": there.path.rstrip("/"),
        "upstream": source.geturl(),
        "upstream_host": source.netloc,
    }
    for name, server, namespace in (("mirror", OUTSIDE, None), ("mirror-inside", INSIDE, lab.inside)):
        config = lab.folder / f"{name}.conf"
        config.write_text(WHOLE.format(**values, name=name, server=server.format(**values)))
        command = [find("nginx", "nginx-light"), "-c", str(config)]
        lab.groups.start(name, command, lab.logs / f"{name}.log", namespace=namespace)


def require_whole(image: ImagePlan, found: Index) -> None:
    """
    Hold a mirror against itself and the installer, before minutes go into one that then stops at a question.

    Args:
        image: The image, whose kernel lies below its source.
        found: What the mirror has of the release.

    Raises:
        SimError: its signature, its index of the installer's modules, or its modules are of another time than the rest.
    """
    where, fix = (
        f"{upstream()}/dists/{image.suite}",
        "wait until the mirror is whole, or set COLDAISLE_DEBIAN_MIRROR to another",
    )
    if not found.signed:
        raise SimError(where, "Release.gpg does not sign this Release: they are of two times", "a bad signature", fix)
    wanted = re.search(rf"^ ([0-9a-f]{{64}}) +\d+ {UDEBS}$", found.release, re.MULTILINE)
    seen = hashlib.sha256(found.udebs).hexdigest()
    if wanted is None or wanted[1] != seen:
        have = f"sha256 {seen}, and Release has {wanted[1] if wanted else 'none'}"
        raise SimError(where, f"{UDEBS} is not the one of Release", have, fix)
    version = kernel_version((Path(image.source).expanduser() / image.kernel).read_bytes())
    if f"Package: kernel-image-{version}-di\n" not in lzma.decompress(found.udebs).decode():
        fix = "take the installer of the release's state that the mirror has, and pin it"
        raise SimError(where, f"the release has no modules for the installer's kernel {version}", image.source, fix)


def kernel_version(kernel: bytes) -> str:
    """Return the version of an x86 kernel; its header has the place, less 0x200, at 0x20e (Linux's boot protocol)."""
    start = int.from_bytes(kernel[0x20E:0x210], "little") + 0x200
    return kernel[start : start + 128].split(b"\0")[0].split()[0].decode()


def index_of(image: ImagePlan) -> Index:
    """Fetch what a mirror has of a release, and verify its signature with the keys that this machine trusts."""
    texts = {}
    with httpx.Client(base_url=f"{upstream()}/dists/{image.suite}/", follow_redirects=True, timeout=60) as client:
        for name in ("Release", "Release.gpg", UDEBS):
            try:
                texts[name] = client.get(name).raise_for_status().content
            except httpx.HTTPError as error:
                fix = "set COLDAISLE_DEBIAN_MIRROR to a mirror that has it"
                raise SimError(f"{client.base_url}{name}", "the mirror does not give it", str(error), fix) from error
    with tempfile.TemporaryDirectory() as folder:
        for name in ("Release", "Release.gpg"):
            Path(folder, name).write_bytes(texts[name])
        words = [find("gpgv", "gpgv"), "--keyring", KEYRING, f"{folder}/Release.gpg", f"{folder}/Release"]
        signed = run(words, check=False).returncode == 0
    return Index(texts["Release"].decode(), signed=signed, udebs=texts[UDEBS])


def ensure_installer(image: ImagePlan, progress: Callable[[str], None]) -> None:
    """
    Fill the image's folder from Debian's package of the installer, where it is not there yet.

    What it holds is verified when it is published, against the digests that the plan pins.

    Raises:
        SimError: no package is known, or it cannot be had.
    """
    folder = Path(image.source).expanduser()
    if "://" in image.source or (folder / image.kernel).exists():
        return
    package = INSTALLERS.get(image.suite)
    if package is None:
        fix = f"put {image.kernel} and {image.initrd} there"
        raise SimError(str(folder), f"no package is known with the installer of {image.suite}", "an empty folder", fix)
    progress(f"fetches {package} (150 MB)")
    work = folder.with_name(f".{folder.name}.{os.getpid()}")
    work.mkdir(parents=True)
    try:
        _unpack(f"{upstream()}/{PACKAGES_AT}/{package}", work)
        (kernel,) = work.glob("usr/lib/debian-installer/images/*/amd64/text/debian-installer/amd64/linux")
        folder.mkdir(exist_ok=True)
        for name, target in (("initrd.gz", image.initrd), ("linux", image.kernel)):
            shutil.move(kernel.with_name(name), folder / target)
    finally:
        shutil.rmtree(work)


def _unpack(url: str, work: Path) -> None:
    """Fetch a package, and take kernel and initrd out of it."""
    try:
        with (
            httpx.stream("GET", url, follow_redirects=True, timeout=60) as answer,
            (work / "package").open("wb") as file,
        ):
            answer.raise_for_status()
            for chunk in answer.iter_bytes():
                file.write(chunk)
    except httpx.HTTPError as error:
        fix = "set COLDAISLE_DEBIAN_MIRROR to a mirror that has it"
        raise SimError(url, "the installer's package cannot be had", str(error), fix) from error
    names = " ".join(f"'*/text/debian-installer/amd64/{name}'" for name in ("linux", "initrd.gz"))
    run(["sh", "-c", f"dpkg-deb --fsys-tarfile {work}/package | tar -x -C {work} --wildcards {names}"])
