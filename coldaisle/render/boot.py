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
from coldaisle.render.install import Target, http_url, image_for, images_url, install_files, installer_arguments

if TYPE_CHECKING:
    from coldaisle.plan.model import ImagePlan, NodePlan, PoolPlan, ProvisioningPlan, SitePlan

HTTP_ROOT = "/srv/coldaisle/http"
"""What the provisioner serves over HTTP: boot scripts, images and seeds."""

DNSMASQ_CONFIG = "/etc/coldaisle/dnsmasq.conf"
DNSMASQ_UNIT = "coldaisle-dnsmasq"

TFTP_ROOT = "/srv/coldaisle/tftp"
"""The first programs of a network boot: links to those of Debian's ipxe package, and what the site adds."""

IPXE_FOLDER = "/usr/lib/ipxe"
IPXE_PROGRAMS = ("undionly.kpxe", "snponly.efi")
"""What Debian's ipxe package has, and where."""

BOOT_PROGRAMS = (
    {"tag": "x86_64-bios", "client_arch": 0, "program": "undionly.kpxe", "signed": ""},
    {"tag": "x86_64-uefi", "client_arch": 7, "program": "snponly.efi", "signed": "shimx64.efi"},
    {"tag": "x86_64-uefi", "client_arch": 9, "program": "snponly.efi", "signed": "shimx64.efi"},
    {"tag": "aarch64-uefi", "client_arch": 11, "program": "snponly-arm64.efi", "signed": "shimaa64.efi"},
)
"""
First program by architecture and firmware mode, and the one of a secure boot; `client_arch` is the processor
architecture type of RFC 4578 and its registry.
"""

HTTP_BOOT_PROGRAMS = (
    {"tag": "x86_64-http", "client_arch": 16, "program": "snponly.efi", "signed": "shimx64.efi"},
    {"tag": "aarch64-http", "client_arch": 19, "program": "snponly-arm64.efi", "signed": "shimaa64.efi"},
)
"""The same of firmware that asks for an HTTP address (UEFI HTTP boot): no TFTP takes part."""

WAIT_S, TRIES = 5, 240
"""A host that the provisioner has no room for comes back after so long, and so often: 20 minutes, then it gives up."""


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
        files += _node_files(plan, provisioning, node)
    if provisioning.signed:
        files.append(HostFile(path=f"{TFTP_ROOT}/grub/grub.cfg", content=render("pxe/grub.cfg.j2", site=plan.name)))
    return tuple(files)


def _node_files(plan: SitePlan, provisioning: ProvisioningPlan, node: NodePlan) -> list[HostFile]:
    """Return a node's boot script, GRUB's where its firmware wants signed programs, and its seed."""
    image, target = _image_of(plan, provisioning, node), target_of(plan, provisioning, node)
    script = boot_script(provisioning, node, image, target)
    files = [HostFile(path=f"{HTTP_ROOT}/{_script_path(node)}", content=script), *_seed(plan, node)]
    if _pool_of(plan, node).secure_boot:
        path = f"{TFTP_ROOT}/grub/nodes/{_boot_mac(node)}.cfg"
        files.append(HostFile(path=path, content=_grub(provisioning, node, image, target)))
    return files + (install_files(target, f"{HTTP_ROOT}/{_seed_path(node)}") if target else [])


def target_of(plan: SitePlan, provisioning: ProvisioningPlan, node: NodePlan) -> Target | None:
    """Return a node as one to install, or None where its image has no installer."""
    pool, image = _pool_of(plan, node), _image_of(plan, provisioning, node)
    if image.kind == "squashfs" or pool.install is None:
        return None
    return Target(plan, provisioning, pool, pool.install, node, image)


def _seed(plan: SitePlan, node: NodePlan) -> list[HostFile]:
    """Return what a node fetches before it has anything else: its name, and who may log in."""
    folder = f"{HTTP_ROOT}/{_seed_path(node)}"
    keys = _pool_of(plan, node).os.admin_authorized_keys_file
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


def boot_script(provisioning: ProvisioningPlan, node: NodePlan, image: ImagePlan, target: Target | None = None) -> str:
    """
    Return the iPXE script of a node; one that the provisioner has no room for comes back, a bounded number of times.

    The kernel's arguments name the root file system (and its digest, where the plan pins one), the node's seed, and the
    names of its ports by MAC address with the boot NIC first; `root=live:URL` says the first to dracut's livenet too.
    An installer (`target`) has arguments of its own.
    """
    return render(
        "pxe/boot.ipxe.j2",
        node=node.name,
        image=image.name,
        image_url=f"{images_url(provisioning, node)}/{image.name}",
        kernel=image.kernel,
        initrd=image.initrd,
        arguments=" ".join([f"initrd={image.initrd}", *_arguments(provisioning, node, image, target)]),
        tries=TRIES,
        wait_s=WAIT_S,
    )


