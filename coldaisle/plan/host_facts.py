"""The facts of one host by role: what is true of it when it is set up, small enough to be shown and asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from coldaisle.plan.host_side import host_side, network_facts
from coldaisle.plan.model import Facts, GpuPlan, NicPlan, NodePlan, OsPlan, PoolPlan, RdmaPlan, SitePlan

AMD = "AMD"
FABRIC_MANAGER_MATCHES = "as the driver"
"""What a host says of a fabric manager that has exactly the driver's version (G3)."""

Found = dict[str, str | int | bool]


def rails(node: NodePlan) -> list[NicPlan]:
    """Return the ports of a node's rails."""
    return [nic for nic in node.nics if nic.rail is not None]


def os_facts(plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    """Return what the `os` role makes true of a node."""
    facts: Found = {"hostname": node.name, f"user.{pool.os.admin_user}": "present"}
    return facts | _kernel(pool.os) | _clock(pool.os) | _ports(plan, pool.os, node) | _pci(pool.os, node)


def _kernel(os: OsPlan) -> Found:
    facts: Found = pinned(os.packages)
    facts |= {"kernel_release": os.kernel_release} if os.kernel_release else {}
    facts |= {f"cmdline.{name}": value for name, value in _arguments(os.kernel_arguments).items()}
    facts |= {f"module.{name}": "loaded" for name in os.modules}
    facts |= {f"sysctl.{key}": value for key, value in sorted(os.sysctl.items())}
    facts |= {"hugepages_2mi": os.hugepages_2mi} if os.hugepages_2mi else {}
    facts |= {"hugepages_1gi": os.hugepages_1gi} if os.hugepages_1gi else {}
    facts |= {"cpu_governor": os.cpu_governor} if os.cpu_governor else {}
    return facts | ({"nofile": os.nofile} if os.nofile else {})


def pinned(packages: Mapping[str, str]) -> Found:
    """Return the facts of pinned packages: each has its version, and is held."""
    facts: Found = {f"package.{name}": version for name, version in packages.items()}
    return facts | {f"held.{name}": True for name in packages}


def _arguments(words: Iterable[str]) -> dict[str, str]:
    """Return words of the kernel's command line by name; one that comes twice has both values."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        name, equals, value = word.partition("=")
        values[name].append(value if equals else "set")
    return {name: ",".join(found) for name, found in values.items()}


def _clock(os: OsPlan) -> Found:
    facts: Found = {"timezone": os.timezone, "time_sync": "enabled"}
    facts |= {"clock_synchronized": True} if os.clock_synchronized else {}
    return facts | ({"clock_offset_ms": os.max_clock_offset_ms} if os.max_clock_offset_ms else {})


def _ports(plan: SitePlan, os: OsPlan, node: NodePlan) -> Found:
    facts: Found = {}
    for nic in node.nics:
        infiniband = nic.fabric in plan.fabrics and plan.fabrics[nic.fabric].kind == "infiniband"
        facts |= {f"mac.{nic.name}": nic.mac.lower()} if nic.mac and not infiniband else {}
        facts[f"mtu.{nic.name}"] = nic.mtu_bytes
        if nic.rail is not None and nic.address:
            facts[f"address.{nic.name}"] = nic.address
            facts |= _routed(nic, os) if nic.gateway else {}
    return facts | network_facts(node, host_side(plan, node.name))


def _routed(nic: NicPlan, os: OsPlan) -> Found:
    """What comes from a rail's address leaves by the rail, and a packet of its MTU gets as far as its gateway."""
    facts: Found = {f"route.{nic.name}": nic.gateway or ""}
    ipv4 = nic.gateway is not None and ":" not in nic.gateway
    return facts | ({f"path_mtu.{nic.name}": nic.mtu_bytes} if os.verify_path_mtu and ipv4 else {})


def _pci(os: OsPlan, node: NodePlan) -> Found:
    facts: Found = {"acs_redirect": os.pci.acs_redirect} if os.pci.acs_redirect else {}
    for nic in rails(node):
        if os.pci.max_read_request_bytes is not None:
            facts[f"max_read_request.{nic.name}"] = os.pci.max_read_request_bytes
        if os.pci.relaxed_ordering is not None:
            facts[f"relaxed_ordering.{nic.name}"] = os.pci.relaxed_ordering
    return facts


def rdma_facts(_plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    """Return what the `rdma` role makes true of a node."""
    rdma = pool.rdma
    if rdma is None:
        return {}
    facts: Found = {"memlock": rdma.memlock}
    facts |= {"rdma_netns": rdma.netns} if rdma.netns else {}
    for nic in rails(node):
        facts |= _rdma_port(rdma, nic)
    return facts | ({"roce_dscp": rdma.dscp} if rdma.dscp is not None else {})


def _rdma_port(rdma: RdmaPlan, nic: NicPlan) -> Found:
    facts: Found = {f"firmware_vfs.{nic.name}": rdma.firmware_vfs} if rdma.firmware_vfs else {}
    facts |= {f"vfs.{nic.name}": nic.vfs, f"rdma_device.{nic.name}": "active"}
    if rdma.mode == "roce" and nic.address and ":" not in nic.address:
        facts[f"gid.{nic.name}"] = nic.address.partition("/")[0]
    return facts | (_qos(rdma.priority, rdma.dscp, nic) if rdma.priority is not None else {})


def _qos(priority: int, dscp: int | None, nic: NicPlan) -> Found:
    facts: Found = {f"qos_trust.{nic.name}": "dscp", f"pfc.{nic.name}": str(priority), f"ecn.{nic.name}": str(priority)}
    return facts | {f"dscp_priority.{nic.name}.{dscp}": priority}


def gpu_facts(plan: SitePlan, pool: PoolPlan, node: NodePlan) -> Facts:
    """Return what the `gpu` role makes true of a node."""
    gpu = pool.gpu
    if gpu is None:
        return {}
    if gpu.vendor == AMD:
        return pinned(gpu.packages) | {"amd_gpu_count": gpu.count, "amd_driver": gpu.driver_floor}
    facts: Found = pinned(gpu.packages)
    facts |= {"gpu_count": gpu.count, "driver": gpu.driver_floor}
    facts |= _driver(gpu)
    facts |= {"persistence": gpu.persistence, "nouveau": "off"}
    facts |= {"ecc_uncorrected": gpu.max_uncorrected_ecc} if gpu.max_uncorrected_ecc is not None else {}
    facts |= {"imex_service": "active" if gpu.imex == "host" else "off"}
    facts |= {"imex_nodes": ",".join(domain(plan, node))} if gpu.imex == "host" else {}
    return facts | ({"fabric_state": gpu.fabric_state} if gpu.fabric_state else {})


def _driver(gpu: GpuPlan) -> Found:
    """Say which driver: an operator's must be the only one; a pinned one of the host's has a kernel that takes it."""
    if gpu.driver_owner == "operator":
        return {"driver_packages": "none"}
    if gpu.driver_version is None:
        return {}
    facts: Found = {"driver_pin": gpu.driver_version, "kernel_support": "ready"}
    return facts | ({"fabric_manager": FABRIC_MANAGER_MATCHES} if gpu.fabric_manager else {})


def domain(plan: SitePlan, node: NodePlan) -> tuple[str, ...]:
    """Return the management addresses of the nodes whose GPUs share a node's NVLink domain, itself among them."""
    members = [other for other in plan.nodes if other.nvlink_domain == node.nvlink_domain and other.nvlink_domain]
    return tuple(sorted(other.management_address.partition("/")[0] for other in members))
