"""The files that a host is set up with: network and kernel, RDMA, GPUs, and the join to the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.plan.kubelet import PKI_FOLDER, kubelet_config_text
from coldaisle.render.files import HostFile, bare_address, render

if TYPE_CHECKING:
    from coldaisle.plan.model import ClusterPlan, NicPlan, NodePlan, OsPlan, PoolPlan, RdmaPlan

SELF_SET_PREFIXES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubelet.kubernetes.io/")
"""Reserved prefixes of labels that a kubelet may still set on its own node."""

DSCP_SHIFT = 2
"""A DSCP is the upper six bits of the type-of-service byte (RFC 2474)."""

FIRST_RAIL_TABLE = 100
"""Routing table of rail 0; rail N has this number plus N. Below the kernel's own tables (253 to 255)."""

POD_NETWORK_TEMPLATE = "/etc/containerd/pod-network.json"
"""Where the template of the pods' network lies; no CNI plugin looks there for a finished one."""

PLANE_TABLES = 32
"""From the tables of one plane to those of the next; more rails than there are in any system."""


def os_files(node: NodePlan, pool: PoolPlan) -> tuple[HostFile, ...]:
    """Return a host's network, kernel and clock settings as files, so that they hold after a reboot too."""
    sysctl = dict(sorted(pool.os.sysctl.items()))
    if pool.os.hugepages_2mi:
        sysctl["vm.nr_hugepages"] = str(pool.os.hugepages_2mi)
    files = [HostFile(path="/etc/sysctl.d/90-coldaisle.conf", content=render("os/sysctl.conf.j2", sysctl=sysctl))]
    files += _admin_files(pool.os)
    if pool.os.ntp_servers:
        content = render("os/timesyncd.conf.j2", servers=pool.os.ntp_servers)
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
    link = render("os/nic.link.j2", mac=nic.mac, name=nic.name, mtu_bytes=nic.mtu_bytes)
    files = [HostFile(path=f"{folder}/10-coldaisle-{nic.name}.link", content=link, reload=("udev",))]
    if nic.rail is not None and nic.address is not None:
        network = render(
            "os/rail.network.j2",
            mac=nic.mac,
            mtu_bytes=nic.mtu_bytes,
            address=nic.address,
            host_address=bare_address(nic.address),
            gateway=nic.gateway,
            table=FIRST_RAIL_TABLE + PLANE_TABLES * nic.plane + nic.rail,
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
            content=render("rdma/limits.conf.j2", memlock=rdma.memlock),
        ),
        HostFile(
            path="/etc/systemd/system.conf.d/90-coldaisle-memlock.conf",
            content=render("rdma/system.conf.j2", memlock=limit),
        ),
        HostFile(
            path="/etc/udev/rules.d/90-coldaisle-vfs.rules",
            content=render("rdma/vfs.rules.j2", nics=nics),
            reload=("udev",),
        ),
    ]
    if rdma.dscp is not None:
        content = render("rdma/roce.service.j2", dscp=rdma.dscp, tos=rdma.dscp << DSCP_SHIFT)
        files.append(HostFile(path="/etc/systemd/system/coldaisle-roce.service", content=content, reload=("systemd",)))
    return tuple(files)


def gpu_files() -> tuple[HostFile, ...]:
    """Return the file that keeps the nouveau driver away from NVIDIA's GPUs."""
    return (HostFile(path="/etc/modprobe.d/90-coldaisle-nouveau.conf", content=render("gpu/nouveau.conf.j2")),)


def kubernetes_files(node: NodePlan, cluster: ClusterPlan) -> tuple[HostFile, ...]:
    """Return the runtime's and the kubelet's settings, and the cluster's CA certificate."""
    kubelet_config, ca_file = kubelet_config_text(cluster), cluster.ca_file
    return (
        HostFile(
            path="/etc/containerd/config.toml",
            content=render("kubernetes/containerd.toml.j2", cluster=cluster, pod_network=POD_NETWORK_TEMPLATE),
            reload=("containerd",),
        ),
        *_pod_network_files(cluster),
        HostFile(path=f"{PKI_FOLDER}/ca.crt", content_file=ca_file, reload=("kubelet",)),
        HostFile(path="/var/lib/kubelet/config.yaml", content=kubelet_config, reload=("kubelet",)),
        HostFile(
            path="/etc/systemd/system/kubelet.service",
            reload=("systemd", "kubelet"),
            content=render("kubernetes/kubelet.service.j2", arguments=_kubelet_arguments(node)),
        ),
    )


def _pod_network_files(cluster: ClusterPlan) -> tuple[HostFile, ...]:
    """Return the template of the pods' network, which containerd fills in when it is told the node's pod range."""
    if cluster.pod_network != "bridge":
        return ()
    content = render("kubernetes/pod-network.json.j2")
    return (HostFile(path=POD_NETWORK_TEMPLATE, content=content, reload=("containerd",)),)


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
        f"--node-ip={bare_address(node.management_address)}",
    ]
    arguments += [f"--node-labels={labels}"] if labels else []
    return arguments + ([f"--register-with-taints={','.join(node.taints)}"] if node.taints else [])


def _kubelet_may_set(label: str) -> bool:
    """Tell whether a kubelet may set the label on its own node (Kubernetes docs, NodeRestriction)."""
    domain = label.split("/", maxsplit=1)[0] if "/" in label else ""
    reserved = domain.endswith(("kubernetes.io", "k8s.io"))
    return not reserved or label.startswith(SELF_SET_PREFIXES)
