"""
Checks of the cluster, the GPU stack, endpoints and autoscaling: mistakes that otherwise show as silence.

A queue that nobody reports, two owners of one number, a replica that fits no node: each applies cleanly and then does
nothing. So they are looked for before anything is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_address, ip_interface, ip_network
from typing import TYPE_CHECKING

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.engines import VLLM_IMAGE, VLLM_METRICS, VLLM_QUEUE, right_metric, version_numbers
from coldaisle.plan.gpu_stack import GPU_RESOURCE, rdma_modes

if TYPE_CHECKING:
    from coldaisle.plan.model import NodePlan, SitePlan
    from coldaisle.spec import SiteSpec
    from coldaisle.spec.serving import EndpointSpec, ScalingSpec

_OFFERED_BY_MIG = {"single": "parts of GPUs, as if each were whole", "mixed": "only the GPUs that are not divided"}
"""What NVIDIA's device plugin counts by its MIG strategy: docs.nvidia.com, "MIG Support in Kubernetes"."""

Check = Callable[["SiteSpec", "SitePlan"], Iterator[Finding]]


def _scaled(spec: SiteSpec) -> Iterator[tuple[str, ScalingSpec]]:
    yield from sorted(spec.autoscaling.endpoints.items()) if spec.autoscaling else ()


def _endpoints(spec: SiteSpec) -> Iterator[tuple[int, EndpointSpec]]:
    yield from enumerate(spec.serving.endpoints) if spec.serving else ()


