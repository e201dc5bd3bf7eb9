"""
The operators that make GPUs and RDMA devices allocatable, as Helm releases and the custom resources beside them.

Who owns which object: the GPU Operator's chart renders its ClusterPolicy from values, so the values are the only place
to say something (C6). The Network Operator's chart renders none when told so, and NicClusterPolicy is ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from coldaisle.plan.cluster import GPU_OPERATOR_NAMESPACE, NETWORK_OPERATOR_NAMESPACE
from coldaisle.plan.model import GpuStackPlan, ReleasePlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.spec import SiteSpec
    from coldaisle.spec.cluster import GpuOperatorSpec, NetworkOperatorSpec
    from coldaisle.spec.node_pools import PoolSpec

MELLANOX_VENDOR = "15b3"
"""PCI vendor of the NICs that the Network Operator serves."""

NVIDIA, GPU_RESOURCE = "NVIDIA", "nvidia.com/gpu"
"""A vendor as the catalog has it, and what its device plugin offers whole GPUs as."""

RDMA_VF_RESOURCE = "rdma_vf"
RDMA_SHARED_RESOURCE = "rdma_shared"
RDMA_PODS_PER_PORT = 63
"""How many pods may share a port without virtual functions; the figure of NVIDIA's own example."""

_ANY_NODE = [{"operator": "Exists", "effect": "NoSchedule"}]


def plan_gpu_stack(spec: SiteSpec) -> GpuStackPlan | None:
    """Return releases and custom resources, or None where the site has no GPU section or no cluster."""
    if spec.cluster is None or spec.gpu is None:
        return None
    mirror = spec.cluster.chart_mirror
    releases = [_gpu_operator(spec.gpu.gpu_operator, mirror, rdma=bool(rdma_modes(spec)))]
    resources: list[Mapping[str, Any]] = []
    if spec.gpu.network_operator is not None:
        releases.insert(0, _network_operator(spec.gpu.network_operator, mirror))
        resources += [_nic_cluster_policy(spec, spec.gpu.network_operator)] if rdma_modes(spec) else []
    return GpuStackPlan(releases=tuple(releases), resources=tuple(resources))


def rdma_modes(spec: SiteSpec) -> frozenset[str]:
    """Return the kinds of RDMA that the pools of the site use."""
    return frozenset(pool.rdma.mode for pool in spec.node_pools.values() if pool.rdma)


def rdma_resource(spec: SiteSpec) -> str:
    """Return the extended resource that a pod asks for to get an RDMA device."""
    return f"nvidia.com/{RDMA_VF_RESOURCE}" if _has_vfs(spec) else f"rdma/{RDMA_SHARED_RESOURCE}"


def offered(spec: SiteSpec, pool: PoolSpec) -> dict[str, int]:
    """
    Return the extended resources, with the least number of each, that a node of a pool offers beside the operators.

    All GPUs, where none is divided (MIG): then some are parts. Of RDMA devices one, since the plugins count pods that
    may share a port, or virtual functions of one vendor; that every function is there is held on the host.
    """
    if spec.cluster is None or spec.gpu is None:
        return {}
    found = {}
    gpus = spec.catalog.systems[pool.system].gpus
    if gpus and spec.catalog.gpus[gpus.model].vendor == NVIDIA and spec.gpu.gpu_operator.mig_strategy == "none":
        found[GPU_RESOURCE] = gpus.count
    if pool.rdma and spec.gpu.network_operator and (pool.rdma.vfs_per_port > 0 or not _has_vfs(spec)):
        found[rdma_resource(spec)] = 1
    return found


def _has_vfs(spec: SiteSpec) -> bool:
    return any(pool.rdma.vfs_per_port > 0 for pool in spec.node_pools.values() if pool.rdma)


