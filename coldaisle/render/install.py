"""
Files of an installation: what the installers of Debian, Ubuntu, and Red Hat and Rocky read of a node, and two scripts.

`disks.sh` finds the disks on the node by the marks that the plan has, since only there it is known what the kernel
calls them, and stops where one is in use or not blank without consent. `late.sh` lets the administrators in.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from coldaisle.plan.model import ImagePlan, InstallPlan, NodePlan, PoolPlan, ProvisioningPlan, SitePlan
from coldaisle.render.autoinstall import user_data
from coldaisle.render.files import HostFile, bare_address, render
from coldaisle.render.recipes import ROOT_PARTITION, method_of, recipe_of

RAID_LEVELS = {"raid0": 0, "raid1": 1, "raid10": 10}
LOGIN_PACKAGES = ("openssh-server",)
UNLOCK_PACKAGES = {
    "preseed": ("clevis-luks", "clevis-tpm2", "clevis-initramfs"),
    "autoinstall": ("clevis-luks", "clevis-tpm2", "clevis-initramfs"),
    "kickstart": ("clevis-luks", "clevis-dracut"),
}
"""What opens a LUKS disk at boot, by installer: package names of Debian and Ubuntu, and of Red Hat and Rocky."""

PYTHON = {"preseed": "python3", "autoinstall": "python3", "kickstart": "python3"}
KEY_FILES = {
    "preseed": "/tmp/coldaisle.key",  # noqa: S108 - the installer's own memory, which nobody else shares
    "autoinstall": "/run/coldaisle.key",
    "kickstart": "/tmp/coldaisle.key",  # noqa: S108 - the same
}


@dataclass(frozen=True, slots=True)
class Url:
    """A mirror's address in the three parts that debian-installer asks for."""

    scheme: str
    host: str
    folder: str

    @classmethod
    def of(cls, text: str) -> Url:
        """Take an address apart."""
        parts = urlsplit(text)
        return cls(parts.scheme, parts.netloc, parts.path or "/")


