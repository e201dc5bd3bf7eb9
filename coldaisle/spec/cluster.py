"""
The spec of the Kubernetes layer: the cluster that nodes join, and the operators that make GPUs and RDMA allocatable.

Secrets are named here, never written: the kubeconfig and the bootstrap token are references to files.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from coldaisle.spec.base import Address, Name, SpecModel, Subnet

Release = Annotated[str, StringConstraints(pattern=r"^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.-]+)?$")]
"""A full version: one that names only a minor version would move by itself."""

FileReference = Annotated[str, StringConstraints(pattern=r"^file:.+$")]
"""Where a secret is read from when it is used. The path may start with `~`."""

HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/]+(/\S*)?$")]


class ClusterSpec(SpecModel):
    """The cluster that nodes join. Its control plane is there before the nodes are."""

    name: Name
    version: Release
    api_server: Annotated[str, StringConstraints(pattern=r"^https://\S+$")]
    ca_file: str
    """Certificate of the cluster's authority, as nodes and Pulumi read it."""
    kubeconfig: FileReference
    bootstrap_token: FileReference
    pod_cidr: Subnet
    service_cidr: Subnet
    cluster_dns: Address
    max_pods: int = Field(default=110, ge=1, le=1000)
    """Pods a node; 110 is the kubelet's own default."""
    topology_manager_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] = "single-numa-node"
    pod_network: Literal["external", "bridge"] = "external"
    """Who connects pods: what the cluster's owner installs, or a bridge a node, routed, without a tunnel or NAT."""
    kubelet_serving: Literal["self-signed", "signed"] = "self-signed"
    """Certificate that kubelets answer the API server with: one of their own, or one that this project approves."""
    sandbox_image: str | None = None
    """Image that holds a pod's network open; left out, the runtime's own choice, which lies in a public registry."""
    chart_mirror: HttpUrl
    """Helm repository that every release comes from."""
    prometheus_url: HttpUrl | None = None
    """Where autoscalers read the engines' queues."""


class GpuOperatorSpec(SpecModel):
    """The NVIDIA GPU Operator."""

    version: Release
    driver: Literal["host", "operator"] = "host"
    """Who installs the driver: the host's image and playbooks, or the operator. Never both."""
    driver_version: str | None = Field(default=None, pattern=r"^\d+(\.\d+)+$")
    """Pinned when the operator installs the driver; left out, the operator's own default moves with its release."""
    mig_strategy: Literal["none", "single", "mixed"] = "none"
    service_monitor: bool = False
    """Scrape dcgm-exporter by a ServiceMonitor; needs the Prometheus operator's kinds in the cluster."""


class NetworkOperatorSpec(SpecModel):
    """The NVIDIA Network Operator. NIC drivers stay the host's: a reload would cut nodes off their management path."""

    version: Release
    image_repository: str = "nvcr.io/nvidia/mellanox"


class GpuStackSpec(SpecModel):
    """The operators that make GPUs and RDMA devices allocatable."""

    gpu_operator: GpuOperatorSpec
    network_operator: NetworkOperatorSpec | None = None
