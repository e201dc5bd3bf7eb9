"""
KEDA, and a ScaledObject for each endpoint that it scales, on the queue that the engine reports.

A missing series must look like a fault, not like an empty queue: nulls are not ignored, and the fallback keeps what
runs (A2, C35). KEDA is the only owner of the number of replicas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.plan.cluster import KEDA_NAMESPACE
from coldaisle.plan.engines import VLLM_QUEUE
from coldaisle.plan.model import AutoscalerPlan, ReleasePlan

if TYPE_CHECKING:
    from coldaisle.plan.model import EndpointPlan
    from coldaisle.spec import SiteSpec
    from coldaisle.spec.serving import ScalingSpec

SCALE_UP_PERIOD_S = 15
FAILURES_BEFORE_FALLBACK = 3


def plan_autoscaler(spec: SiteSpec, endpoints: tuple[EndpointPlan, ...]) -> AutoscalerPlan | None:
    """Return KEDA's release and the ScaledObjects, or None where nothing is scaled."""
    if spec.cluster is None or spec.autoscaling is None:
        return None
    release = ReleasePlan(
        name="keda",
        namespace=KEDA_NAMESPACE,
        chart="keda",
        version=spec.autoscaling.keda.version,
        repository=spec.cluster.chart_mirror,
        values={"crds": {"install": True}},
    )
    scaling = spec.autoscaling.endpoints
    objects = {
        endpoint.name: _scaled_object(endpoint, scaling[endpoint.name], spec.cluster.prometheus_url)
        for endpoint in endpoints
        if endpoint.name in scaling
    }
    return AutoscalerPlan(release=release, scaled_objects=objects)


def _scaled_object(endpoint: EndpointPlan, scaling: ScalingSpec, prometheus_url: str | None) -> dict[str, Any]:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": endpoint.name, "namespace": endpoint.namespace},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": endpoint.name},
            "minReplicaCount": scaling.min_replicas,
            "maxReplicaCount": scaling.max_replicas,
            "pollingInterval": scaling.polling_s,
            "cooldownPeriod": scaling.cooldown_s,
            "fallback": {
                "failureThreshold": FAILURES_BEFORE_FALLBACK,
                "replicas": max(1, scaling.min_replicas),
                "behavior": "currentReplicasIfHigher",
            },
            "advanced": {
                "horizontalPodAutoscalerConfig": {"behavior": _behavior(scaling)},
            },
            "triggers": [_queue_trigger(endpoint, scaling, prometheus_url)],
        },
    }


def _behavior(scaling: ScalingSpec) -> dict[str, Any]:
    """Return how fast replicas come and go: twice as many each period when work waits, one less after a calm."""
    up = {"type": "Percent", "value": 100, "periodSeconds": SCALE_UP_PERIOD_S}
    down = {"type": "Pods", "value": 1, "periodSeconds": max(SCALE_UP_PERIOD_S, scaling.polling_s)}
    return {
        "scaleUp": {"stabilizationWindowSeconds": 0, "policies": [up]},
        "scaleDown": {"stabilizationWindowSeconds": scaling.cooldown_s, "policies": [down]},
    }


def _queue_trigger(endpoint: EndpointPlan, scaling: ScalingSpec, prometheus_url: str | None) -> dict[str, Any]:
    metric = scaling.metric or VLLM_QUEUE
    metadata = {
        "query": f'sum({metric}{{model_name="{endpoint.model}"}})',
        "threshold": str(scaling.waiting_per_replica),
        "ignoreNullValues": "false",
    }
    if prometheus_url is not None:
        metadata["serverAddress"] = prometheus_url
    return {"type": "prometheus", "name": "queue", "metricType": "AverageValue", "metadata": metadata}
