"""What the machine must offer before a site starts: all that is missing is said at once, and nothing is changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from coldaisle.toolchain.kernel import FEATURES
from sim.errors import SimError
from sim.processes import hierarchies
from sim.shell import environment

PROGRAMS = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "mkfs.ext4": "e2fsprogs",
    "ssh-keygen": "openssh-client",
    "qemu-system-x86_64": "qemu-system-x86",
    "systemd-nspawn": "systemd-container",
    "debootstrap": "debootstrap",
    "mksquashfs": "squashfs-tools",
    "cpio": "cpio",
    "zstd": "zstd",
    "vtysh": "frr",
}
"""Programs that the simulation starts, and the Debian packages that have them."""


def require_root() -> None:
    """Raise SimError unless this process may make network namespaces and mounts."""
    if os.geteuid() != 0:
        raise SimError(
            "permissions",
            "a simulated site is made of network namespaces, mounts and cgroups, which only root may make",
            f"user id {os.geteuid()}",
            "run the command again with sudo",
        )


def require_machine() -> None:
    """Raise SimError with everything that this machine lacks."""
    path = environment()["PATH"]
    packages = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program, path=path)})
    missing = [
        f"{feature.name} (for {feature.needed_for}): {feature.fix}" for feature in FEATURES if not feature.present()
    ]
    if not hierarchies():
        missing.append("cgroups (each process is kept in one): mount a cgroup2 file system at /sys/fs/cgroup")
    fixes = ([f"apt-get install {' '.join(packages)}"] if packages else []) + missing
    if fixes:
        have = [
            *(f"no package {package}" for package in packages),
            *(line.split(" (")[0] + ": absent" for line in missing),
        ]
        raise SimError("this machine", "it lacks what the simulation needs", "; ".join(have), "; ".join(fixes))


def require_programs(programs: Mapping[str, str]) -> None:
    """Raise SimError naming the packages of all programs (program: Debian package) that are missing."""
    path = environment()["PATH"]
    missing = {program: package for program, package in programs.items() if not shutil.which(program, path=path)}
    if missing:
        have = f"not on PATH: {', '.join(missing)}"
        fix = f"apt-get install {' '.join(dict.fromkeys(missing.values()))}"
        raise SimError("this machine", "it lacks what is needed to run this", have, fix)


def require_memory(needed_mib: int, what: str) -> None:
    """Raise SimError when `what` would need more memory than is free."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable"))
    if needed_mib > free:
        have = f"{free:.0f} MiB are free, and {what} take {needed_mib}"
        raise SimError("this machine", "its memory is too small", have, "run it on a larger machine")
