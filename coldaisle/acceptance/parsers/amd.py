"""
AMD's tools: `amd-smi list --json`, `rocm-bandwidth-test`, and the ROCm Validation Suite's GPU stress test.

Sources of the forms: AMD SMI's command line documentation; rocm-bandwidth-test's README (a table under `Unidirectional
copy peak bandwidth GB/s`); the RVS user guide, GST module (`[RESULT] … GPU:: ID … met: TRUE`). RCCL's tests print as
NCCL's do (`all_reduce`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import figure, missing_gpus
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where

_TABLE = "Unidirectional copy peak bandwidth GB/s"
_DEVICE = re.compile(r"^\s*Device:\s*(\d+),\s*(.*)$", re.MULTILINE)
_MET = re.compile(r"^\[RESULT\].*?GPU::\s*(\d+).*?\bmet:\s*(TRUE|FALSE)\s*$", re.MULTILINE)


def amd_smi_list(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read the GPUs that there are, with the slot of each."""
    try:
        found = {int(gpu["gpu"]): str(gpu["bdf"]) for gpu in json.loads(text)}
    except (ValueError, KeyError, TypeError) as error:
        raise CannotTellError(f"amd-smi printed no list of GPUs: {error!r}") from None
    facts = {f"gpu.{index}.slot": slot for index, slot in found.items()}
    return Reading(faults=missing_gpus(found, expects, "amd-smi"), facts=facts)


def rocm_bandwidth(text: str, expects: Mapping[str, Any]) -> Reading:
    """
    Read the slowest copy from the host to each GPU and back, and between GPUs, in GB/s.

    Devices that are processors come first in the list; a GPU's index counts from the first that is none.
    """
    devices = {int(number): name for number, name in _DEVICE.findall(text)}
    gpus = [number for number, name in sorted(devices.items()) if len(name.split(",")) > 1]
    table = _table(text, len(devices))
    if not gpus or len(gpus) == len(devices):
        raise CannotTellError("rocm-bandwidth-test lists no processor or no GPU")
    hosts = [number for number in devices if number not in gpus]
    found: list[Measured] = []
    for at, gpu in enumerate(gpus):
        ways = {
            "host_to_device_gb_s": [table[host, gpu] for host in hosts],
            "device_to_host_gb_s": [table[gpu, host] for host in hosts],
            "device_to_device_gb_s": [table[gpu, other] for other in gpus if other != gpu],
        }
        known = {metric: [value for value in values if value is not None] for metric, values in ways.items()}
        found += [Measured(metric, min(values), Where("gpu", str(at))) for metric, values in known.items() if values]
    return Reading(tuple(found), missing_gpus(range(len(gpus)), expects, "rocm-bandwidth-test"))


def _table(text: str, devices: int) -> dict[tuple[int, int], float | None]:
    """Return the table by row and column; a pair that cannot copy has None."""
    _, head, rest = text.partition(_TABLE)
    if not head:
        raise CannotTellError("rocm-bandwidth-test printed no table of copies")
    rows = [line.split() for line in rest.splitlines() if line.strip()][: devices + 1]
    if len(rows) != devices + 1 or any(len(row) != devices + 1 for row in rows):
        raise CannotTellError("the table of rocm-bandwidth-test is not whole")
    columns = [int(word) for word in rows[0][1:]]
    return {
        (int(row[0]), column): None if cell == "N/A" else figure(cell, "a copy's rate")
        for row in rows[1:]
        for column, cell in zip(columns, row[1:], strict=True)
    }


def rvs(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read which GPUs reached the rate that AMD's own configuration for the model sets; RVS names them by their id."""
    verdicts: dict[str, set[str]] = {}
    for gpu, word in _MET.findall(text):
        verdicts.setdefault(gpu, set()).add(word)
    if not verdicts:
        raise CannotTellError("rvs printed no result")
    count = expects.get("gpus")
    if count is not None and len(verdicts) != count:
        raise CannotTellError(f"rvs printed results of {len(verdicts)} GPUs, and the plan has {count}")
    bad = (gpu for gpu, words in sorted(verdicts.items()) if "FALSE" in words)
    return Reading(faults=tuple(Fault("it did not reach the target of rvs", Where("gpu", gpu)) for gpu in bad))
