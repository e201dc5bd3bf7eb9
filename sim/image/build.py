"""
Building the image: Debian's own packages, made into kernel, initramfs and root file system once, and cached.

The result is kept under the digest of its recipe; a link with the image's name points at it. All work happens in a
folder of its own that is renamed when it is whole, so that a full disk or a kill leaves nothing half-written in use.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sim.errors import SimError
from sim.image import kubelet, recipe
from sim.image.initramfs import write_initramfs
from sim.image.modules import copy_chosen, index_modules
from sim.mounts import mounts_below
from sim.shell import failed, find, run

Progress = Callable[[str], None]
"""Called with a line that says what happens now."""

FindTool = Callable[[str], str]
"""Returns the path of a program of the toolchain."""

NEEDED_BYTES = 1_500_000_000
"""Disk space that a first build takes, with its temporary files."""

KEPT_BUILDS = 1
"""How many builds of other recipes stay in the cache, so that going back to one costs nothing."""

KERNEL = "linux-image-amd64"
"""Debian's generic kernel: it has bonding, VLAN and the RDMA stack."""


@dataclass(frozen=True, slots=True)
class Image:
    """A built image: the three files of a network boot, and the two layers of a root that light hosts use."""

    folder: Path
    base: Path

    @property
    def layers(self) -> tuple[Path, Path]:
        """Folders for overlayfs, the upper one first."""
        return self.folder / "layer", self.base / "root"


def ensure_image(cache: Path, name: str, progress: Progress, find_tool: FindTool | None = None) -> Image:
    """
    Return the image `name`, built if the cache does not hold it, with `cache/name` pointing at it.

    Args:
        cache: The folder of all images (`~/.cache/coldaisle/images`).
        name: The image's name in the plan; `kubelet.IMAGE` is one of its own, every other name the plain one.
        progress: Called with each step.
        find_tool: Gives the path of a built program by its name; `kubelet.IMAGE` needs it.

    Raises:
        SimError: No space, a missing program, or packages that cannot be had.
    """
    cache.mkdir(parents=True, exist_ok=True)
    base = cache / f"base-{recipe.base_digest()}"
    is_kubelets = name == kubelet.IMAGE
    if is_kubelets and find_tool is None:
        raise ValueError(f"{name} holds programs of the toolchain, and nobody finds them")
    digest = kubelet.digest() if is_kubelets else recipe.image_digest()
    folder = cache / f"image-{digest}"
    with locked(cache, progress):
        _sweep(cache)
        if not base.exists():
            _check_space(cache)
            make_whole(base, _build_base, progress)
        if not folder.exists():
            programs = {tool: Path(find_tool(tool)) for tool in kubelet.TOOLS} if is_kubelets and find_tool else None
            make_whole(folder, lambda work, say: _build_image(base, work, say, programs), progress)
        point(cache / name, folder)
        _prune(cache, keep=(base.name, folder.name))
    return Image(folder=folder, base=base)


