"""The spec of what the site serves: model endpoints, and the autoscaler that owns how many replicas each has."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from coldaisle.spec.base import Name, SpecModel, refers_to
from coldaisle.spec.cluster import Release

Bytes = Annotated[int, Field(gt=0)]


class EngineSpec(SpecModel):
    """The inference engine: an image and its release."""

    image: str = "vllm/vllm-openai"
    version: Release
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """Pins the bytes of the image, where the registry gives one."""


class EndpointSpec(SpecModel):
    """One model behind one Service."""

    name: Name
    namespace: Name = "serving"
    model: str
    weights_bytes: Bytes
    load_bytes_per_s: Bytes
    """Rate at which a replica reads the weights: what the start-up probe is sized from."""
    warm_up_s: int = Field(default=120, ge=0)
    """What the engine does after it has read the weights: compilation, CUDA graphs."""
    engine: EngineSpec
    gpus_per_replica: int = Field(ge=1)
    shared_memory_bytes: Bytes
    max_model_len: int = Field(gt=0)
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    cpu: float = Field(default=4, gt=0)
    """Processor cores of a replica; a whole number gets cores of its own, beside its GPUs."""
    memory_bytes: Bytes = 34359738368
    """Memory of a replica, shared memory included."""
    replicas: int = Field(default=1, ge=1)
    """How many, where no autoscaler owns the endpoint."""
    rdma: bool = False
    """Give replicas RDMA devices; only replicas that span nodes need them."""
    drain_s: int = Field(default=120, ge=1)
    """How long requests may finish after a replica is asked to stop."""


class ServingSpec(SpecModel):
    """The model endpoints of the site."""

    endpoints: list[EndpointSpec] = Field(min_length=1)


class KedaSpec(SpecModel):
    """The release of KEDA, chart and images alike."""

    version: Release


class ScalingSpec(SpecModel):
    """How one endpoint scales: between two bounds, by the requests that wait at each replica."""

    min_replicas: int = Field(ge=0)
    max_replicas: int = Field(ge=1)
    waiting_per_replica: int = Field(ge=1)
    cooldown_s: int = Field(default=300, ge=0)
    """Calm before replicas are taken away."""
    polling_s: int = Field(default=30, ge=1)
    """Time between two looks at the queue."""
    metric: str | None = None
    """A queue metric of your own, such as a router's; left out, the engine's."""


class AutoscalingSpec(SpecModel):
    """KEDA, and the endpoints that it scales, by name."""

    keda: KedaSpec
    endpoints: dict[Annotated[str, refers_to("endpoint")], ScalingSpec]
