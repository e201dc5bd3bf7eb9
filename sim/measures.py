"""
What the parts of a simulated node say of themselves beside their names and serials: rates, temperatures, neighbours.

The figures are ours. They stand for a machine in order, so that a fault is what changes one of them; none is a claim on
how fast hardware is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.plan.model import NodePlan, SitePlan

HOST_GB_S = 55.0
PEER_GB_S = 372.0
ALL_REDUCE_GB_S = 480.0
DISK_MB_S = 3200.0
HPL_GFLOPS = 12_000.0
IDLE_C, LOAD_C, TOO_HOT_C = 31, 66, 94
PCIE_LANES = 16
LINE_SHARE = 0.97
"""Part of a port's rate that a transfer reaches."""

Record = dict[str, Any]
Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Laid:
    """Where the cable of a port leads to, and the rate of it."""

    device: str
    port: str
    gbps: float


Cables = Mapping[str, Mapping[str, Laid]]
"""By device and its port."""


def gpu_parts() -> Record:
    """Return what a GPU in order says of itself."""
    return {
        "pcie_lanes": PCIE_LANES,
        "temperature_c": IDLE_C,
        "load_temperature_c": LOAD_C,
        "host_gb_s": HOST_GB_S,
        "peer_gb_s": PEER_GB_S,
    }


def node_parts(node: NodePlan, cables: Cables) -> Record:
    """Return what the other parts of a node in order say of themselves."""
    own = cables.get(node.name, {})
    rails = [nic.name for nic in node.nics if nic.rail is not None and nic.gpu is not None and nic.name in own]
    return {
        "host": node.name,
        "address": node.management_address.split("/")[0],
        "rails": {name: {"device": f"mlx5_{at}", "gbps": LINE_SHARE * own[name].gbps} for at, name in enumerate(rails)},
        "neighbours": {port: [laid.device, laid.port] for port, laid in own.items()},
        "network": "IB/0/GDRDMA",
        "full_peer_gb_s": PEER_GB_S,
        "all_reduce_gb_s": ALL_REDUCE_GB_S,
        "disk_mb_s": DISK_MB_S,
        "hpl_gflops": HPL_GFLOPS,
    }


def planned_cables(plan: SitePlan) -> dict[str, dict[str, Laid]]:
    """Return where every cable of a plan leads to, from both of its ends."""
    found: dict[str, dict[str, Laid]] = {}
    for cable in (cable for fabric in plan.fabrics.values() for cable in fabric.cables):
        for own, other in ((cable.a, cable.b), (cable.b, cable.a)):
            found.setdefault(own.device, {})[own.port] = Laid(other.device, other.port, cable.rate_gbps)
    return found


@dataclass(frozen=True, slots=True)
class PartFault:
    """A fault of a part: what it does, and how it changes the node's record."""

    summary: str
    change: Callable[[Record, Options], None]


def _gpu(record: Record, options: Options) -> Record:
    found: Record = record["gpus"][int(options.get("index", 0))]
    return found


def _slow_gpu(record: Record, options: Options) -> None:
    gpu = _gpu(record, options)
    gpu |= {"host_gb_s": HOST_GB_S / 4, "peer_gb_s": PEER_GB_S / 4}


def _wrong_gpu(record: Record, options: Options) -> None:
    _gpu(record, options)["wrong_results"] = True


def _hot_gpu(record: Record, options: Options) -> None:
    gpu = _gpu(record, options)
    gpu |= {"temperature_c": TOO_HOT_C, "load_temperature_c": TOO_HOT_C, "thermal_slowdown": True}


def _narrow_gpu(record: Record, options: Options) -> None:
    gpu = _gpu(record, options)
    gpu |= {"pcie_lanes": PCIE_LANES // 2, "host_gb_s": HOST_GB_S / 2}


def _bad_dimm(record: Record, options: Options) -> None:
    record["dimms"][int(options.get("index", 0))]["uncorrected"] = int(options.get("errors", 1))


def _slow_drive(record: Record, _options: Options) -> None:
    record["disk_mb_s"] = DISK_MB_S / 10


def _slow_port(record: Record, options: Options) -> None:
    rail = record["rails"][str(options.get("port", "rail0"))]
    rail["gbps"] /= 4


def _no_rdma(record: Record, _options: Options) -> None:
    record["network"] = "Socket/0"


PART_FAULTS: Mapping[str, PartFault] = {
    "gpu-slow": PartFault("a GPU copies at a quarter of its rate (--set index=)", _slow_gpu),
    "gpu-wrong-results": PartFault("a GPU computes wrong results under load (--set index=)", _wrong_gpu),
    "gpu-hot": PartFault("a GPU is slowed down for heat (--set index=)", _hot_gpu),
    "gpu-pcie-narrow": PartFault("a GPU's PCIe link has half of its lanes (--set index=)", _narrow_gpu),
    "dimm-errors": PartFault("a DIMM has uncorrected errors (--set index=, errors=)", _bad_dimm),
    "nvme-slow": PartFault("a drive moves a tenth of what it should, as fio tells it", _slow_drive),
    "nic-slow": PartFault("a rail port moves a quarter of its rate (--port)", _slow_port),
    "nccl-sockets": PartFault("NCCL finds no RDMA and falls back to sockets", _no_rdma),
}
"""Faults of parts by name. Nothing but the node's record changes."""
