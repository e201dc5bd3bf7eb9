"""
The files that bring-up writes on hosts: network boot, network and kernel settings, the join to the cluster.

They are rendered here and not by the roles, so that a preview, a digest and a test see the same text that a host gets.
"""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

import coldaisle
from coldaisle.plan.kubelet import PKI_FOLDER, kubelet_config_text

if TYPE_CHECKING:
    from coldaisle.plan.model import (
        ClusterPlan,
        ImagePlan,
        NicPlan,
        NodePlan,
        OsPlan,
        PoolPlan,
        ProvisioningPlan,
        RdmaPlan,
        SitePlan,
    )

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

SELF_SET_PREFIXES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubelet.kubernetes.io/")
"""Reserved prefixes of labels that a kubelet may still set on its own node."""

DSCP_SHIFT = 2
"""A DSCP is the upper six bits of the type-of-service byte (RFC 2474)."""

FIRST_RAIL_TABLE = 100
"""Routing table of rail 0; rail N has this number plus N. Below the kernel's own tables (253 to 255)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """
    A text file of a host: `content`, or `content_file` on the deploy host. `mode` is octal, as chmod writes it.

    `reload` names who reads the file: `networkd`, `systemd`, `udev`, or a unit that is restarted if it runs.
    """

    path: str
    content: str | None = None
    content_file: str | None = None
    mode: str = "0644"
    owner: str = "root"
    reload: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the file as the `files` module of the collection takes it."""
        source = {"content": self.content} if self.content_file is None else {"content_file": self.content_file}
        return {"path": self.path, **source, "mode": self.mode, "owner": self.owner, "reload": list(self.reload)}


def templates_dir() -> Path:
    """Return the folder of the templates: of the package where it is installed, else of the checkout."""
    package = Path(coldaisle.__file__).parent
    installed = package / "data" / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


@cache
def _environment() -> jinja2.Environment:
    """Return Jinja2 without autoescape, since no HTML is made here, and with an error for every undefined name."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_dir()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # configuration files, not HTML
    )


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


# -- network boot -----------------------------------------------------------------------------------------------
def pxe_files(plan: SitePlan, provisioning: ProvisioningPlan) -> tuple[HostFile, ...]:
    """Return what the provisioner needs beside the images: DHCP, TFTP and HTTP settings, a script and a seed a node."""
    nodes = [node for node in plan.nodes if _boot_mac(node)]
    files = [
        HostFile(path=DNSMASQ_CONFIG, content=_dnsmasq(plan, provisioning, nodes), reload=(DNSMASQ_UNIT,)),
        HostFile(
            path=f"/etc/systemd/system/{DNSMASQ_UNIT}.service",
            reload=("systemd", DNSMASQ_UNIT),
            content=_render(
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
    return _render(
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
    return _render(
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
                "address": _bare(node.management_address),
                "netboot": node.boot == "network",
                "script_url": f"{_http_url(provisioning)}/{_script_path(node)}",
            }
            for node in nodes
        ],
    )


def _nginx(plan: SitePlan, provisioning: ProvisioningPlan, nodes: list[NodePlan]) -> str:
    return _render(
        "pxe/nginx.conf.j2",
        site=plan.name,
        address=_bare(provisioning.host_address),
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
    return f"http://{_bare(provisioning.host_address)}:{provisioning.http_port}"


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


def _bare(address: str) -> str:
    return address.split("/", maxsplit=1)[0]


# -- operating system and RDMA ----------------------------------------------------------------------------------
def os_files(node: NodePlan, pool: PoolPlan) -> tuple[HostFile, ...]:
    """Return a host's network, kernel and clock settings as files, so that they hold after a reboot too."""
    sysctl = dict(sorted(pool.os.sysctl.items()))
    if pool.os.hugepages_2mi:
        sysctl["vm.nr_hugepages"] = str(pool.os.hugepages_2mi)
    files = [HostFile(path="/etc/sysctl.d/90-coldaisle.conf", content=_render("os/sysctl.conf.j2", sysctl=sysctl))]
    files += _admin_files(pool.os)
    if pool.os.ntp_servers:
        content = _render("os/timesyncd.conf.j2", servers=pool.os.ntp_servers)
        path = "/etc/systemd/timesyncd.conf.d/coldaisle.conf"
        files.append(HostFile(path=path, content=content, reload=("systemd-timesyncd",)))
    for nic in node.nics:
        files += _nic_files(nic)
    return tuple(files)


def _admin_files(os: OsPlan) -> list[HostFile]:
    """Return the keys and the rights of the user that people log in as."""
    return [
        HostFile(
            path=f"/home/{os.admin_user}/.ssh/authorized_keys",
            content_file=os.admin_authorized_keys_file,
            mode="0600",
            owner=os.admin_user,
        ),
        HostFile(
            path=f"/etc/sudoers.d/90-{os.admin_user}",
            content=f"{os.admin_user} ALL=(ALL) NOPASSWD: ALL\n",
            mode="0440",
        ),
    ]


