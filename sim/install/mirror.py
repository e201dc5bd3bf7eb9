"""
The installer's kernel and initrd, and the mirror that stands in for the site's.

A namespace reaches nothing. So an nginx inside has the address that the image's mirror names, and hands out a mirror
that was made for rehearsals. This machine gets no address of the site: its own networks may have it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from coldaisle.plan.model import ImagePlan, SitePlan
from sim.errors import SimError
from sim.image.build import Progress
from sim.install import archive
from sim.install.place import Lab
from sim.shell import find, run

INSTALLERS = {
    "trixie": (
        "debian-installer-13-netboot-amd64_20250803+deb13u6_all.deb",
        "b14500fba1c068c7d818de1376e46151628d96d8b2f322dfcbe7a16b7b8c2fa4",
    )
}
"""Debian's package with the installer of a release, for x86_64, and its SHA-256: the udebs are of the same time."""

PACKAGES_AT = "pool/main/d/debian-installer-netboot-images"

PROCESS = "mirror"
SERVER = """\
user root;
worker_processes 1;
daemon off;
pid {folder}/mirror.pid;
error_log {folder}/logs/mirror-error.log;
events {{}}
http {{
    access_log {folder}/logs/mirror-access.log;
    server {{
        listen {address}:{port};
        location {folder_there}/ {{ alias {root}/; }}
    }}
}}
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


def start(lab: Lab, image: ImagePlan, root: Path) -> None:
    """Serve the mirror below `root` at the address that the image names."""
    there = urlsplit(image.mirror or "")
    config = lab.folder / "mirror.conf"
    values = {"address": there.hostname, "port": there.port or 80, "folder_there": there.path.rstrip("/")}
    config.write_text(SERVER.format(folder=lab.folder, root=root, **values))
    command = [find("nginx", "nginx-light"), "-c", str(config)]
    lab.groups.start(PROCESS, command, lab.logs / "mirror.log", namespace=lab.inside)


def require_modules(image: ImagePlan) -> None:
    """
    Hold the installer's kernel against the modules that are pinned, before minutes go into one that then stops.

    Raises:
        SimError: the kernel is of another time.
    """
    version = kernel_version((Path(image.source).expanduser() / image.kernel).read_bytes())
    if not any(f"/kernel-image-{version}-di_" in path for path in archive.pinned(image.suite)):
        package = INSTALLERS[image.suite][0]
        fix = f"take the installer of {package}, and pin its digests in provisioning.images"
        raise SimError(image.source, f"no modules are pinned for the installer's kernel {version}", image.suite, fix)


def kernel_version(kernel: bytes) -> str:
    """Return the version of an x86 kernel; its header has the place, less 0x200, at 0x20e (Linux's boot protocol)."""
    start = int.from_bytes(kernel[0x20E:0x210], "little") + 0x200
    return kernel[start : start + 128].split(b"\0")[0].split()[0].decode()


def with_own_key(plan: SitePlan, image: ImagePlan, root: Path, folder: Path) -> SitePlan:
    """Return the plan with the key of the mirror below `root` for an image's; its files are shown in `folder`."""
    folder.mkdir()
    for name in (image.kernel, image.initrd):
        (folder / name).symlink_to((Path(image.source).expanduser() / name).resolve())
    (folder / archive.KEY).symlink_to(root / archive.KEY)
    own = replace(image, source=str(folder), keyring=archive.KEY)
    if plan.provisioning is None:
        return plan
    images = tuple(own if each.name == image.name else each for each in plan.provisioning.images)
    return replace(plan, provisioning=replace(plan.provisioning, images=images))


def ensure_installer(image: ImagePlan, progress: Progress) -> None:
    """
    Fill the image's folder from Debian's package of the installer, where it is not there yet.

    Raises:
        SimError: no package is known, it cannot be had, or it is not the pinned one.
    """
    folder = Path(image.source).expanduser()
    if "://" in image.source or (folder / image.kernel).exists():
        return
    if image.suite not in INSTALLERS:
        fix = f"put {image.kernel} and {image.initrd} there"
        raise SimError(str(folder), f"no package is known with the installer of {image.suite}", "an empty folder", fix)
    package, digest = INSTALLERS[image.suite]
    progress(f"fetches {package} (150 MB)")
    work = folder.with_name(f".{folder.name}.{os.getpid()}")
    work.mkdir(parents=True)
    try:
        _unpack(f"{upstream()}/{PACKAGES_AT}/{package}", digest, work)
        (kernel,) = work.glob("usr/lib/debian-installer/images/*/amd64/text/debian-installer/amd64/linux")
        folder.mkdir(exist_ok=True)
        for name, target in (("initrd.gz", image.initrd), ("linux", image.kernel)):
            shutil.move(kernel.with_name(name), folder / target)
    finally:
        shutil.rmtree(work)


def _unpack(url: str, digest: str, work: Path) -> None:
    """Fetch a package, and take kernel and initrd out of it."""
    seen = hashlib.sha256()
    try:
        with (
            httpx.stream("GET", url, follow_redirects=True, timeout=60) as answer,
            (work / "package").open("wb") as file,
        ):
            answer.raise_for_status()
            for chunk in answer.iter_bytes():
                file.write(chunk)
                seen.update(chunk)
    except httpx.HTTPError as error:
        fix = "set COLDAISLE_DEBIAN_MIRROR to a mirror that has it"
        raise SimError(url, "the installer's package cannot be had", str(error), fix) from error
    if seen.hexdigest() != digest:
        fix = "verify the file; where it is right, pin this digest"
        raise SimError(url, "the installer's package is not the pinned one", f"sha256 {seen.hexdigest()}", fix)
    names = " ".join(f"'*/text/debian-installer/amd64/{name}'" for name in ("linux", "initrd.gz"))
    run(["sh", "-c", f"dpkg-deb --fsys-tarfile {work}/package | tar -x -C {work} --wildcards {names}"])