def _gpu_operator(operator: GpuOperatorSpec, mirror: str, *, rdma: bool) -> ReleasePlan:
    values = {
        "operator": {"upgradeCRD": True},  # Helm itself never upgrades crds/
        "nfd": {"enabled": True},  # the one Node Feature Discovery of the cluster
        "daemonsets": {"tolerations": _ANY_NODE},  # a taint that keeps work away must not hide a node's GPUs
        "driver": _driver_values(operator, rdma=rdma),
        "toolkit": {"enabled": True},
        "cdi": {"enabled": True},  # devices survive a daemon-reload of systemd (C17)
        "mig": {"strategy": operator.mig_strategy},
        "devicePlugin": {"enabled": True},
        "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": operator.service_monitor}},
    }
    return ReleasePlan(
        name="gpu-operator",
        namespace=GPU_OPERATOR_NAMESPACE,
        chart="gpu-operator",
        version=operator.version,
        repository=mirror,
        values=values,
    )


def _driver_values(operator: GpuOperatorSpec, *, rdma: bool) -> dict[str, Any]:
    if operator.driver == "host":
        return {"enabled": False}
    values: dict[str, Any] = {
        "enabled": True,
        "kernelModuleType": "auto",
        # Upgrades go through the operator's own upgrade of a node at a time (C6).
        "upgradePolicy": {"autoUpgrade": True, "maxParallelUpgrades": 1},
    }
    if rdma:
        values["rdma"] = {"enabled": True, "useHostMofed": True}
    return values | ({"version": operator.driver_version} if operator.driver_version else {})


def _network_operator(operator: NetworkOperatorSpec, mirror: str) -> ReleasePlan:
    values = {
        "upgradeCRDs": True,
        "nfd": {"enabled": False},  # the GPU Operator brings it; two would fight over labels
        "sriovNetworkOperator": {"enabled": False},  # virtual functions are made on the host, before the node joins
        "deployCR": False,  # NicClusterPolicy is a resource of the stack
    }
    return ReleasePlan(
        name="network-operator",
        namespace=NETWORK_OPERATOR_NAMESPACE,
        chart="network-operator",
        version=operator.version,
        repository=mirror,
        values=values,
    )


def _nic_cluster_policy(spec: SiteSpec, operator: NetworkOperatorSpec) -> dict[str, Any]:
    """
    Return the NicClusterPolicy. It has no `ofedDriver`: a reload of it would cut nodes off their network (G12).

    Images and their tags follow the operator's release: docs.nvidia.com, kubernetes2641, "NicClusterPolicy Custom
    Resource Example".
    """
    policy: dict[str, Any] = {}
    if _has_vfs(spec):
        policy["sriovDevicePlugin"] = _image(operator, "sriov-network-device-plugin") | {"config": _vf_config()}
        policy["secondaryNetwork"] = {
            "multus": _image(operator, "multus-cni"),
            "cniPlugins": _image(operator, "plugins"),
        }
    else:
        shared = _image(operator, "k8s-rdma-shared-dev-plugin")
        policy["rdmaSharedDevicePlugin"] = shared | {"config": _shared_config(spec)}
    return {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},
        "spec": {"tolerations": _ANY_NODE, **policy},
    }


def _image(operator: NetworkOperatorSpec, name: str) -> dict[str, str]:
    version = f"network-operator-v{operator.version.removeprefix('v')}"
    return {"image": name, "repository": operator.image_repository, "version": version}


def _vf_config() -> str:
    selectors = {"vendors": [MELLANOX_VENDOR], "isRdma": True}
    resource = {"resourcePrefix": "nvidia.com", "resourceName": RDMA_VF_RESOURCE, "selectors": selectors}
    return json.dumps({"resourceList": [resource]}, sort_keys=True)


def _shared_config(spec: SiteSpec) -> str:
    link_types = sorted({"infiniband" if mode == "infiniband" else "ether" for mode in rdma_modes(spec)})
    selectors = {"vendors": [MELLANOX_VENDOR], "linkTypes": link_types}
    resource = {"resourceName": RDMA_SHARED_RESOURCE, "rdmaHcaMax": RDMA_PODS_PER_PORT, "selectors": selectors}
    return json.dumps({"configList": [resource]}, sort_keys=True)
