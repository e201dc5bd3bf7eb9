"""
The files of a network boot: DHCP, TFTP, HTTP, and each node's script and seed.

They are rendered here and not by the roles, so that a preview, a digest and a test see the same text that a host gets.
"""

from __future__ import annotations

import hashlib
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.render.files import HostFile, bare_address, render

if TYPE_CHECKING:
    from coldaisle.plan.model import ImagePlan, NodePlan, ProvisioningPlan, SitePlan

HTTP_ROOT = "/srv/coldaisle/http"
"""What the provisioner serves over HTTP: boot scripts, images and seeds."""

DNSMASQ_CONFIG = "/etc/coldaisle/dnsmasq.conf"
DNSMASQ_UNIT = "coldaisle-dnsmasq"

TFTP_ROOT = "/usr/lib/ipxe"
"""Where Debian's ipxe package puts the first programs of a network boot."""

BOOT_PROGRAMS = (
    {"tag": "x86_64-bios", "client_arch": 0, "program": "undionly.kpxe"},
    {"tag": "x86_64-uefi", "client_arch": 7, "program": "snponly.efi"},
    {"tag": "x86_64-uefi", "client_arch": 9, "program": "snponly.efi"},
    {"tag": "aarch64-uefi", "client_arch": 11, "program": "snponly-arm64.efi"},
)
"""First program by architecture and firmware mode; `client_arch` is the processor architecture type of RFC 4578."""


def pxe_files(plan: SitePlan, provisioning: ProvisioningPlan) -> tuple[HostFile, ...]:
    """Return what the provisioner needs beside the images: DHCP, TFTP and HTTP settings, a script and a seed a node."""
    nodes = [node for node in plan.nodes if _boot_mac(node)]
    files = [
        HostFile(path=DNSMASQ_CONFIG, content=_dnsmasq(plan, provisioning, nodes), reload=(DNSMASQ_UNIT,)),
        HostFile(
            path=f"/etc/systemd/system/{DNSMASQ_UNIT}.service",
            reload=("systemd", DNSMASQ_UNIT),
            content=render(
                "pxe/dnsmasq.service.j2",
                interface=provisioning.interface,
                config=DNSMASQ_CONFIG,
                router_address=router_address(plan.name),
            ),
        ),
        HostFile(path="/etc/nginx/conf.d/coldaisle.conf", content=_nginx(plan, provisioning, nodes), reload=("nginx",)),
    ]
    for node in (node for node in nodes if node.boot == "network"):
        image = _image_of(plan, provisioning, node)
        script = boot_script(provisioning, node, image)
        files.append(HostFile(path=f"{HTTP_ROOT}/{_script_path(node)}", content=script))
        files += _seed(plan, node)
    return tuple(files)


def _seed(plan: SitePlan, node: NodePlan) -> list[HostFile]:
    """Return what a node fetches before it has anything else: its name, and who may log in."""
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    folder = f"{HTTP_ROOT}/{_seed_path(node)}"
    keys = pool.os.admin_authorized_keys_file
    return [
        HostFile(path=f"{folder}/hostname", content=f"{node.name}\n"),
        HostFile(path=f"{folder}/authorized_keys", content_file=keys),
    ]


def router_address(site: str) -> str:
    """
    Return the provisioner's address in an IPv6 prefix of the site's own (RFC 4193), with its prefix length.

    The 40 bits that the RFC wants random come from the site's name, so that they stay the same.
    """
    digest = hashlib.sha256(site.encode()).hexdigest()
    return str(ipaddress.ip_interface(f"fd{digest[:2]}:{digest[2:6]}:{digest[6:10]}:1::2/64"))