def _grub(provisioning: ProvisioningPlan, node: NodePlan, image: ImagePlan, target: Target | None) -> str:
    """
    Return what the signed GRUB reads of a node: the same kernel and arguments.

    The files have no server in their paths: they come from where GRUB came from. Debian's signed GRUB speaks TFTP only.
    """
    return render(
        "pxe/grub_node.cfg.j2",
        node=node.name,
        image=image.name,
        kernel=image.kernel,
        initrd=image.initrd,
        # GRUB ends a command at a semicolon, unless it is quoted.
        arguments=" ".join(word.replace(";", "\\;") for word in _arguments(provisioning, node, image, target)),
    )


def _arguments(provisioning: ProvisioningPlan, node: NodePlan, image: ImagePlan, target: Target | None) -> list[str]:
    """Return the kernel's arguments beside `initrd`, which is iPXE's own; the image's come last."""
    if target is not None:
        words = installer_arguments(target, _boot_mac(node))
    else:
        base = http_url(provisioning)
        rootfs_url = f"{images_url(provisioning, node)}/{image.name}/{image.rootfs}"
        words = ["ip=dhcp", f"root=live:{rootfs_url}", f"coldaisle.rootfs={rootfs_url}"]
        digest = image.sha256.get(image.rootfs or "")
        words += [f"coldaisle.rootfs_sha256={digest}"] if digest else []
        words += [f"coldaisle.seed={base}/{_seed_path(node)}/", f"coldaisle.nics={_named_ports(node)}"]
    return [*words, *image.kernel_arguments.split()]


def image_copies(provisioning: ProvisioningPlan) -> list[dict[str, str | None]]:
    """Return each file of each image: `source` (a path on the deploy host, or a URL), `path` to put it, `sha256`."""
    files = [
        (f"{image.source}/{file}", f"{HTTP_ROOT}/images/{image.name}/{file}", image.sha256.get(file))
        for image in provisioning.images
        for file in (image.kernel, image.initrd, image.rootfs, image.keyring)
        if file
    ]
    files += [(program.source, f"{TFTP_ROOT}/{program.name}", program.sha256) for program in provisioning.programs]
    return [
        {"source": source if "://" in source else str(Path(source).expanduser()), "path": path, "sha256": sha256}
        for source, path, sha256 in files
    ]


def program_links(provisioning: ProvisioningPlan) -> list[dict[str, str]]:
    """Return the links of the TFTP folder (`path`, and the `target` it shows): iPXE's programs, and images for GRUB."""
    shown = {name: f"{IPXE_FOLDER}/{name}" for name in IPXE_PROGRAMS}
    shown |= {"images": f"{HTTP_ROOT}/images"} if provisioning.signed else {}
    return [{"path": f"{TFTP_ROOT}/{name}", "target": target} for name, target in shown.items()]


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
        http_programs=HTTP_BOOT_PROGRAMS,
        programs_url=f"{http_url(provisioning)}/tftp",
        name_servers=provisioning.name_servers,
        retired=[{"name": node.name, "mac": _boot_mac(node)} for node in _retired(plan)],
        nodes=[
            {
                "name": node.name,
                "tag": node.name,
                "mac": _boot_mac(node),
                "address": bare_address(node.management_address),
                "netboot": node.boot == "network",
                "signed": _pool_of(plan, node).secure_boot,
                "script_url": f"{http_url(provisioning)}/{_script_path(node)}",
            }
            for node in nodes
        ],
    )


def _retired(plan: SitePlan) -> list[NodePlan]:
    """Return the retired nodes that a MAC address is known of."""
    return [node for node in plan.retired if _boot_mac(node)]


def _nginx(plan: SitePlan, provisioning: ProvisioningPlan, nodes: list[NodePlan]) -> str:
    return render(
        "pxe/nginx.conf.j2",
        site=plan.name,
        address=bare_address(provisioning.host_address),
        port=provisioning.http_port,
        root=HTTP_ROOT,
        tftp_root=TFTP_ROOT,
        transfers=provisioning.transfers,
        retry_s=WAIT_S,
        denied=[
            {"name": node.name, "script_path": f"/{_script_path(node)}", "reason": f"the plan says boot {node.boot}"}
            for node in nodes
            if node.boot != "network"
        ]
        + [
            # What an earlier run wrote for it may still lie there.
            {"name": node.name, "script_path": f"/{_script_path(node)}", "reason": "it is retired"}
            for node in _retired(plan)
        ],
    )


def _image_of(plan: SitePlan, provisioning: ProvisioningPlan, node: NodePlan) -> ImagePlan:
    pool = _pool_of(plan, node)
    image = next(image for image in provisioning.images if image.name == pool.image)
    return image_for(provisioning, node, image)


def _pool_of(plan: SitePlan, node: NodePlan) -> PoolPlan:
    return next(pool for pool in plan.pools if pool.name == node.pool)


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
