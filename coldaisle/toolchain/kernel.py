"""Which features of the kernel the simulated site needs, and whether this machine has them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PROBE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature: how to see it, and what fails without it."""

    name: str
    present: Callable[[], bool]
    needed_for: str
    fix: str


def _in_namespace(*command: str) -> bool:
    """Run a command in a network namespace of its own, which goes away with it; no trace is left."""
    try:
        done = subprocess.run(
            ["unshare", "-n", *command],
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _link(kind: str, *more: str) -> Callable[[], bool]:
    return lambda: _in_namespace("ip", "link", "add", "ca-probe", "type", kind, *more)


def _filesystem(name: str) -> Callable[[], bool]:
    def present() -> bool:
        lines = Path("/proc/filesystems").read_text().split()
        return name in lines or any(Path("/lib/modules", os.uname().release).rglob(f"{name}.ko*"))

    return present


_MODULE = "use a kernel that has it (Debian's and Ubuntu's stock kernels do)"

FEATURES: tuple[Feature, ...] = (
    Feature("network namespaces", lambda: _in_namespace("true"), "every simulated network", f"run as root; {_MODULE}"),
    Feature("veth", _link("veth", "peer", "name", "ca-peer"), "every simulated cable", _MODULE),
    Feature("bridge", _link("bridge"), "the out-of-band switch", _MODULE),
    Feature("tun", lambda: Path("/dev/net/tun").exists(), "network cards of guests", f"modprobe tun; or {_MODULE}"),
    Feature("overlayfs", _filesystem("overlay"), "root file systems of light hosts", _MODULE),
    Feature("squashfs", _filesystem("squashfs"), "looking into guest images", _MODULE),
    Feature(
        "cgroup v2",
        lambda: Path("/sys/fs/cgroup/cgroup.controllers").exists() or Path("/sys/fs/cgroup/unified").exists(),
        "light hosts with an init of their own",
        "boot with systemd.unified_cgroup_hierarchy=1",
    ),
    Feature("nftables", lambda: _in_namespace("nft", "add", "table", "inet", "t"), "faults that drop packets", _MODULE),
)