def boot_script(provisioning: ProvisioningPlan, node: NodePlan, image: ImagePlan) -> str:
    """
    Return the iPXE script of a node.

    The kernel's arguments name the root file system (and its digest, where the plan pins one), the node's seed, and the
    names of its ports by MAC address with the boot NIC first; `root=live:URL` says the first to dracut's livenet too.
    """
    base = _http_url(provisioning)
    image_url = f"{base}/images/{image.name}"
    rootfs_url = f"{image_url}/{image.rootfs}"
    words = [f"initrd={image.initrd}", "ip=dhcp", f"root=live:{rootfs_url}", f"coldaisle.rootfs={rootfs_url}"]
    if image.rootfs in image.sha256:
        words.append(f"coldaisle.rootfs_sha256={image.sha256[image.rootfs]}")
    words += [f"coldaisle.seed={base}/{_seed_path(node)}/", f"coldaisle.nics={_named_ports(node)}"]
    words.append(image.kernel_arguments)
    arguments = " ".join(word for word in words if word)
    return render(
        "pxe/boot.ipxe.j2",
        node=node.name,
        image=image.name,
        image_url=image_url,
        kernel=image.kernel,
        initrd=image.initrd,
        arguments=arguments,
    )


def image_copies(provisioning: ProvisioningPlan) -> list[dict[str, str | None]]:
    """Return each file of each image: `source` (a path on the deploy host, or a URL), `path` to put it, `sha256`."""
    return [
        {
            "source": source if "://" in source else str(Path(source).expanduser()),
            "path": f"{HTTP_ROOT}/images/{image.name}/{file}",
            "sha256": image.sha256.get(file),
        }
        for image in provisioning.images
        for file in (image.kernel, image.initrd, image.rootfs)
        for source in (f"{image.source}/{file}",)
    ]


def _dnsmasq(plan: SitePlan, provisioning: ProvisioningPlan, nodes: list[NodePlan]) -> str:
    subnet = ipaddress.ip_network(provisioning.subnet)
    return render(
        "pxe/dnsmasq.conf.j2",
        site=plan.name,
        interface=provisioning.interface,
        network=subnet.network_address,
        netmask=subnet.netmask,
        gateway=provisioning.gateway,
        tftp_root=TFTP_ROOT,
        boot_programs=BOOT_PROGRAMS,
        nodes=[
            {
                "name": node.name,
                "tag": node.name,
                "mac": _boot_mac(node),
                "address": bare_address(node.management_address),
                "netboot": node.boot == "network",
                "script_url": f"{_http_url(provisioning)}/{_script_path(node)}",
            }
            for node in nodes
        ],
    )


def _nginx(plan: SitePlan, provisioning: ProvisioningPlan, nodes: list[NodePlan]) -> str:
    return render(
        "pxe/nginx.conf.j2",
        site=plan.name,
        address=bare_address(provisioning.host_address),
        port=provisioning.http_port,
        root=HTTP_ROOT,
        denied=[
            {"name": node.name, "script_path": f"/{_script_path(node)}", "reason": f"the plan says boot {node.boot}"}
            for node in nodes
            if node.boot != "network"
        ],
    )


def _image_of(plan: SitePlan, provisioning: ProvisioningPlan, node: NodePlan) -> ImagePlan:
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    return next(image for image in provisioning.images if image.name == pool.image)


def _http_url(provisioning: ProvisioningPlan) -> str:
    return f"http://{bare_address(provisioning.host_address)}:{provisioning.http_port}"


def _script_path(node: NodePlan) -> str:
    return f"boot/{_dashed(_boot_mac(node))}.ipxe"


def _seed_path(node: NodePlan) -> str:
    return f"seed/{node.name}"


def _boot_mac(node: NodePlan) -> str:
    """Return the boot NIC's MAC address in lower case, or an empty string where the vendor's list has none."""
    return next((nic.mac.lower() for nic in node.nics if nic.name == node.boot_nic and nic.mac), "")


def _named_ports(node: NodePlan) -> str:
    ports = sorted((nic for nic in node.nics if nic.mac), key=lambda nic: nic.name != node.boot_nic)
    return ",".join(f"{nic.name}:{str(nic.mac).lower()}" for nic in ports)


def _dashed(mac: str) -> str:
    return mac.replace(":", "-")
