"""The files that a host is set up with: network and kernel, RDMA, GPUs, and the join to the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.plan.acceptance import UNACCEPTED_TAINT
from coldaisle.plan.host_facts import AMD, domain
from coldaisle.plan.kubelet import PKI_FOLDER, kubelet_config_text
from coldaisle.render.files import HostFile, bare_address, render, unit_file
from coldaisle.render.host_network import network_files
from coldaisle.render.host_units import host_unit, ports_unit

if TYPE_CHECKING:
    from coldaisle.plan.host_side import HostSide
    from coldaisle.plan.model import ClusterPlan, GpuPlan, NodePlan, OsPlan, PoolPlan, RdmaPlan, SitePlan

KUBELET_WAITS = "/etc/systemd/system/kubelet.service.d/10-coldaisle-vfs.conf"
"""Keeps a node's kubelet from starting while a port lacks virtual functions, which are lost at every reboot."""

SELF_SET_PREFIXES = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubelet.kubernetes.io/")
"""Reserved prefixes of labels that a kubelet may still set on its own node."""

DSCP_SHIFT = 2
"""A DSCP is the upper six bits of the type-of-service byte (RFC 2474)."""


POD_NETWORK_TEMPLATE = "/etc/containerd/pod-network.json"
"""Where the template of the pods' network lies; no CNI plugin looks there for a finished one."""


def os_files(node: NodePlan, pool: PoolPlan, side: HostSide) -> tuple[HostFile, ...]:
    """
    Return a host's network, kernel and clock settings as files, so that they hold after a reboot too.

    `side` has the bonds and the tenants' interfaces of the node.
    """
    sysctl = dict(sorted(pool.os.sysctl.items()))
    if pool.os.hugepages_2mi:
        sysctl["vm.nr_hugepages"] = str(pool.os.hugepages_2mi)
    files = [HostFile(path="/etc/sysctl.d/90-coldaisle.conf", content=render("os/sysctl.conf.j2", sysctl=sysctl))]
    files += _admin_files(pool.os) + _kernel_files(pool.os) + _clock_files(pool.os)
    if pool.os.nofile:
        files += limit_files("nofile", pool.os.nofile, "Engines open a file for each of their connections and shards.")
    return (*files, *network_files(node, side), *host_unit(node, pool.os))


def _kernel_files(os: OsPlan) -> list[HostFile]:
    """Return the modules that are loaded at boot, and the words that the boot loader gives to the kernel."""
    files = []
    if os.modules:
        content = render("os/lines.conf.j2", lines=os.modules)
        files.append(HostFile(path="/etc/modules-load.d/90-coldaisle.conf", content=content))
    if os.kernel_arguments:
        content = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(os.kernel_arguments)}"\n'
        files.append(HostFile(path="/etc/default/grub.d/90-coldaisle.cfg", content=content, reload=("grub",)))
    return files


def _clock_files(os: OsPlan) -> list[HostFile]:
    """Return the time servers for the service that keeps the clock."""
    if not os.ntp_servers:
        return []
    if os.time_service == "chrony":
        content = render("os/lines.conf.j2", lines=[f"server {server} iburst" for server in os.ntp_servers])
        return [HostFile(path="/etc/chrony/sources.d/coldaisle.sources", content=content, reload=("chrony",))]
    content = render("os/timesyncd.conf.j2", servers=os.ntp_servers)
    path = "/etc/systemd/timesyncd.conf.d/coldaisle.conf"
    return [HostFile(path=path, content=content, reload=("systemd-timesyncd",))]


def limit_files(resource: str, limit: str, why: str) -> list[HostFile]:
    """Return a limit for logins (PAM) and for services (systemd), which know no limit by different words."""
    systemd = "infinity" if limit == "unlimited" else limit
    return [
        HostFile(
            path=f"/etc/security/limits.d/90-coldaisle-{resource}.conf",
            content=render("os/limits.conf.j2", why=why, resource=resource, limit=limit),
        ),
        HostFile(
            path=f"/etc/systemd/system.conf.d/90-coldaisle-{resource}.conf",
            content=render("os/system.conf.j2", resource=resource, limit=systemd),
            reload=("systemd",),
        ),
    ]


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


def rdma_files(node: NodePlan, rdma: RdmaPlan) -> tuple[HostFile, ...]:
    """Return the limits of locked memory, the virtual functions of each port, and how ports treat RoCE, as files."""
    nics = [nic for nic in node.nics if nic.rail is not None and nic.mac and nic.vfs]
    why = "RDMA registers memory: the limit of locked memory is the limit of what can be sent."
    files = limit_files("memlock", rdma.memlock, why)
    files.append(
        HostFile(
            path="/etc/udev/rules.d/90-coldaisle-vfs.rules",
            content=render("rdma/vfs.rules.j2", nics=nics),
            reload=("udev",),
        )
    )
    if nics:
        content = render("rdma/kubelet-vfs.conf.j2", nics=nics)
        files.append(HostFile(path=KUBELET_WAITS, content=content, reload=("systemd",)))
    if rdma.dscp is not None:
        content = render("rdma/roce.service.j2", dscp=rdma.dscp, tos=rdma.dscp << DSCP_SHIFT)
        files.append(unit_file("coldaisle-roce.service", content))
    if rdma.netns:
        content = f"options ib_core netns_mode={int(rdma.netns == 'shared')}\n"
        files.append(HostFile(path="/etc/modprobe.d/90-coldaisle-rdma.conf", content=content))
    return (*files, *ports_unit(node, rdma))


def gpu_files(plan: SitePlan, node: NodePlan, gpu: GpuPlan) -> tuple[HostFile, ...]:
    """Return the file that keeps nouveau away from NVIDIA's GPUs, and the nodes of the NVLink domain for IMEX."""
    if gpu.vendor == AMD:
        return ()
    files = [HostFile(path="/etc/modprobe.d/90-coldaisle-nouveau.conf", content=render("gpu/nouveau.conf.j2"))]
    if gpu.imex == "host":
        content = render("os/lines.conf.j2", lines=domain(plan, node))
        files.append(
            HostFile(path="/etc/nvidia-imex/nodes_config.cfg", content=content, reload=("nvidia-imex.service",))
        )
    return tuple(files)


def kubernetes_files(node: NodePlan, cluster: ClusterPlan, *, unaccepted: bool = False) -> tuple[HostFile, ...]:
    """
    Return the runtime's and the kubelet's settings, and the cluster's CA certificate.

    An `unaccepted` node joins with a taint that only its acceptance takes off, so that no work comes before.
    """
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
        unit_file(
            "kubelet.service",
            render("kubernetes/kubelet.service.j2", arguments=_kubelet_arguments(node, unaccepted=unaccepted)),
            "kubelet",
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


def _kubelet_arguments(node: NodePlan, *, unaccepted: bool) -> list[str]:
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
    taints = [*node.taints, *([f"{UNACCEPTED_TAINT}:NoSchedule"] if unaccepted else [])]
    return arguments + ([f"--register-with-taints={','.join(taints)}"] if taints else [])


def _kubelet_may_set(label: str) -> bool:
    """Tell whether a kubelet may set the label on its own node (Kubernetes docs, NodeRestriction)."""
    domain = label.split("/", maxsplit=1)[0] if "/" in label else ""
    reserved = domain.endswith(("kubernetes.io", "k8s.io"))
    return not reserved or label.startswith(SELF_SET_PREFIXES)
