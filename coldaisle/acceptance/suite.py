"""
The tests of acceptance, as data: which tool, with which words, in which failure domain, from which phase on.

A test is a line here, a parser in `parsers`, and, where its figures are judged, limits in the catalog. Words in braces
are filled from the plan: `{gpus}`, `{folder}`, `{address}`, `{hosts}`, `{count}`, `{port}`. A word `@rdma:PORT` is the
RDMA device of a port, which the host itself knows (`rdma link`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from coldaisle.acceptance.parsers.nvidia import FIELDS
from coldaisle.spec.acceptance import Domain, Phase

Scope = Literal["node", "pair", "rail", "rack", "pod"]
"""Who takes part: a host by itself, two on one rail, or a group: the GPUs of one rail, a rack, all of a pool."""

Vendor = Literal["NVIDIA", "AMD"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """
    One test.

    `vendor` is that of the GPUs that it is for, None for any; `gpus` says whether it needs some at all. `floors` and
    `ceilings` name the metrics that are judged. `until` is the last phase that has it, where a longer form follows.
    `takes_s` is about what a good host needs: the tool's own duration where it has one, else ours.
    """

    name: str
    domain: Domain
    phase: Phase
    argv: tuple[str, ...]
    parser: str
    timeout_s: int
    takes_s: int = 5
    scope: Scope = "node"
    vendor: Vendor | None = None
    needs: Literal["gpus", "rails", "neither"] = "neither"
    until: Phase = "soak"
    floors: tuple[str, ...] = ()
    ceilings: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    metrics: dict[str, str] = field(default_factory=dict)
    """The catalog's name of a limit, where it is not that of the metric."""


_FIO = ("fio", "--name=accept", "--directory={folder}", "--size=4G", "--bs=1M", "--direct=1", "--ioengine=libaio")
_FIO_END = ("--iodepth=32", "--runtime=60", "--time_based", "--unlink=1", "--output-format=json")
_REDUCE = ("all_reduce_perf", "-b", "16G", "-e", "16G", "-f", "2")
_MPI = ("mpirun", "--allow-run-as-root", "-np", "{count}", "-H", "{hosts}", "-x", "NCCL_DEBUG=INFO")
_WRITE = ("ib_write_bw", "-d", "@rdma:{rail}", "-p", "{port}", "-s", "65536", "-D", "5", "--report_gbits", "-F")
_HOST_COPIES = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce")
_PEER_COPIES = ("device_to_device_memcpy_read_ce",)
_COPIES = ("host_to_device_gb_s", "device_to_host_gb_s")
_RVS = "/opt/rocm/share/rocm-validation-suite/conf/gst_single.conf"


def _group(scope: Scope, more: tuple[str, ...], metric: str) -> Trial:
    """Return the all-reduce of a group of hosts, whose bus bandwidth the catalog has under `metric`."""
    return Trial(
        name=f"all-reduce-{scope}",
        domain="fabric",
        phase="full",
        argv=(*_MPI, *more, *_REDUCE, "-g", "1"),
        parser="all_reduce",
        timeout_s=1800,
        takes_s=60,
        scope=scope,
        needs="gpus",
        floors=("bus_bandwidth_gb_s",),
        metrics={"bus_bandwidth_gb_s": metric},
    )


_RAIL_WORDS = ("-x", "NCCL_IB_HCA=@rdma:{rail}", "-x", "{visible}={gpu}")
_GROUPS = (
    _group("rail", _RAIL_WORDS, "all_reduce_rail_gb_s"),
    _group("rack", (), "all_reduce_fabric_gb_s"),
    _group("pod", (), "all_reduce_fabric_gb_s"),
)

