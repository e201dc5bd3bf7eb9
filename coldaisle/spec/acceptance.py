"""Limits of acceptance by system: what a good one reaches, and the document that says so."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coldaisle.spec.base import SystemRef
from coldaisle.spec.sourced import Positive, Sourced

METRICS = (
    "hpl_gflops", "host_to_device_gb_s", "device_to_host_gb_s", "device_to_device_gb_s", "all_reduce_node_gb_s",
    "all_reduce_rail_gb_s", "all_reduce_fabric_gb_s", "rdma_write_gbps", "disk_read_mb_s", "disk_write_mb_s",
    "gpu_temperature_c",
)  # fmt: skip
"""Figures that acceptance judges, in the order of its failure domains."""


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
