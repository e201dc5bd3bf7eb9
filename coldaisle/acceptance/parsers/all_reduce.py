"""
`all_reduce_perf` of nccl-tests and of rccl-tests, with `NCCL_DEBUG=INFO` before it.

Source of the form: nccl-tests README and doc/PERFORMANCE.md (columns, bus bandwidth), its closing comments
(`# Out of bounds values`, `# Avg bus bandwidth`), and NCCL's log: `HOST:PID:TID [GPU] NCCL INFO Channel … via
NET/IB/…`, `NET/Socket`. RCCL prints the same of both.

A fast figure proves no transport, and a slow one no cause: between nodes the log must say that every channel of the
network goes over RDMA.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import figure
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where

_AVERAGE = re.compile(r"^#\s*Avg bus bandwidth\s*:\s*(\S+)\s*$", re.MULTILINE)
_BOUNDS = re.compile(r"^#\s*Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)\s*$", re.MULTILINE)
_CHANNEL = re.compile(
    r"^(?:\[[^\]]*\]<std\w+>:)?\s*([\w.-]+):\d+:\d+ \[\d+\] NCCL INFO Channel .* via NET/(\w+)", re.MULTILINE
)
_ERROR = re.compile(r"^.*(?:Test NCCL failure|Test CUDA failure|NCCL WARN).*$", re.MULTILINE)


def all_reduce(text: str, expects: Mapping[str, Any]) -> Reading:
    """
    Read the mean bus bandwidth in GB/s, wrong results, and which network every channel took.

    `expects["transport"]` is `rdma` where the hosts talk over the fabric; without it nothing is asked of the network.
    """
    average, bounds = _AVERAGE.search(text), _BOUNDS.search(text)
    if average is None or bounds is None:
        said = _ERROR.search(text)
        raise CannotTellError(f"all_reduce_perf ended without its result{f': {said[0].strip()}' if said else ''}")
    faults = [Fault(f"all_reduce_perf counted {bounds[1]} wrong values")] if bounds[2] == "FAILED" else []
    if expects.get("transport") == "rdma":
        faults += _not_rdma(text, expects)
    return Reading((Measured("bus_bandwidth_gb_s", figure(average[1], "the bus bandwidth")),), tuple(faults))


def _not_rdma(text: str, expects: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each host whose channels do not go over RDMA; CannotTellError where the log does not say."""
    networks: dict[str, set[str]] = {}
    for host, network in _CHANNEL.findall(text):
        networks.setdefault(host, set()).add(network)
    silent = [host for host in expects.get("hosts", ()) if host not in networks]
    if not networks or silent:
        whose = f" of {', '.join(silent)}" if silent else ""
        raise CannotTellError(f"the log tells no network of the channels{whose}: NCCL_DEBUG=INFO is not in force")
    return [
        Fault(f"NCCL went over {', '.join(sorted(found))} and not over RDMA alone (NET/IB)", Where("node", host))
        for host, found in sorted(networks.items())
        if found != {"IB"}
    ]