@dataclass(frozen=True, slots=True)
class Target:
    """One node to install, with what the plan has of it, and where its files are served."""

    plan: SitePlan
    provisioning: ProvisioningPlan
    pool: PoolPlan
    install: InstallPlan
    node: NodePlan
    image: ImagePlan

    @property
    def base_url(self) -> str:
        """Return the provisioner's address."""
        return http_url(self.provisioning)

    @property
    def seed_url(self) -> str:
        """Return the folder of the node's files."""
        return f"{self.base_url}/seed/{self.node.name}"

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the packages that are installed beside the base, sorted."""
        unlock = UNLOCK_PACKAGES[self.image.kind] if self.install.encryption else ()
        return tuple(sorted({*LOGIN_PACKAGES, PYTHON[self.image.kind], *unlock, *self.install.packages}))


def http_url(provisioning: ProvisioningPlan) -> str:
    """Return the address under which the provisioner serves boot scripts, images and seeds."""
    return f"http://{bare_address(provisioning.host_address)}:{provisioning.http_port}"


def images_url(provisioning: ProvisioningPlan, node: NodePlan) -> str:
    """Return where a node fetches images from: its hall, where that serves them, else the provisioner."""
    served = provisioning.by_rack.get(node.rack)
    own = served.images_url if served else None
    return own.rstrip("/") if own else f"{http_url(provisioning)}/images"


def image_for(provisioning: ProvisioningPlan, node: NodePlan, image: ImagePlan) -> ImagePlan:
    """Return an image as a node installs it: with the mirrors of its hall, where that has some."""
    served = provisioning.by_rack.get(node.rack)
    if served is None:
        return image
    mirror = served.mirrors.get(image.name, image.mirror)
    return replace(image, mirror=mirror, security_mirror=served.security_mirrors.get(image.name, image.security_mirror))


def install_files(target: Target, folder: str) -> list[HostFile]:
    """Return what the installer of a node reads, below `folder` of the provisioner."""
    texts = {"late.sh": _late(target), "disks.sh": _disks(target)}
    if target.image.kind == "preseed":
        texts |= {"preseed.cfg": _preseed(target)} | ({"early.sh": _early(target)} if target.image.keyring else {})
    elif target.image.kind == "kickstart":
        texts["ks.cfg"] = _kickstart(target)
    else:
        texts |= _autoinstall(target)
    return [HostFile(path=f"{folder}/{name}", content=text) for name, text in sorted(texts.items())]


def installer_arguments(target: Target, mac: str) -> list[str]:
    """
    Return the kernel's arguments that start an installer without a person.

    `BOOTIF` names the port by its MAC address. debian-installer asks for its network's settings before it has a
    preseed, so what DHCP does not tell is answered here.
    """
    node, image, seed = target.node, target.image, target.seed_url
    bootif = f"BOOTIF=01-{mac.replace(':', '-')}"
    if image.kind == "kickstart":
        return [f"inst.ks={seed}/ks.cfg", f"inst.repo={image.mirror}", "inst.text", "ip=dhcp", bootif]
    if image.kind == "autoinstall":
        iso = f"url={images_url(target.provisioning, node)}/{image.name}/{image.rootfs}"
        # cloud-init takes url= for its own; /dev/null keeps it from fetching the ISO as a configuration.
        return ["ip=dhcp", iso, "cloud-config-url=/dev/null", "autoinstall", f"ds=nocloud;s={seed}/", bootif]
    name, _, domain = node.fqdn.partition(".")
    words = [
        "auto=true",
        "priority=critical",
        f"url={seed}/preseed.cfg",
        f"hostname={name}",
        f"domain={domain}",
        bootif,
    ]
    words += [] if target.provisioning.name_servers else ["netcfg/get_nameservers="]
    return words + ([] if target.provisioning.gateway else ["netcfg/no_default_route=true"])


def _disks(target: Target) -> str:
    return render(
        f"install/{target.image.kind}_disks.sh.j2",
        node=target.node.name,
        seed_url=target.seed_url,
        status_url=f"{target.base_url}/status/{target.node.name}",
        consent=target.node.wipe_consent,
        disks=[
            {"mark": disk.mark, "value": shlex.quote(disk.value), "count": disk.count} for disk in target.node.disks
        ],
        raid_level=RAID_LEVELS[target.install.raid] if target.install.raid else None,
        encrypted=target.install.encryption is not None,
        filesystem=target.install.filesystem,
        root_partition=ROOT_PARTITION,
    )


def _late(target: Target) -> str:
    encryption = target.install.encryption
    tang = f'{{"url":"{encryption.tang_url}","thp":"{encryption.tang_thumbprint}"}}' if encryption else ""
    return render(
        "install/late.sh.j2",
        node=target.node.name,
        seed_url=target.seed_url,
        status_url=f"{target.base_url}/status/{target.node.name}",
        encryption=encryption,
        pin=tang if encryption and encryption.unlock == "tang" else "{}",
        key_file=KEY_FILES[target.image.kind],
    )


def _early(target: Target) -> str:
    image = target.image
    keyring_url = f"{images_url(target.provisioning, target.node)}/{image.name}/{image.keyring}"
    return render("install/early.sh.j2", node=target.node.name, keyring_url=keyring_url)


def _common(target: Target) -> dict[str, Any]:
    """Return what a preseed and a kickstart have in common."""
    servers = target.pool.os.ntp_servers
    return {
        "node": target.node.name,
        "image": target.image,
        "proxy": target.provisioning.proxy or "",
        "timezone": target.pool.os.timezone,
        "ntp_server": servers[0] if servers else "",
        "packages": target.packages,
        "seed_url": target.seed_url,
    }


def _preseed(target: Target) -> str:
    security = target.image.security_mirror
    words = target.image.kernel_arguments.split()
    return render(
        "install/preseed.cfg.j2",
        **_common(target),
        domain=target.node.fqdn.partition(".")[2],
        mirror=Url.of(target.image.mirror or ""),
        security=Url.of(security) if security else None,
        method=method_of(target.install),
        recipe=recipe_of(target.install),
        wipe="true" if target.node.wipe_consent else "false",
        consoles=[word for word in words if word.startswith("console=")],
    )


def _kickstart(target: Target) -> str:
    boot_nic = next(nic for nic in target.node.nics if nic.name == target.node.boot_nic)
    return render("install/kickstart.cfg.j2", **_common(target), fqdn=target.node.fqdn, mac=boot_nic.mac)


def _autoinstall(target: Target) -> dict[str, str]:
    text = user_data(target.plan, target.provisioning, target.pool, target.node, target.image, target.packages)
    return {"user-data": text, "meta-data": f"instance-id: {target.node.name}\n", "vendor-data": "#cloud-config\n{}\n"}