def check_scale_from_zero(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """With no replica left, nobody reports the queue that would bring one back (A1, A2, C35)."""
    for name, scaling in _scaled(spec):
        if scaling.min_replicas == 0:
            yield finding(
                spec,
                ("autoscaling", "endpoints", name, "min_replicas"),
                "scale-from-zero",
                what=f"endpoint {name} may scale to zero, and nothing would wake it",
                have="min_replicas 0: no replica reports a queue then, and KEDA's fallback does not lift it from zero",
                fix="set min_replicas to 1 or more",
            )


def check_bounds(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """An upper bound below the lower one is refused by the API, but only when it is applied."""
    for name, scaling in _scaled(spec):
        if scaling.min_replicas > scaling.max_replicas:
            yield finding(
                spec,
                ("autoscaling", "endpoints", name, "max_replicas"),
                "bad-bounds",
                what=f"endpoint {name} needs {scaling.min_replicas} replicas and may have {scaling.max_replicas}",
                have=f"min_replicas {scaling.min_replicas}, max_replicas {scaling.max_replicas}",
                fix=f"raise max_replicas to {scaling.min_replicas} or more",
            )


def check_queue_metric(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """A metric that the engine does not export in this release gives no signal, silently (A4, C37)."""
    engines = {endpoint.name: endpoint.engine for _, endpoint in _endpoints(spec)}
    for name, scaling in _scaled(spec):
        metric, engine = scaling.metric, engines.get(name)
        if metric is None or engine is None or engine.image.split("/")[-2:] != VLLM_IMAGE.split("/"):
            continue
        right = right_metric(metric, engine.version)
        if right or (metric.startswith("vllm:") and metric not in VLLM_METRICS):
            yield finding(
                spec,
                ("autoscaling", "endpoints", name, "metric"),
                "unknown-metric",
                what=f"{engine.image} {engine.version} exports no {metric}",
                have=f"metric {metric}",
                fix=f"write {right or VLLM_QUEUE}, or leave metric out",
            )


def check_prometheus(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """KEDA's Prometheus trigger without an address is accepted, and stays Unknown (A7)."""
    if spec.autoscaling and spec.cluster and spec.cluster.prometheus_url is None:
        yield finding(
            spec,
            ("cluster", "prometheus_url"),
            "no-prometheus",
            what="autoscaling reads queues from Prometheus, and the site names none",
            have=f"endpoints to scale: {', '.join(sorted(spec.autoscaling.endpoints))}",
            fix="set cluster.prometheus_url to where KEDA reaches Prometheus",
        )


def check_one_owner_of_replicas(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Two owners of a number of replicas fight over it, or refuse to be applied (A8, C45)."""
    scaled = {name for name, _ in _scaled(spec)}
    planned = {endpoint.name: endpoint.manifests["Deployment"]["spec"] for endpoint in plan.endpoints}
    for index, endpoint in _endpoints(spec):
        written = "replicas" in endpoint.model_fields_set or "replicas" in planned.get(endpoint.name, {})
        if endpoint.name in scaled and written:
            yield finding(
                spec,
                ("serving", "endpoints", index, "replicas"),
                "two-owners-of-replicas",
                what=f"endpoint {endpoint.name} has a fixed number of replicas and an autoscaler",
                have=f"replicas {endpoint.replicas}, and autoscaling.endpoints[{endpoint.name}]",
                fix="remove replicas; min_replicas says how few there may be",
            )


def check_replica_fits_a_node(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A replica with more GPUs than any serving node has stays Pending for ever."""
    largest = max((node.gpus for node in _serving_nodes(plan)), default=0)
    for index, endpoint in _endpoints(spec):
        if endpoint.gpus_per_replica > largest:
            yield finding(
                spec,
                ("serving", "endpoints", index, "gpus_per_replica"),
                "replica-fits-no-node",
                what=f"a replica of {endpoint.name} needs {endpoint.gpus_per_replica} GPUs on one node",
                have=f"the largest node of a serving pool has {largest}",
                fix=f"lower gpus_per_replica to {largest}, or add a serving pool" if largest else "add a serving pool",
            )


def check_gpus_for_all_replicas(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Counts replicas node by node, since GPUs left over on two nodes do not make one replica."""
    scaling = dict(_scaled(spec))
    for index, endpoint in _endpoints(spec):
        bounds = scaling.get(endpoint.name)
        wanted = bounds.max_replicas if bounds else endpoint.replicas
        room = sum(node.gpus // endpoint.gpus_per_replica for node in _serving_nodes(plan))
        if 0 < room < wanted:
            scaled_loc = ("autoscaling", "endpoints", endpoint.name, "max_replicas")
            yield finding(
                spec,
                scaled_loc if bounds else ("serving", "endpoints", index, "replicas"),
                "not-enough-gpus",
                what=f"endpoint {endpoint.name} may have {wanted} replicas, and the serving pools hold {room}",
                have=f"{endpoint.gpus_per_replica} GPUs a replica",
                fix=f"lower it to {room}, or add serving nodes",
                severity="warning" if bounds and bounds.min_replicas <= room else "error",
            )


def check_whole_gpus(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """Endpoints ask for whole GPUs, and every GPU is counted as one: what MIG divides is not there for them (G1)."""
    strategy = spec.gpu.gpu_operator.mig_strategy if spec.gpu else "none"
    asking = [endpoint.name for _index, endpoint in _endpoints(spec)]
    if strategy != "none" and asking:
        yield finding(
            spec,
            ("gpu", "gpu_operator", "mig_strategy"),
            "gpus-may-be-divided",
            what=f"endpoint {asking[0]} asks for whole GPUs, and MIG may have divided some of those that are counted",
            have=f"mig_strategy {strategy}; {GPU_RESOURCE} then has {_OFFERED_BY_MIG[strategy]}",
            fix="set mig_strategy to none, or keep the label nvidia.com/mig.config of serving nodes at all-disabled",
            severity="warning",
        )


def _serving_nodes(plan: SitePlan) -> list[NodePlan]:
    serving = {pool.name for pool in plan.pools if pool.role == "serving"}
    return [node for node in plan.nodes if node.pool in serving]


def check_shared_memory(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """Shared memory counts against a container's limit, so that an engine which fills it is killed."""
    for index, endpoint in _endpoints(spec):
        if endpoint.shared_memory_bytes >= endpoint.memory_bytes:
            yield finding(
                spec,
                ("serving", "endpoints", index, "shared_memory_bytes"),
                "shared-memory-over-memory",
                what=f"endpoint {endpoint.name} may fill all its memory with shared memory",
                have=f"shared_memory_bytes {endpoint.shared_memory_bytes}, memory_bytes {endpoint.memory_bytes}",
                fix="raise memory_bytes above shared_memory_bytes",
            )


def check_cluster_networks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Pods, Services and nodes need networks of their own (K10)."""
    cluster = spec.cluster
    if cluster is None:
        return
    pods, services = ip_network(cluster.pod_cidr), ip_network(cluster.service_cidr)
    if pods.overlaps(services):
        yield finding(
            spec,
            ("cluster", "service_cidr"),
            "overlapping-networks",
            what=f"Services ({services}) and pods ({pods}) overlap",
            have=f"pod_cidr {pods}, service_cidr {services}",
            fix="give them networks that do not touch",
        )
    if ip_address(cluster.cluster_dns) not in services:
        yield finding(
            spec,
            ("cluster", "cluster_dns"),
            "dns-outside-services",
            what=f"cluster_dns {cluster.cluster_dns} is no Service address",
            have=f"service_cidr {services}",
            fix=f"take an address of it, such as {services[10]}",
        )
    for field, network in (("pod_cidr", pods), ("service_cidr", services)):
        inside = [node.name for node in plan.nodes if ip_interface(node.management_address).ip in network]
        if inside:
            yield finding(
                spec,
                ("cluster", field),
                "overlapping-networks",
                what=f"{field} {network} holds the management address of {len(inside)} nodes",
                have=f"the first is {inside[0]}",
                fix="take a network that no node has an address in",
            )


def check_operator_release(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """GPU Operator 26.3.0 to 26.3.2 puts every RDMA device into every GPU pod (C10)."""
    operator = spec.gpu.gpu_operator if spec.gpu else None
    if operator and rdma_modes(spec) and (26, 3, 0) <= version_numbers(operator.version) <= (26, 3, 2):
        yield finding(
            spec,
            ("gpu", "gpu_operator", "version"),
            "operator-release",
            what=f"GPU Operator {operator.version} gives every GPU pod all RDMA devices",
            have=f"pools with RDMA: {', '.join(sorted(n for n, pool in spec.node_pools.items() if pool.rdma))}",
            fix="take v26.3.3 or newer",
        )


def check_driver_version(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """A driver that the operator installs must reach the floor of every pool (G10)."""
    operator = spec.gpu.gpu_operator if spec.gpu else None
    if operator is None or operator.driver != "operator" or operator.driver_version is None:
        return
    for name, pool in sorted(spec.node_pools.items()):
        if pool.gpu and version_numbers(operator.driver_version) < version_numbers(pool.gpu.driver_floor):
            yield finding(
                spec,
                ("gpu", "gpu_operator", "driver_version"),
                "driver-below-floor",
                what=f"pool {name} needs driver {pool.gpu.driver_floor} or newer",
                have=f"the operator installs {operator.driver_version}",
                fix=f"raise driver_version to {pool.gpu.driver_floor}",
            )


SERVING_CHECKS: tuple[Check, ...] = (
    check_cluster_networks,
    check_operator_release,
    check_driver_version,
    check_replica_fits_a_node,
    check_gpus_for_all_replicas,
    check_whole_gpus,
    check_shared_memory,
    check_one_owner_of_replicas,
    check_bounds,
    check_scale_from_zero,
    check_queue_metric,
    check_prometheus,
)
"""Every check of this layer; none is skipped."""
