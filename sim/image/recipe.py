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
    "containernetworking-plugins",  # the network of pods, where a kubelet runs them
    "curl",
    "dbus",  # hostnamectl, timedatectl
    "dnsmasq",  # DHCP and TFTP, on the provisioner
    "ethtool",
    "ibverbs-providers",
    "ibverbs-utils",
    "ipmitool",
    "iproute2",
    "ipxe",  # what the provisioner hands to firmware that is not iPXE
    "iputils-ping",
    "kmod",
    "less",
    "lldpd",  # neighbours, for the comparison of cables with the plan
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

BOOT_MODULES = ("virtio_pci", "virtio_net", "virtio_blk", "loop", "squashfs", "overlay", "crc32c_generic", "ext4")
"""What the initramfs needs to reach its root; ext4 asks for crc32c by name when it mounts."""

HOST_MODULES = (
    "8021q",
    "bonding",
    "br_netfilter",
    "bridge",
    "button",  # the power button, so that a BMC can ask for a shutdown
    "configfs",
    "crc32_generic",  # soft RoCE asks for it by name when it loads
    "dummy",
    "evdev",
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
    "dev-mqueue.mount",
    "getty@tty1.service",
    "kmod-static-nodes.service",
    "ldconfig.service",
    "modprobe@configfs.service",
    "modprobe@dm_mod.service",
    "modprobe@drm.service",
    "modprobe@efi_pstore.service",
    "modprobe@fuse.service",
    "modprobe@loop.service",
    "nftables.service",
    "serial-getty@ttyS0.service",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "systemd-binfmt.service",
    "systemd-firstboot.service",
    "systemd-journal-flush.service",
    "systemd-remount-fs.service",
    "systemd-repart.service",
    "systemd-hwdb-update.service",
    "systemd-journal-catalog-update.service",
    "systemd-networkd-wait-online.service",
    "systemd-pstore.service",
    "systemd-random-seed.service",
    "systemd-sysusers.service",
    "systemd-tmpfiles-setup-dev.service",
    "systemd-update-utmp.service",
    "systemd-update-utmp-runlevel.service",
)
"""Units that cost seconds of a boot, and whose work is of no use on a root that is thrown away."""

DISABLED_UNITS = (
    "multi-user.target.wants/containerd.service",
    "multi-user.target.wants/dnsmasq.service",
    "multi-user.target.wants/nginx.service",
    "multi-user.target.wants/ssh.service",  # ours is wanted by an earlier target
    "sysinit.target.wants/systemd-timesyncd.service",
    "sysinit.target.wants/systemd-pstore.service",
)
"""Links that packages made, by their place below /etc/systemd/system: a role turns these services on."""

ENABLED_UNITS = {
    "basic.target.wants/coldaisle-hostkeys.service": "/etc/systemd/system/coldaisle-hostkeys.service",
    "basic.target.wants/ssh.service": "/etc/systemd/system/ssh.service",
    "default.target": "/lib/systemd/system/multi-user.target",
    "multi-user.target.wants/lldpd.service": "/lib/systemd/system/lldpd.service",
    "multi-user.target.wants/systemd-networkd.service": "/lib/systemd/system/systemd-networkd.service",
    "multi-user.target.wants/coldaisle-rdma.service": "/etc/systemd/system/coldaisle-rdma.service",
    "multi-user.target.wants/coldaisle-sriov.service": "/etc/systemd/system/coldaisle-sriov.service",
}
"""Units that start at boot, by their place below /etc/systemd/system."""

GENERATORS = "usr/lib/systemd/system-generators"
"""Programs that look for disks, consoles and old scripts at each boot: there is nothing here for them to find."""

LATE_UNITS = (
    "coldaisle-rdma.service",
    "coldaisle-sriov.service",
    "lldpd.service",
    "systemd-logind.service",
    "systemd-networkd.service",
    "systemd-user-sessions.service",
)
"""Units that wait for the SSH server, so that a host can be reached while they start."""

UDEV_RULES = (
    "50-udev-default.rules",
    "60-block.rules",
    "60-infiniband.rules",
    "60-persistent-storage.rules",
    "70-power-switch.rules",
    "80-drivers.rules",
    "80-net-setup-link.rules",
    "99-systemd.rules",
)
"""Rules that a host without screen, sound and keyboard needs; each rule costs every device some time."""

LEFT_OUT = (
    "boot",
    "etc/udev/hwdb.bin",
    "usr/bin/containerd-shim",
    "usr/bin/containerd-shim-runc-v1",
    "usr/bin/containerd-stress",
    "usr/bin/ctr",
    "usr/bin/ipmitool",
    "usr/lib/cni",
    "usr/lib/ipxe",
    "usr/lib/udev/hwdb.bin",
    "usr/lib/udev/hwdb.d",
    "usr/lib/x86_64-linux-gnu/gconv",
    "usr/lib/x86_64-linux-gnu/libfreeipmi.so.17.2.9",
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
"""What a net-booted guest does without: it would cost its memory, and time on the wire."""

OUR_PYTHON = "usr/local/lib/coldaisle"
"""Modules of the programs that stand in for hardware, and of the kubelet that does."""

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
