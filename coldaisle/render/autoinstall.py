"""
Ubuntu's autoinstall: what the live server's installer reads as cloud-init user data.

Disks are matched by the installer itself where their mark is one that it knows, so that no device name is in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from coldaisle.plan.model import DiskPlan, ImagePlan, InstallPlan, NodePlan, PoolPlan, ProvisioningPlan, SitePlan
from coldaisle.render.files import bare_address

Config = dict[str, Any]

EFI_BYTES, BOOT_BYTES = 538 << 20, 1 << 30
GRUB_BYTES = 1 << 20
KEY_FILE = "/run/coldaisle.key"


def user_data(  # noqa: PLR0913, PLR0917 - what a node's installation is made of
    plan: SitePlan,
    provisioning: ProvisioningPlan,
    pool: PoolPlan,
    node: NodePlan,
    image: ImagePlan,
    packages: Sequence[str],
) -> str:
    """Return the user data of a node; its `user-data` part is what cloud-init does at the first boot from disk."""
    del plan
    seed = f"http://{bare_address(provisioning.host_address)}:{provisioning.http_port}/seed/{node.name}"
    wanted: Config = {
        "version": 1,
        "locale": "C.UTF-8",
        "keyboard": {"layout": "us"},
        "timezone": pool.os.timezone,
        "network": _network(node),
        "apt": _apt(image),
        "storage": {"swap": {"size": 0}, "config": storage(pool.install, node)} if pool.install else {},
        "packages": list(packages),
        "ssh": {"install-server": True, "allow-pw": False},
        "updates": "security",
        "shutdown": "reboot",
        "early-commands": [_fetched(seed, "disks.sh")],
        "late-commands": [f"TARGET=/target {_fetched(seed, 'late.sh')}"],
        "user-data": cloud_config(pool, node),
    }
    wanted |= {"proxy": provisioning.proxy} if provisioning.proxy else {}
    wanted |= {"kernel": {"package": image.kernel_package}} if image.kernel_package else {}
    return "#cloud-config\n" + yaml.safe_dump({"autoinstall": wanted}, sort_keys=False, width=120)


def cloud_config(pool: PoolPlan, node: NodePlan) -> Config:
    """Return what cloud-init settles at a node's first boot: its name, its clock, and who may log in."""
    return {
        "hostname": node.name,
        "fqdn": node.fqdn,
        "preserve_hostname": False,
        "timezone": pool.os.timezone,
        "ntp": {"enabled": bool(pool.os.ntp_servers), "servers": list(pool.os.ntp_servers)},
        "disable_root": False,
        "ssh_pwauth": False,
        "users": [],
        "growpart": {"mode": "off"},
    }


def storage(install: InstallPlan, node: NodePlan) -> list[Config]:
    """Return the actions on a node's disks, in the order in which one needs the other."""
    disks = list(_disks(install, node))
    boot_disk = disks[0]["id"] if disks else ""
    actions = list(disks)
    for disk in disks:
        actions += _partitions(disk["id"], first=disk["id"] == boot_disk)
    root = "root-part-0"
    if install.raid:
        members = [f"root-part-{index}" for index in range(len(disks))]
        actions.append(
            {"type": "raid", "id": "root-raid", "name": "md0", "raidlevel": install.raid, "devices": members}
        )
        root = "root-raid"
    if install.encryption:
        locked = {"type": "dm_crypt", "id": "root-crypt", "dm_name": "root", "volume": root, "keyfile": KEY_FILE}
        actions.append(locked)
        root = "root-crypt"
    return [*actions, *_file_systems(root, install.filesystem)]


def _disks(install: InstallPlan, node: NodePlan) -> Iterator[Config]:
    index = 0
    for disk in node.disks:
        for _ in range(disk.count):
            wiped = {"wipe": "superblock-recursive"} if install.wipe else {}
            yield {"type": "disk", "id": f"disk-{index}", "ptable": "gpt", "match": _match(disk), **wiped}
            index += 1


def _match(disk: DiskPlan) -> Config:
    """Return how the installer finds a disk; its `id_path` is what a link below /dev/disk/by-path is named."""
    if disk.mark == "path":
        return {"id_path": disk.value.rpartition("/")[2]}
    return {disk.mark: disk.value}


def _partitions(disk: str, *, first: bool) -> list[Config]:
    """Return GRUB's, EFI's and the boot partition of the first disk, and the rest of each for the root."""
    index = disk.rpartition("-")[2]
    common: Config = {"type": "partition", "device": disk}
    root = {**common, "id": f"root-part-{index}", "size": -1}
    if not first:
        return [root]
    return [
        {**common, "id": "grub-part", "size": GRUB_BYTES, "flag": "bios_grub"},
        {**common, "id": "efi-part", "size": EFI_BYTES, "flag": "boot", "grub_device": True},
        {**common, "id": "boot-part", "size": BOOT_BYTES},
        root,
    ]


def _file_systems(root: str, kind: str) -> list[Config]:
    made = (
        ("efi", "fat32", "efi-part", "/boot/efi"),
        ("boot", "ext4", "boot-part", "/boot"),
        ("root", kind, root, "/"),
    )
    formats = [{"type": "format", "id": f"{name}-fs", "fstype": fs, "volume": volume} for name, fs, volume, _ in made]
    order = sorted(made, key=lambda each: len(each[3]))
    mounts = [
        {"type": "mount", "id": f"{name}-mount", "device": f"{name}-fs", "path": path} for name, _, _, path in order
    ]
    return [*formats, *mounts]


def _network(node: NodePlan) -> Config:
    mac = next((nic.mac for nic in node.nics if nic.name == node.boot_nic), None)
    return {"version": 2, "ethernets": {node.boot_nic: {"match": {"macaddress": mac}, "dhcp4": True}}}


def _apt(image: ImagePlan) -> Config:
    """Return where packages come from; `offline-install` keeps a site without the archive from failing."""
    if not image.mirror:
        return {"fallback": "offline-install", "geoip": False}
    archive = [{"arches": ["default"], "uri": image.mirror}]
    security = [{"arches": ["default"], "uri": image.security_mirror}] if image.security_mirror else []
    return {"primary": archive, "fallback": "abort", "geoip": False, **({"security": security} if security else {})}


def _fetched(seed: str, script: str) -> str:
    return f"sh -c 'curl -fsS -o /run/{script} {seed}/{script} && sh /run/{script}'"
