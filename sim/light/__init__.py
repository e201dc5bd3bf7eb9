"""
Light hosts: an SSH server in namespaces of its own, over a root of its own, without an init.

One takes a few megabytes and a tenth of a second, so that there can be hundreds. What one proves: that it is reached
by SSH when its BMC turned it on and not before, that files, users, names, ports, addresses and the settings of its
network stack are as planned, and what vendors' tools report of its hardware. What one cannot prove: that a unit
runs, since no systemd does (`systemctl` and `networkctl` are stand-ins that keep links and set addresses), and
anything that belongs to the kernel, which is the machine's: it may read, and may not write, what is outside its
own network stack. Writing such a setting fails here, and `sysctl -w` then still returns 0: read back what was set.
"""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sim.machines import Machine

FILES = Path(__file__).parent / "files"
"""What lies over the image of a light host: the stand-ins for what systemd would do."""

FLOOR = ".floor"
"""Folder beside those of the machines: the hardware's record of every light host, by its address."""

BLOCK = "block"
"""Folder of a machine with what its kernel would tell of its disks (`sim.light.disks`)."""

LOST_CAPABILITIES = ("mac_admin", "mknod", "sys_boot", "sys_module", "sys_rawio", "sys_time", "syslog", "audit_control")
"""What root of a light host may not: all that would reach the machine's own clock, kernel and disks."""

SETTINGS = ("UsePAM no", "UseDNS no", "MaxStartups 1000", "PidFile none")
"""Settings of its SSH server: as many connections at once as come, and no look at logins that there are not."""

BEGIN = """
set -e
umount --lazy /run/netns
cd "$1"
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" none root
mount -t proc none root/proc
mount -o bind root/proc/sys root/proc/sys
mount -o bind root/proc/sys/net root/proc/sys/net
mount -o remount,bind,ro root/proc/sys
mount -t sysfs -o ro none root/sys
[ ! -d root/sys/class/dmi ] || mount -t tmpfs -o ro none root/sys/class/dmi
[ ! -d block ] || mount -o bind,ro block root/sys/block
mount -t tmpfs -o mode=755 none root/dev
cp -a /dev/null /dev/zero /dev/random /dev/urandom /dev/tty root/dev
ln -s /proc/self/fd root/dev/fd
mount -t tmpfs -o mode=755 none root/run
mkdir root/run/sshd root/run/coldaisle
mount -o bind,ro hardware root/run/coldaisle
mkdir -p ../.floor root/run/coldaisle-floor
mount -o bind,ro ../.floor root/run/coldaisle-floor
hostname "$(cat root/etc/hostname)"
shift 2
exec "$@"
"""
"""
Makes the root of a light host in a mount namespace of its own, so that it is gone when the host is off. The first
argument is the machine's folder, the second its layers; the others are what is then run.
It lets go of the mounts of all network namespaces: with a copy of them in each host, 4,500 hosts would hold twenty
million mounts, 8 GiB, and each `mount` here would read 4,500 lines.
"""


def light_command(machine: Machine) -> list[str]:
    """Return the command line of a light host; it is started in the network namespace of its ports."""
    bounding = ",".join(f"-{name}" for name in LOST_CAPABILITIES)
    server = ["/usr/sbin/sshd", "-D", "-e", *(word for setting in SETTINGS for word in ("-o", setting))]
    inside = ["setpriv", f"--bounding-set={bounding}", "--inh-caps=-all", "chroot", str(machine.path / "root"), *server]
    alone = ["unshare", "--mount", "--uts", "--pid", "--ipc", "--fork", "--kill-child"]
    return [*alone, "sh", "-c", BEGIN, "light", str(machine.path), ":".join(machine.layers), *inside]


def install_light(machine: Machine, public_key: str) -> None:
    """Write what an installed host has of its own: name, machine id, host key, and the key that opens it."""
    upper = machine.path / "upper"
    for folder in (upper / "etc/ssh", machine.path / "root", machine.path / "work"):
        folder.mkdir(parents=True, exist_ok=True)
    (upper / "root/.ssh").mkdir(parents=True, mode=0o700)
    (upper / "root/.ssh/authorized_keys").write_text(public_key)
    (upper / "etc/hostname").write_text(f"{machine.name}\n")
    (upper / "etc/machine-id").write_text(f"{machine.uuid.replace('-', '')}\n")
    write_host_key(upper / "etc/ssh/ssh_host_ed25519_key")


def write_host_key(path: Path) -> None:
    """Write a new host key for an SSH server; only its owner may read it."""
    kind = (serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    path.touch(mode=0o600)
    path.write_bytes(Ed25519PrivateKey.generate().private_bytes(*kind))