def _nic_files(nic: NicPlan) -> list[HostFile]:
    if nic.mac is None:
        return []
    folder = "/etc/systemd/network"
    link = _render("os/nic.link.j2", mac=nic.mac, name=nic.name, mtu_bytes=nic.mtu_bytes)
    files = [HostFile(path=f"{folder}/10-coldaisle-{nic.name}.link", content=link, reload=("udev",))]
    if nic.rail is not None and nic.address is not None:
        network = _render(
            "os/rail.network.j2",
            mac=nic.mac,
            mtu_bytes=nic.mtu_bytes,
            address=nic.address,
            host_address=_bare(nic.address),
            gateway=nic.gateway,
            table=FIRST_RAIL_TABLE + nic.rail,
        )
        path = f"{folder}/20-coldaisle-{nic.name}.network"
        files.append(HostFile(path=path, content=network, reload=("networkd",)))
    return files


def rdma_files(node: NodePlan, rdma: RdmaPlan) -> tuple[HostFile, ...]:
    """Return the limits of locked memory and the virtual functions of each port as files."""
    limit = "infinity" if rdma.memlock == "unlimited" else rdma.memlock
    nics = [nic for nic in node.nics if nic.rail is not None and nic.mac and nic.vfs]
    files = [
        HostFile(
            path="/etc/security/limits.d/90-coldaisle-memlock.conf",
            content=_render("rdma/limits.conf.j2", memlock=rdma.memlock),
        ),
        HostFile(
            path="/etc/systemd/system.conf.d/90-coldaisle-memlock.conf",
            content=_render("rdma/system.conf.j2", memlock=limit),
        ),
        HostFile(
            path="/etc/udev/rules.d/90-coldaisle-vfs.rules",
            content=_render("rdma/vfs.rules.j2", nics=nics),
            reload=("udev",),
        ),
    ]
    if rdma.dscp is not None:
        content = _render("rdma/roce.service.j2", dscp=rdma.dscp, tos=rdma.dscp << DSCP_SHIFT)
        files.append(HostFile(path="/etc/systemd/system/coldaisle-roce.service", content=content, reload=("systemd",)))
    return tuple(files)


def gpu_files() -> tuple[HostFile, ...]:
    """Return the file that keeps the nouveau driver away from NVIDIA's GPUs."""
    return (HostFile(path="/etc/modprobe.d/90-coldaisle-nouveau.conf", content=_render("gpu/nouveau.conf.j2")),)


# -- cluster ----------------------------------------------------------------------------------------------------
def kubernetes_files(node: NodePlan, cluster: ClusterPlan) -> tuple[HostFile, ...]:
    """Return the runtime's and the kubelet's settings, and the cluster's CA certificate."""
    kubelet_config, ca_file = kubelet_config_text(cluster), cluster.ca_file
    return (
        HostFile(
            path="/etc/containerd/config.toml",
            content=_render("kubernetes/containerd.toml.j2"),
            reload=("containerd",),
        ),
        HostFile(path=f"{PKI_FOLDER}/ca.crt", content_file=ca_file, reload=("kubelet",)),
        HostFile(path="/var/lib/kubelet/config.yaml", content=kubelet_config, reload=("kubelet",)),
        HostFile(
            path="/etc/systemd/system/kubelet.service",
            reload=("systemd", "kubelet"),
            content=_render("kubernetes/kubelet.service.j2", arguments=_kubelet_arguments(node)),
        ),
    )


def bootstrap_kubeconfig(cluster: ClusterPlan) -> dict[str, Any]:
    """Return the kubeconfig of a join without its token, which the role adds when it runs."""
    access = {"server": cluster.api_server, "certificate-authority": f"{PKI_FOLDER}/ca.crt"}
    context = {"cluster": cluster.name, "user": "bootstrap"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster.name, "cluster": access}],
        "contexts": [{"name": "bootstrap", "context": context}],
        "current-context": "bootstrap",
    }


def _kubelet_arguments(node: NodePlan) -> list[str]:
    """
    Return the kubelet's arguments.

    Only labels that the NodeRestriction admission lets a kubelet set on itself go here; the others are set through the
    API by the role.
    """
    labels = ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()) if _kubelet_may_set(key))
    arguments = [
        "--config=/var/lib/kubelet/config.yaml",
        "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
        "--kubeconfig=/etc/kubernetes/kubelet.conf",
        f"--hostname-override={node.name}",
        f"--node-ip={_bare(node.management_address)}",
    ]
    arguments += [f"--node-labels={labels}"] if labels else []
    return arguments + ([f"--register-with-taints={','.join(node.taints)}"] if node.taints else [])


def _kubelet_may_set(label: str) -> bool:
    """Tell whether a kubelet may set the label on its own node (Kubernetes docs, NodeRestriction)."""
    domain = label.split("/", maxsplit=1)[0] if "/" in label else ""
    reserved = domain.endswith(("kubernetes.io", "k8s.io"))
    return not reserved or label.startswith(
        ("topology.kubernetes.io/", "node.kubernetes.io/", "kubelet.kubernetes.io/")
    )
