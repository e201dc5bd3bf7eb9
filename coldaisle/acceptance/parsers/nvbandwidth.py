"""
`nvbandwidth -t TEST...`.

Source of the form: the README of NVIDIA nvbandwidth: `Running TEST.`, a line that names the direction and GB/s, a line
of columns, a row a CPU or GPU, and `SUM TEST figure`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import figure, missing_gpus
from coldaisle.acceptance.records import CannotTellError, Measured, Reading, Where

METRICS = {
    "host_to_device_memcpy_ce": "host_to_device_gb_s",
    "device_to_host_memcpy_ce": "device_to_host_gb_s",
    "device_to_device_memcpy_read_ce": "device_to_device_gb_s",
}
"""What each test measures, by our name for it."""

_RUN = re.compile(r"^Running (\w+)\.\s*$", re.MULTILINE)
_PEERS = "device_to_device"


def nvbandwidth(text: str, expects: Mapping[str, Any]) -> Reading:
    """
    Read the slowest copy of each GPU in each test, in GB/s.

    Between GPUs it is the slowest to any peer, taken by the row's GPU.
    """
    parts = _RUN.split(text)
    if len(parts) < 3:  # noqa: PLR2004 - what stands before the first test, its name, and its rows
        raise CannotTellError("nvbandwidth ran no test")
    found: list[Measured] = []
    gpus: set[int] = set()
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        slowest = _slowest(name, body)
        gpus |= slowest.keys()
        found += [Measured(METRICS[name], value, Where("gpu", str(at))) for at, value in sorted(slowest.items())]
    wanted = set(expects.get("tests", ()))
    if wanted - set(parts[1::2]):
        raise CannotTellError(f"nvbandwidth did not run {', '.join(sorted(wanted - set(parts[1::2])))}")
    return Reading(tuple(found), missing_gpus(gpus, expects, "nvbandwidth"))


def _slowest(name: str, body: str) -> dict[int, float]:
    """Return the slowest figure of each GPU in one test."""
    if name not in METRICS:
        raise CannotTellError(f"nvbandwidth ran {name}, which is not known")
    if not re.search(rf"^SUM {name} [\d.]+ *\n", body, re.MULTILINE) or "(GB/s)" not in body:
        raise CannotTellError(f"the figures of {name} end early")
    rows = [line.split() for line in body.splitlines() if re.match(r"^\s*\d", line)]
    columns, *values = rows or [[]]
    if not values or any(len(row) != len(columns) + 1 for row in values):
        raise CannotTellError(f"the table of {name} is not whole")
    by_row = name.startswith(_PEERS)
    found: dict[int, float] = {}
    for row in values:
        for column, cell in zip(columns, row[1:], strict=True):
            if cell != "N/A":
                at = int(row[0] if by_row else column)
                found[at] = min(found.get(at, float("inf")), figure(cell, f"{name} of GPU {at}"))
    return found
