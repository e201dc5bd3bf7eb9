"""Acceptance: its limits by system, each with the document that says so, and when a pool is accepted by `up` itself."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from coldaisle.spec.base import SpecModel, SystemRef
from coldaisle.spec.sourced import Positive, Sourced

METRICS = (
    "hpl_gflops", "host_to_device_gb_s", "device_to_host_gb_s", "device_to_device_gb_s", "all_reduce_node_gb_s",
    "all_reduce_rail_gb_s", "all_reduce_fabric_gb_s", "rdma_write_gbps", "disk_read_mb_s", "disk_write_mb_s",
    "gpu_temperature_c",
)  # fmt: skip
"""Figures that acceptance judges, in the order of its failure domains."""

Phase = Literal["quick", "full", "soak"]
"""How long an acceptance takes: minutes, an hour, a day. Each has the tests of those before it, too."""

Domain = Literal["host", "pcie", "gpu", "nic", "storage", "runtime", "fabric"]
"""Failure domains in the order in which they are tested: what is cheap and local first, the fabric last."""

TestName = Literal[
    "memory-errors", "gpu-state", "gpu-list", "kernel-log", "dcgm-quick", "rdma-links", "neighbours", "container-gpus",
    "memory-load", "hpl", "host-copies", "copies", "dcgm-long", "peer-copies", "gpu-load", "gpu-stress",
    "all-reduce-node", "disk-read", "disk-write", "rdma-write", "all-reduce-rail", "all-reduce-rack", "all-reduce-pod",
    "memory-soak", "dcgm-extended", "heat-soak",
]  # fmt: skip
"""Names of tests (coldaisle.acceptance.suite has what each of them runs; a test holds the two together)."""


class AcceptanceSpec(SpecModel):
    """Acceptance as a part of `up`: a node of the pool takes no work before it is accepted."""

    phase: Phase = "quick"
    """How long it may take."""
    domains: list[Domain] = Field(default=list(get_args(Domain)), min_length=1)
    """Failure domains that are tested."""
    after_failures: Literal["repair", "ticket"] = "repair"
    """What becomes of a node that fails three times in a row: its journal says repair, or a ticket is opened."""


class AcceptanceLimits(Sourced):
    """
    What systems have to reach. A figure that no document gives is left out: it is then measured, and not judged.

    GB and MB are decimal. All-reduce figures are bus bandwidth as nccl-tests defines it, of 16 GiB: of all GPUs of a
    node, of one GPU a node on a rail, and of all GPUs of several nodes. `rdma_write_gbps` is one port to one port, and
    `gpu_temperature_c` the warmest that a GPU may become under load; all others are floors.
    """

    systems: Annotated[list[SystemRef], Field(min_length=1)]
    hpl_gflops: Positive | None = None
    host_to_device_gb_s: Positive | None = None
    device_to_host_gb_s: Positive | None = None
    device_to_device_gb_s: Positive | None = None
    all_reduce_node_gb_s: Positive | None = None
    all_reduce_rail_gb_s: Positive | None = None
    all_reduce_fabric_gb_s: Positive | None = None
    rdma_write_gbps: Positive | None = None
    disk_read_mb_s: Positive | None = None
    disk_write_mb_s: Positive | None = None
    gpu_temperature_c: Positive | None = None
