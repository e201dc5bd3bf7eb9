"""The cluster of a plan: its networks, releases, endpoints and autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """A Helm release. `repository` is the chart mirror of the site."""

    name: str
    namespace: str
    chart: str
    version: str
    repository: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePlan:
    """A namespace with its pod security level."""

    name: str
    pod_security: Literal["privileged", "baseline", "restricted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """
    The Kubernetes cluster of the site.

    `kubeconfig` and `bootstrap_token` say where a secret is read from, as `BmcPlan.credentials` does.
    """

    name: str
    version: str
    api_server: str
    ca_file: str
    kubeconfig: str
    bootstrap_token: str
    pod_cidr: str
    service_cidr: str
    cluster_dns: str
    max_pods: int
    topology_manager_policy: str
    pod_network: str
    kubelet_serving: str
    sandbox_image: str | None
    namespaces: tuple[NamespacePlan, ...]
    prometheus_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuStackPlan:
    """The operators that make GPUs and RDMA devices allocatable: releases, and their custom resources as manifests."""

    releases: tuple[ReleasePlan, ...]
    resources: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPlan:
    """A model endpoint: its manifests by kind (Deployment, Service, PodDisruptionBudget), ready to be applied."""

    name: str
    namespace: str
    model: str
    replicas: int | None
    gpus_per_replica: int
    startup_s: int
    manifests: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerPlan:
    """KEDA as a release, and one ScaledObject an endpoint, as manifests by endpoint name."""

    release: ReleasePlan
    scaled_objects: Mapping[str, Mapping[str, Any]]
