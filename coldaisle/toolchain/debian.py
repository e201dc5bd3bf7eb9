"""
Debian packages that the simulated site is made of, and those that only tests need, each with its reason.

Packages bring services that would start at once, on addresses of this machine. They are kept from starting while
they are installed, and those that this run installed are switched off for the next boot as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGES: dict[str, tuple[str, str]] = {
    "python3-venv": ("", "makes the virtual environment"),
    "iproute2": ("ip", "network namespaces, links and addresses of the simulated networks"),
    "iputils-ping": ("ping", "reachability, as an operator would try it"),
    "nftables": ("nft", "faults that drop packets"),
    "openssh-client": ("ssh", "how Ansible reaches hosts"),
    "openssh-server": ("/usr/sbin/sshd", "what it reaches on a simulated host"),
    "sshpass": ("sshpass", "first login of hosts that have a password only"),
    "openssl": ("openssl", "requests of certificates inside hosts"),
    "ipmitool": ("ipmitool", "the IPMI client of the bring-up"),
    "openipmi": ("ipmi_sim", "an independent IPMI peer to test against"),
    "qemu-system-x86": ("qemu-system-x86_64", "guests that boot over the network"),
    "qemu-utils": ("qemu-img", "their disks"),
    "ipxe-qemu": ("/usr/lib/ipxe/qemu/efi-virtio.rom", "the boot ROM of their network cards"),
    "ipxe": ("/usr/lib/ipxe/undionly.kpxe", "the boot program that TFTP serves"),
    "ovmf": ("/usr/share/OVMF/OVMF_CODE_4M.fd", "UEFI firmware of a guest"),
    "dnsmasq-base": ("dnsmasq", "DHCP, TFTP and DNS of the bring-up"),
    "nginx-light": ("/usr/sbin/nginx", "HTTP of the bring-up"),
    "debootstrap": ("debootstrap", "makes the root file system of simulated hosts"),
    "squashfs-tools": ("mksquashfs", "packs it for the network boot"),
    "busybox-static": ("busybox", "the first program in a guest's initrd"),
    "cpio": ("cpio", "packs that initrd"),
    "zstd": ("zstd", "compresses images"),
    "gpg": ("gpg", "signs the mirror of a rehearsed installation"),
    "gpg-agent": ("gpg-agent", "makes the key for that"),
    "systemd-container": ("systemd-nspawn", "light hosts with an init of their own"),
    "frr": ("/usr/lib/frr/bgpd", "the routing of simulated switches"),
    "frr-pythontools": ("/usr/lib/frr/frr-reload.py", "changes their configuration without a restart"),
    "lldpd": ("lldpd", "neighbours on the simulated cables"),
    "ibsim-utils": ("ibsim", "a simulated InfiniBand fabric"),
    "infiniband-diags": ("ibnetdiscover", "looks at it"),
    "opensm": ("opensm", "its subnet manager"),
    "prometheus": ("prometheus", "scrapes the stand-in engines"),
    "socat": ("socat", "serial consoles and monitor sockets of guests"),
}
"""Package: (what shows that it is there, why it is needed). An empty first part: only dpkg can tell."""

OF_TESTS: dict[str, tuple[str, str]] = {
    "chromium-headless-shell": ("chromium-headless-shell", "the browser in which reports are tested"),
}
"""Packages that `make test` installs and `make up` does not: no site needs a browser, and not every system has it."""

_POLICY = Path("/usr/sbin/policy-rc.d")
_POLICY_TEXT = (
    "#!/bin/sh\n# Written by Coldaisle while it installs packages: their services must not start.\nexit 101\n"
)


def missing(packages: Mapping[str, tuple[str, str]] = PACKAGES) -> list[str]:
    """Return the packages that are not installed, by dpkg where it is there, else by what they bring."""
    if shutil.which("dpkg-query") is None:
        return [name for name, (sign, _reason) in packages.items() if sign and not _has(sign)]
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    installed = {line.split()[0] for line in answer.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in packages if name not in installed]


def install(packages: list[str]) -> None:
    """Install packages with no service of theirs left running; SetupError says what to install where we may not."""
    if not packages:
        return
    command = f"apt-get install --no-install-recommends {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        fix = f"install what these Debian packages hold: {' '.join(packages)}"
        raise SetupError("programs are missing, and apt is not here to install them", have="no apt-get", fix=fix)
    if os.geteuid() != 0:
        raise SetupError("Debian packages are missing", have=f"uid {os.geteuid()}", fix=f"as root: {command}")
    with _no_services_started():
        _apt("update", "-q")
        _apt("install", "-q", "-y", "--no-install-recommends", *packages)
    _switch_off(packages)


def _has(sign: str) -> bool:
    return Path(sign).exists() if sign.startswith("/") else shutil.which(sign) is not None


def _apt(*arguments: str) -> None:
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=600", *arguments]
    done = subprocess.run(
        command, env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False
    )
    if done.returncode != 0 and arguments[0] == "install":
        raise SetupError(
            "apt-get could not install the Debian packages",
            have=f"exit {done.returncode}, its message is above",
            fix=f"run it by hand: {' '.join(command)}",
        )


@contextmanager
def _no_services_started() -> Iterator[None]:
    """Tell Debian's scripts not to start services; a policy that the owner has stays as it is."""
    ours = not _POLICY.exists()
    if ours:
        _POLICY.write_text(_POLICY_TEXT)
        _POLICY.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            _POLICY.unlink(missing_ok=True)


def _switch_off(packages: list[str]) -> None:
    """Keep the services of newly installed packages from starting at the next boot."""
    listed = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True, check=False)
    paths = {Path(line) for line in listed.stdout.splitlines() if line.endswith((".service", ".socket"))}
    units = sorted(path.name for path in paths if path.parent.name == "system" and "@" not in path.name)
    if units and shutil.which("systemctl"):
        subprocess.run(["systemctl", "disable", "-q", *units], capture_output=True, check=False)