SUITE: tuple[Trial, ...] = (
    # -- quick: what is wrong already, read in seconds ------------------------------------------------------------
    Trial(
        name="memory-errors",
        domain="host",
        phase="quick",
        argv=("ras-mc-ctl", "--error-count"),
        parser="memory_errors",
        timeout_s=30,
    ),
    Trial(
        name="gpu-state",
        domain="pcie",
        phase="quick",
        argv=("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"),
        parser="gpu_state",
        timeout_s=60,
        vendor="NVIDIA",
    ),
    Trial(
        name="gpu-list",
        domain="pcie",
        phase="quick",
        argv=("amd-smi", "list", "--json"),
        parser="amd_smi_list",
        timeout_s=60,
        vendor="AMD",
    ),
    Trial(
        name="kernel-log",
        domain="gpu",
        phase="quick",
        argv=("dmesg",),
        parser="kernel_log",
        timeout_s=30,
        vendor="NVIDIA",
    ),
    Trial(
        name="dcgm-quick",
        domain="gpu",
        phase="quick",
        argv=("dcgmi", "diag", "-r", "1", "-j"),
        parser="dcgm_diag",
        timeout_s=300,
        takes_s=30,
        vendor="NVIDIA",
        until="quick",
    ),
    Trial(
        name="rdma-links",
        domain="nic",
        phase="quick",
        argv=("rdma", "-j", "link", "show"),
        parser="rdma_links",
        timeout_s=30,
        needs="rails",
    ),
    Trial(
        name="neighbours",
        domain="nic",
        phase="quick",
        argv=("lldpctl", "-f", "json"),
        parser="neighbours",
        timeout_s=30,
        needs="rails",
    ),
    Trial(
        name="container-gpus",
        domain="runtime",
        phase="quick",
        argv=("nvidia-container-cli", "info"),
        parser="container_gpus",
        timeout_s=60,
        vendor="NVIDIA",
    ),
    # -- full: an hour under load ---------------------------------------------------------------------------------
    Trial(
        name="memory-load",
        domain="host",
        phase="full",
        argv=("stressapptest", "-s", "300", "-W"),
        parser="stressapptest",
        timeout_s=600,
        takes_s=300,
        until="full",
    ),
    Trial(
        name="hpl",
        domain="host",
        phase="full",
        argv=("xhpl",),
        parser="hpl",
        timeout_s=3600,
        takes_s=1800,
        floors=("hpl_gflops",),
    ),
    Trial(
        name="host-copies",
        domain="pcie",
        phase="full",
        argv=("nvbandwidth", "-t", *_HOST_COPIES),
        parser="nvbandwidth",
        timeout_s=600,
        takes_s=60,
        vendor="NVIDIA",
        floors=_COPIES,
        tests=_HOST_COPIES,
    ),
    Trial(
        name="copies",
        domain="pcie",
        phase="full",
        argv=("rocm-bandwidth-test", "-a"),
        parser="rocm_bandwidth",
        timeout_s=900,
        takes_s=120,
        vendor="AMD",
        floors=(*_COPIES, "device_to_device_gb_s"),
    ),
    Trial(
        name="dcgm-long",
        domain="gpu",
        phase="full",
        argv=("dcgmi", "diag", "-r", "3", "-j"),
        parser="dcgm_diag",
        timeout_s=3600,
        takes_s=1800,
        vendor="NVIDIA",
        until="full",
    ),
    Trial(
        name="peer-copies",
        domain="gpu",
        phase="full",
        argv=("nvbandwidth", "-t", *_PEER_COPIES),
        parser="nvbandwidth",
        timeout_s=900,
        takes_s=60,
        vendor="NVIDIA",
        floors=("device_to_device_gb_s",),
        tests=_PEER_COPIES,
    ),
    Trial(
        name="gpu-load",
        domain="gpu",
        phase="full",
        argv=("gpu_burn", "300"),
        parser="gpu_burn",
        timeout_s=900,
        takes_s=300,
        vendor="NVIDIA",
        ceilings=("gpu_temperature_c",),
        until="full",
    ),
    Trial(
        name="gpu-stress",
        domain="gpu",
        phase="full",
        argv=("rvs", "-c", _RVS),
        parser="rvs",
        timeout_s=3600,
        takes_s=1800,
        vendor="AMD",
    ),
    Trial(
        name="all-reduce-node",
        domain="gpu",
        phase="full",
        argv=(*_REDUCE, "-g", "{gpus}"),
        parser="all_reduce",
        timeout_s=900,
        takes_s=60,
        needs="gpus",
        floors=("bus_bandwidth_gb_s",),
        metrics={"bus_bandwidth_gb_s": "all_reduce_node_gb_s"},
    ),
    Trial(
        name="disk-read",
        domain="storage",
        phase="full",
        argv=(*_FIO, "--rw=read", *_FIO_END),
        parser="fio",
        timeout_s=300,
        takes_s=60,
        floors=("disk_read_mb_s",),
    ),
    Trial(
        name="disk-write",
        domain="storage",
        phase="full",
        argv=(*_FIO, "--rw=write", *_FIO_END),
        parser="fio",
        timeout_s=300,
        takes_s=60,
        floors=("disk_write_mb_s",),
    ),
    Trial(
        name="rdma-write",
        domain="fabric",
        phase="full",
        argv=(*_WRITE, "{address}"),
        parser="perftest",
        timeout_s=60,
        takes_s=10,
        scope="pair",
        needs="rails",
        floors=("rdma_write_gbps",),
    ),
    *_GROUPS,
    # -- soak: what shows itself when it has been warm for long ---------------------------------------------------
    Trial(
        name="memory-soak",
        domain="host",
        phase="soak",
        argv=("stressapptest", "-s", "14400", "-W"),
        parser="stressapptest",
        timeout_s=16000,
        takes_s=14400,
    ),
    Trial(
        name="dcgm-extended",
        domain="gpu",
        phase="soak",
        argv=("dcgmi", "diag", "-r", "4", "-j"),
        parser="dcgm_diag",
        timeout_s=14400,
        takes_s=7200,
        vendor="NVIDIA",
    ),
    Trial(
        name="heat-soak",
        domain="gpu",
        phase="soak",
        argv=("gpu_burn", "14400"),
        parser="gpu_burn",
        timeout_s=16000,
        takes_s=14400,
        vendor="NVIDIA",
        ceilings=("gpu_temperature_c",),
    ),
)
"""Every test. The order within a failure domain is the order in which they run."""

WRITE_SERVER = _WRITE
"""What the second host of a pair runs: the same words without the address."""
