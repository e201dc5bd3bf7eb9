"""
Model endpoints as manifests: a Deployment, a Service and a disruption budget each.

Three rules shape them. Probes wait for the model: nothing may kill a replica that is still reading its weights (C32).
Replicas have one owner: where an autoscaler scales the endpoint, the manifest does not say how many (A8, C45). And
everything is asked for in whole: processors as integers and limits equal to requests, so that the kubelet can place a
replica's cores beside its GPUs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from coldaisle.plan.engines import VLLM_PORT
from coldaisle.plan.gpu_stack import rdma_resource
from coldaisle.plan.model import EndpointPlan

if TYPE_CHECKING:
    from coldaisle.spec import SiteSpec
    from coldaisle.spec.serving import EndpointSpec

PROBE_PERIOD_S = 10
LOAD_MARGIN = 2
"""Replicas that start together share the storage, so each may read at half of the rate."""

UNROUTE_S = 10
"""Time that a pod goes on serving after it was told to stop, while proxies drop it from the Service."""

_USER = 2000
"""Any user but root: the image runs as whoever it is started as, given a home that it can write to."""


def plan_endpoints(spec: SiteSpec) -> tuple[EndpointPlan, ...]:
    """Return the endpoints of a site, by name."""
    if spec.cluster is None or spec.serving is None:
        return ()
    scaled = frozenset(spec.autoscaling.endpoints) if spec.autoscaling else frozenset()
    device = rdma_resource(spec)
    endpoints = sorted(spec.serving.endpoints, key=lambda endpoint: endpoint.name)
    return tuple(_plan_endpoint(endpoint, device, scaled=endpoint.name in scaled) for endpoint in endpoints)


def startup_seconds(endpoint: EndpointSpec) -> int:
    """Return how long a replica may take until it answers: reading its weights, with a margin, and warming up."""
    read_s = math.ceil(endpoint.weights_bytes / endpoint.load_bytes_per_s)
    return LOAD_MARGIN * read_s + endpoint.warm_up_s


def _plan_endpoint(endpoint: EndpointSpec, rdma_device: str, *, scaled: bool) -> EndpointPlan:
    replicas = None if scaled else endpoint.replicas
    return EndpointPlan(
        name=endpoint.name,
        namespace=endpoint.namespace,
        model=endpoint.model,
        replicas=replicas,
        gpus_per_replica=endpoint.gpus_per_replica,
        startup_s=startup_seconds(endpoint),
        manifests={
            "Deployment": _deployment(endpoint, replicas, rdma_device),
            "Service": _service(endpoint),
            "PodDisruptionBudget": _disruption_budget(endpoint),
        },
    )


def _selector(endpoint: EndpointSpec) -> dict[str, str]:
    return {"app.kubernetes.io/name": endpoint.name, "app.kubernetes.io/component": "engine"}


def _metadata(endpoint: EndpointSpec) -> dict[str, Any]:
    labels = {**_selector(endpoint), "app.kubernetes.io/managed-by": "coldaisle"}
    return {"name": endpoint.name, "namespace": endpoint.namespace, "labels": labels}


def _deployment(endpoint: EndpointSpec, replicas: int | None, rdma_device: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "selector": {"matchLabels": _selector(endpoint)},
        # A new replica needs free GPUs; an update waits for them rather than serve with fewer.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "progressDeadlineSeconds": startup_seconds(endpoint) + 60,
        "template": {
            "metadata": {"labels": _selector(endpoint), "annotations": _scrape_annotations()},
            "spec": _pod(endpoint, rdma_device),
        },
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(endpoint), "spec": spec}


def _scrape_annotations() -> dict[str, str]:
    return {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(VLLM_PORT),
        "prometheus.io/path": "/metrics",
    }


def _pod(endpoint: EndpointSpec, rdma_device: str) -> dict[str, Any]:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # a Service named vllm would set VLLM_PORT, which the engine reads
        "terminationGracePeriodSeconds": endpoint.drain_s + UNROUTE_S,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": _selector(endpoint)},
            }
        ],
        "containers": [_container(endpoint, rdma_device)],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": str(endpoint.shared_memory_bytes)}},
            {"name": "cache", "emptyDir": {}},
        ],
    }


def _container(endpoint: EndpointSpec, rdma_device: str) -> dict[str, Any]:
    capabilities = {"drop": ["ALL"]} | ({"add": ["IPC_LOCK"]} if endpoint.rdma else {})
    return {
        "name": "engine",
        "image": _image(endpoint),
        "args": _arguments(endpoint),
        "env": _environment(endpoint),
        "ports": [{"name": "http", "containerPort": VLLM_PORT}],
        "resources": _resources(endpoint, rdma_device),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": capabilities},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "cache", "mountPath": "/cache"}],  # noqa: S108
        "lifecycle": {"preStop": {"sleep": {"seconds": UNROUTE_S}}},
        **_probes(endpoint),
    }


def _image(endpoint: EndpointSpec) -> str:
    engine = endpoint.engine
    return f"{engine.image}:{engine.version}" + (f"@{engine.digest}" if engine.digest else "")


def _arguments(endpoint: EndpointSpec) -> list[str]:
    return [
        f"--model={endpoint.model}",
        f"--tensor-parallel-size={endpoint.gpus_per_replica}",
        f"--max-model-len={endpoint.max_model_len}",
        f"--gpu-memory-utilization={endpoint.gpu_memory_utilization}",
        f"--port={VLLM_PORT}",
    ]


def _environment(endpoint: EndpointSpec) -> list[dict[str, str]]:
    values = {
        "HOME": "/cache",
        "USER": "vllm",  # the user id has no name in the image, and compilers ask for one
        "HF_HOME": "/cache/huggingface",
        "VLLM_NO_USAGE_STATS": "1",
    }
    if endpoint.rdma:
        # Without its device NCCL falls back to TCP without a word (C30); so forced, it stops instead. The GID index is
        # left to NCCL: it differs from pod to pod (C28).
        values["NCCL_NET"] = "IB"
    return [{"name": name, "value": value} for name, value in values.items()]


def _resources(endpoint: EndpointSpec, rdma_device: str) -> dict[str, Any]:
    amounts = {
        "cpu": f"{endpoint.cpu:g}",
        "memory": str(endpoint.memory_bytes),
        "nvidia.com/gpu": str(endpoint.gpus_per_replica),
    }
    if endpoint.rdma:
        amounts[rdma_device] = str(endpoint.gpus_per_replica)
    return {"requests": amounts, "limits": amounts}


def _probes(endpoint: EndpointSpec) -> dict[str, Any]:
    """Return the probes: liveness and readiness begin once the start-up probe has passed."""
    health = {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": PROBE_PERIOD_S, "timeoutSeconds": 5}
    attempts = math.ceil(startup_seconds(endpoint) / PROBE_PERIOD_S)
    return {
        "startupProbe": {**health, "failureThreshold": attempts},
        "readinessProbe": {**health, "failureThreshold": 1},
        "livenessProbe": {**health, "failureThreshold": 3},
    }


def _service(endpoint: EndpointSpec) -> dict[str, Any]:
    ports = [{"name": "http", "port": VLLM_PORT, "targetPort": "http"}]
    spec = {"type": "ClusterIP", "selector": _selector(endpoint), "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(endpoint), "spec": spec}


def _disruption_budget(endpoint: EndpointSpec) -> dict[str, Any]:
    """
    Return the budget: one replica may go at a time, whatever their number.

    `minAvailable` would have to follow the autoscaler, and at one replica it would block the drain of a node for ever,
    which driver upgrades wait for (C50).
    """
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": _selector(endpoint)}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(endpoint),
        "spec": spec,
    }
