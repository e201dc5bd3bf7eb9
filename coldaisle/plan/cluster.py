"""The cluster that nodes join: its addresses, and the namespaces with the pod security that their pods need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldaisle.plan.model import ClusterPlan, NamespacePlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldaisle.plan.model import NodePlan
    from coldaisle.spec import SiteSpec

GPU_OPERATOR_NAMESPACE = "gpu-operator"
NETWORK_OPERATOR_NAMESPACE = "network-operator"
KEDA_NAMESPACE = "keda"


def plan_cluster(spec: SiteSpec, nodes: tuple[NodePlan, ...]) -> ClusterPlan | None:
    """Return the cluster of a site with every namespace that its layers use, or None where there is no cluster."""
    cluster = spec.cluster
    if cluster is None or not nodes:
        return None
    return ClusterPlan(
        name=cluster.name,
        version=cluster.version,
        api_server=cluster.api_server,
        ca_file=cluster.ca_file,
        kubeconfig=cluster.kubeconfig,
        bootstrap_token=cluster.bootstrap_token,
        pod_cidr=cluster.pod_cidr,
        service_cidr=cluster.service_cidr,
        cluster_dns=cluster.cluster_dns,
        max_pods=cluster.max_pods,
        topology_manager_policy=cluster.topology_manager_policy,
        pod_network=cluster.pod_network,
        kubelet_serving=cluster.kubelet_serving,
        sandbox_image=cluster.sandbox_image,
        namespaces=tuple(sorted(_namespaces(spec), key=lambda namespace: namespace.name)),
        prometheus_url=cluster.prometheus_url,
    )


def _namespaces(spec: SiteSpec) -> Iterator[NamespacePlan]:
    # Operators of GPUs and NICs load kernel modules and mount the host: nothing less than privileged lets them.
    if spec.gpu is not None:
        yield NamespacePlan(name=GPU_OPERATOR_NAMESPACE, pod_security="privileged")
        if spec.gpu.network_operator is not None:
            yield NamespacePlan(name=NETWORK_OPERATOR_NAMESPACE, pod_security="privileged")
    if spec.autoscaling is not None:
        yield NamespacePlan(name=KEDA_NAMESPACE, pod_security="restricted")
    endpoints = spec.serving.endpoints if spec.serving else []
    for name in {endpoint.namespace for endpoint in endpoints}:
        with_rdma = any(endpoint.rdma for endpoint in endpoints if endpoint.namespace == name)
        yield NamespacePlan(name=name, pod_security=_serving_level(with_rdma=with_rdma))


def _serving_level(*, with_rdma: bool) -> Literal["privileged", "restricted"]:
    """
    Return the level that engines need.

    An engine on one node needs nothing special: it runs as a user, and its shared memory is a volume. RDMA needs
    IPC_LOCK to pin memory, which `baseline` forbids too (Pod Security Standards, Capabilities), so that only
    `privileged` is left.
    """
    return "privileged" if with_rdma else "restricted"