@contextmanager
def locked(cache: Path, progress: Progress) -> Iterator[None]:
    """Hold the cache's lock, so that two sites never build the same image at once."""
    with (cache / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waits for another build of the image")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sweep(cache: Path) -> None:
    """Remove what a killed build left: the lock is ours, so nobody works in these folders."""
    for left in (path for kind in ("base", "image", "extended") for path in cache.glob(f".{kind}-*")):
        for mount in mounts_below(left):
            run(["umount", "--lazy", mount])
        shutil.rmtree(left)


def _prune(cache: Path, keep: tuple[str, ...]) -> None:
    """Remove builds of other recipes, but the latest one, what has a name, and what a running host has mounted."""
    mounted = Path("/proc/self/mountinfo").read_text()
    named = {link.readlink().name for link in cache.iterdir() if link.is_symlink()}
    for kind in ("base-*", "image-*"):
        others = sorted(
            (path for path in cache.glob(kind) if path.name not in named.union(keep)),
            key=lambda path: path.stat().st_mtime,
        )
        for path in others[:-KEPT_BUILDS]:
            if path.name not in mounted:
                shutil.rmtree(path)


def _check_space(cache: Path) -> None:
    """Raise SimError when the disk of the cache cannot hold a build."""
    free = shutil.disk_usage(cache).free
    if free < NEEDED_BYTES:
        raise SimError(
            str(cache),
            f"an image needs {NEEDED_BYTES // 1_000_000} MB of disk",
            f"{free // 1_000_000} MB are free",
            "free some space, or set XDG_CACHE_HOME to another disk",
        )


def make_whole(target: Path, step: Callable[[Path, Progress], None], progress: Progress) -> None:
    """Run `step` in a temporary folder beside `target`, and rename it when it is whole."""
    work = target.with_name(f".{target.name}.{os.getpid()}")
    started = time.monotonic()
    try:
        work.mkdir()
        step(work, progress)
        work.rename(target)
    except OSError as error:
        raise SimError(
            str(target), "the image cannot be written", str(error), "free some space and run again"
        ) from error
    finally:
        if work.exists():
            shutil.rmtree(work)
    progress(f"{target.name} is built in {time.monotonic() - started:.0f} s")


def _build_base(work: Path, progress: Progress) -> None:
    """Make the Debian root and unpack the kernel; `work` gets `root` and `kernel`."""
    _debootstrap(work / "root", progress)
    progress("fetches the kernel")
    root = work / "root"
    script = (
        f"cd /tmp && apt-get download -qq $(apt-cache depends {KERNEL} | sed -n 's/.*Depends: \\(linux-image\\)/\\1/p')"
    )
    run(["chroot", root, "sh", "-c", script])
    (package,) = (root / "tmp").glob("linux-image-*.deb")
    run([find("dpkg-deb", "dpkg"), "-x", package, work / "kernel"])
    package.unlink()
    index_modules(root, kernel_modules(work))
    for path in [*(root / "etc/ssh").glob("ssh_host_*"), root / "etc/hostname", root / "etc/resolv.conf"]:
        path.unlink(missing_ok=True)
    shutil.rmtree(root / "var/cache/apt", ignore_errors=True)


def _debootstrap(root: Path, progress: Progress) -> None:
    """Run debootstrap, and show its packages as they come."""
    mirror = os.environ.get("COLDAISLE_DEBIAN_MIRROR")
    command = [find("debootstrap", "debootstrap"), "--variant=minbase", f"--include={','.join(recipe.PACKAGES)}"]
    command += [recipe.SUITE, str(root), *([mirror] if mirror else [])]
    progress(f"debootstrap of {recipe.SUITE} with {len(recipe.PACKAGES)} packages (about 2 minutes)")
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            lines = [*lines[-20:], line]
            if line.startswith(("I: Retrieving", "I: Unpacking", "I: Configuring")) and len(line) % 7 == 0:
                progress(f"debootstrap: {line[3:].strip()}")
    if process.returncode != 0:
        raise failed(command, process.returncode, "".join(lines))


def kernel_modules(base: Path) -> Path:
    """Return the module folder (`lib/modules/VERSION`) of the kernel that was unpacked in `base`."""
    (folder,) = (base / "kernel/lib/modules").iterdir()
    return folder


def _build_image(base: Path, work: Path, progress: Progress, programs: Mapping[str, Path] | None) -> None:
    """Make layer, kernel, initramfs, root file system and manifest in `work`; `programs` are of the real kubelet."""
    progress("lays our files over the root")
    _write_layer(base, work / "layer")
    _compile(base, work)
    if programs is not None:
        kubelet.add_to_layer(work / "layer", base / "root", programs)
    progress("packs the initramfs")
    scratch = work / "initramfs"
    scratch.mkdir()
    write_initramfs(base / "root", kernel_modules(base), work / "initrd.img", scratch)
    shutil.rmtree(scratch)
    (kernel,) = (base / "kernel/boot").glob("vmlinuz-*")
    shutil.copyfile(kernel, work / "vmlinuz")
    progress("packs the root file system")
    left_out = recipe.LEFT_OUT if programs is None else kubelet.LEFT_OUT
    write_squashfs((work / "layer", base / "root"), work / "rootfs.squashfs", work / "merged", left_out)
    write_manifest(work, recipe.image_digest() if programs is None else kubelet.digest())


def _write_layer(base: Path, layer: Path) -> None:
    """Write what lies over the Debian root: our files, chosen kernel modules, and which units start."""
    shutil.copytree(recipe.HERE / "files", layer, symlinks=True)
    modules = kernel_modules(base)
    chosen = (*recipe.BOOT_MODULES, *recipe.HOST_MODULES)
    copy_chosen(base / "root", modules, layer / "lib/modules" / modules.name, chosen)
    # Debian's /lib is a link to usr/lib: the layer must not put a folder over it.
    (layer / "usr/lib").mkdir(parents=True, exist_ok=True)
    (layer / "lib/modules").rename(layer / "usr/lib/modules")
    (layer / "lib").rmdir()
    units = layer / "etc/systemd/system"
    for unit in recipe.MASKED_UNITS:
        (units / unit).symlink_to("/dev/null")
    for place in recipe.DISABLED_UNITS:
        _whiteout(units / place)
    for place, target in recipe.ENABLED_UNITS.items():
        (units / place).parent.mkdir(exist_ok=True)
        (units / place).symlink_to(target)
    for unit in recipe.LATE_UNITS:
        (units / f"{unit}.d").mkdir()
        (units / f"{unit}.d/late.conf").write_text("[Unit]\nAfter=ssh.service\n")
    for rules in (base / "root/usr/lib/udev/rules.d").iterdir():
        if rules.name not in recipe.UDEV_RULES:
            _whiteout(layer / "usr/lib/udev/rules.d" / rules.name)
    for generator in (base / "root" / recipe.GENERATORS).iterdir():
        _whiteout(layer / recipe.GENERATORS / generator.name)
    (layer / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost ip6-localhost\n")
    (layer / "etc/machine-id").write_text("")
    _whiteout(layer / "var/lib/dbus/machine-id")  # systemd would take it for every host's own
    (layer / "etc/resolv.conf").write_text("")


def _compile(base: Path, work: Path) -> None:
    """Compile our Python by the image's own: a guest that boots over the network forgets what it has compiled."""
    (work / "overlay").mkdir()
    with merged([base / "root"], work / "merged", written=(work / "layer", work / "overlay")) as root:
        how = ("python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash")
        run(["chroot", root, *how, f"/{recipe.OUR_PYTHON}"])
    shutil.rmtree(work / "overlay")


def _whiteout(path: Path) -> None:
    """Hide the file of this name in the layers below, as overlayfs marks it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))


@contextmanager
def merged(layers: Sequence[Path], mountpoint: Path, *, written: Sequence[Path] = ()) -> Iterator[Path]:
    """Mount layers as one tree while the caller works: read-only, or with changes in `written` (upper, work)."""
    mountpoint.mkdir()
    options = f"lowerdir={':'.join(map(str, layers))}"
    options += ",upperdir={},workdir={}".format(*written) if written else ",ro"
    run(["mount", "-t", "overlay", "-o", options, "none", mountpoint])
    try:
        yield mountpoint
    finally:
        run(["umount", mountpoint])
        mountpoint.rmdir()


def write_squashfs(
    layers: Sequence[Path], target: Path, mountpoint: Path, left_out: Sequence[str] = recipe.LEFT_OUT
) -> None:
    """
    Write the merged layers as a squashfs, without what a guest does not need.

    lz4 gives a file half as large again as zstd does, and an emulated CPU unpacks it several times faster.
    """
    command = [find("mksquashfs", "squashfs-tools")]
    options = ["-comp", "lz4", "-b", "128K", "-noappend", "-no-progress", "-quiet", "-e"]
    with merged(layers, mountpoint) as tree:
        run([*command, tree, target, *options, *left_out])


def write_manifest(work: Path, digest: str) -> None:
    """Write manifest.json: the recipe's digest, and size in bytes and SHA-256 of each file that a host fetches."""
    files = {name: work / name for name in ("vmlinuz", "initrd.img", "rootfs.squashfs")}
    manifest = {
        name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for name, path in files.items()
    }
    (work / "manifest.json").write_text(json.dumps({"recipe": digest, "files": manifest}, indent=2) + "\n")


def point(link: Path, target: Path) -> None:
    """Point `link` at `target` in one step."""
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.symlink_to(target.name)
    fresh.rename(link)
