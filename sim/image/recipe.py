"""What goes into the image: packages, kernel modules, units. A change here gives the image a new digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

SUITE = "bookworm"
"""Debian 12."""

PACKAGES = (
    "busybox-static",  # the initramfs
    "ca-certificates",
    "containerd",  # the container runtime that the kubernetes role configures
    "curl",
    "dbus",  # hostnamectl, timedatectl
    "dnsmasq-base",  # DHCP and TFTP, on the provisioner
    "ethtool",
    "ibverbs-utils",
    "ipmitool",
    "iproute2",
    "ipxe",  # what the provisioner hands to firmware that is not iPXE
    "iputils-ping",
    "kmod",
    "less",
    "nftables",
    "nginx-light",  # HTTP, on the provisioner
    "openssh-server",
    "openssl",
    "pciutils",
    "procps",
    "python3",  # Ansible's modules, and the stand-ins
    "rdma-core",
    "sudo",
    "systemd",
    "systemd-sysv",
    "systemd-timesyncd",
    "udev",
)

BOOT_MODULES = ("virtio_pci", "virtio_net", "virtio_blk", "loop", "squashfs", "overlay", "ext4")
"""What the initramfs needs to reach its root."""

HOST_MODULES = (
    "8021q",
    "bonding",
    "br_netfilter",
    "bridge",
    "configfs",
    "dummy",
    "ib_umad",
    "ib_uverbs",
    "ip_tables",
    "macvlan",
    "nf_conntrack",
    "nf_tables",
    "nft_chain_nat",
    "nft_ct",
    "nft_masq",
    "qemu_fw_cfg",
    "rdma_rxe",
    "rdma_ucm",
    "tun",
    "veth",
    "virtio-rng",
    "vxlan",
    "xt_conntrack",
)
"""What the roles load on a host that runs this kernel."""

MASKED_UNITS = (
    "apt-daily-upgrade.timer",
    "apt-daily.timer",
    "console-getty.service",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "fstrim.timer",
    "getty@tty1.service",
    "ldconfig.service",
    "nftables.service",
    "serial-getty@ttyS0.service",
    "systemd-binfmt.service",
    "systemd-firstboot.service",
    "systemd-hwdb-update.service",
    "systemd-journal-catalog-update.service",
    "systemd-networkd-wait-online.service",
    "systemd-pstore.service",
    "systemd-random-seed.service",
    "systemd-sysusers.service",
    "systemd-update-utmp.service",
    "systemd-update-utmp-runlevel.service",
)
"""Units that cost seconds of a boot, and whose work is of no use on a root that is thrown away."""

DISABLED_UNITS = ("multi-user.target.wants/containerd.service", "multi-user.target.wants/nginx.service")
"""Links that packages made, by their place below /etc/systemd/system: a role turns these services on."""

ENABLED_UNITS = {
    "multi-user.target.wants/systemd-networkd.service": "/lib/systemd/system/systemd-networkd.service",
    "multi-user.target.wants/coldaisle-rdma.service": "/etc/systemd/system/coldaisle-rdma.service",
    "multi-user.target.wants/coldaisle-sriov.service": "/etc/systemd/system/coldaisle-sriov.service",
}
"""Units that start at boot, by their place below /etc/systemd/system."""

LEFT_OUT = (
    "boot",
    "usr/lib/ipxe",
    "usr/share/bash-completion",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
    "usr/share/misc",
    "usr/share/perl",
    "var/cache",
    "var/lib/apt",
    "var/lib/dpkg/info",
)
"""Folders of the root that a net-booted guest does without: they would cost its memory."""

HERE = Path(__file__).parent


def base_digest() -> str:
    """Return the digest of what debootstrap makes: it changes with the suite and the packages only."""
    return hashlib.sha256("\n".join((SUITE, *PACKAGES)).encode()).hexdigest()[:16]


def image_digest() -> str:
    """Return the digest of the whole image: the base, this recipe and every file of the image."""
    digest = hashlib.sha256(base_digest().encode())
    for path in sorted(HERE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(HERE)} {path.stat().st_mode & 0o777:o}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
