"""
What tools print, read into records: one module a tool, pure, and strict.

A parser returns a reading only of an output that it knows from the first line to the last. What it does not know, or
what ends early, is a CannotTellError: never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coldaisle.acceptance.parsers.all_reduce import all_reduce
from coldaisle.acceptance.parsers.amd import amd_smi_list, rocm_bandwidth, rvs
from coldaisle.acceptance.parsers.dcgm import dcgm_diag
from coldaisle.acceptance.parsers.fio import fio
from coldaisle.acceptance.parsers.gpu_burn import gpu_burn
from coldaisle.acceptance.parsers.host import hpl, memory_errors, stressapptest
from coldaisle.acceptance.parsers.nvbandwidth import nvbandwidth
from coldaisle.acceptance.parsers.nvidia import container_gpus, gpu_state, kernel_log
from coldaisle.acceptance.parsers.perftest import perftest
from coldaisle.acceptance.parsers.rdma_links import rdma_links
from coldaisle.acceptance.records import Reading

Parser = Callable[[str, Mapping[str, Any]], Reading]
"""Takes a tool's output, and what the plan expects of it. Raises CannotTellError."""

PARSERS: Mapping[str, Parser] = {
    "all_reduce": all_reduce,
    "amd_smi_list": amd_smi_list,
    "container_gpus": container_gpus,
    "dcgm_diag": dcgm_diag,
    "fio": fio,
    "gpu_burn": gpu_burn,
    "gpu_state": gpu_state,
    "hpl": hpl,
    "kernel_log": kernel_log,
    "memory_errors": memory_errors,
    "nvbandwidth": nvbandwidth,
    "perftest": perftest,
    "rdma_links": rdma_links,
    "rocm_bandwidth": rocm_bandwidth,
    "rvs": rvs,
    "stressapptest": stressapptest,
}
"""Every parser by the name that steps have it by."""
