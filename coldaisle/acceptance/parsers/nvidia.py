"""
What an NVIDIA host says of its GPUs: `nvidia-smi --query-gpu`, the kernel's log, `nvidia-container-cli info`.

Sources of the forms: nvidia-smi's manual page (`--help-query-gpu`, csv,noheader,nounits); NVIDIA's Xid documentation
(`NVRM: Xid (PCI:BUS): CODE, …`, and which codes an application alone can cause); the libnvidia-container README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from coldaisle.acceptance.parsers.shared import figure, missing_gpus
from coldaisle.acceptance.records import CannotTellError, Fault, Measured, Reading, Where

FIELDS = (
    "index",
    "serial",
    "pci.bus_id",
    "ecc.errors.uncorrected.volatile.total",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "temperature.gpu",
    "clocks_event_reasons.hw_thermal_slowdown",
)
"""What the query asks for, in the order of its columns."""

APPLICATION_XIDS = frozenset({13, 31, 43, 45})
"""
Xids that a program alone can cause, or that only tell of its end (NVIDIA's Xid catalog; G18: bursts of 45 when jobs
end). They are no fault of a part.
"""

_XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)")


def gpu_state(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read ECC errors, link widths, temperature (°C) and thermal slowdown of each GPU, with its serial and slot."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != len(FIELDS) or not row[0].isdigit() for row in rows):
        first = text.strip().splitlines()[:1]
        raise CannotTellError(f"nvidia-smi printed no table of GPUs: {first[0] if first else 'nothing'}")
    found = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    faults = [Fault(what, Where("gpu", gpu["index"])) for gpu in found for what in _wrong(gpu)]
    faults += missing_gpus([int(gpu["index"]) for gpu in found], expects, "nvidia-smi")
    facts = {f"gpu.{gpu['index']}.serial": gpu["serial"] for gpu in found}
    facts |= {f"gpu.{gpu['index']}.slot": gpu["pci.bus_id"] for gpu in found}
    heat = (
        Measured("gpu_temperature_c", figure(gpu["temperature.gpu"], "a temperature"), Where("gpu", gpu["index"]))
        for gpu in found
    )
    return Reading(tuple(heat), tuple(faults), facts)


def _wrong(gpu: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with one GPU, in words."""
    errors = gpu["ecc.errors.uncorrected.volatile.total"]
    if not errors.isdigit():
        raise CannotTellError(f"the ECC errors of GPU {gpu['index']} are {errors!r}: is ECC on?")
    if int(errors):
        yield f"{errors} uncorrectable ECC errors since the driver was loaded"
    now, most = gpu["pcie.link.width.current"], gpu["pcie.link.width.max"]
    if not (now.isdigit() and most.isdigit()):
        raise CannotTellError(f"the PCIe link of GPU {gpu['index']} is {now!r} of {most!r}")
    if int(now) < int(most):
        yield f"its PCIe link has {now} of {most} lanes"
    slowdown = gpu["clocks_event_reasons.hw_thermal_slowdown"]
    if slowdown not in {"Active", "Not Active"}:
        raise CannotTellError(f"whether GPU {gpu['index']} is slowed down for heat is {slowdown!r}")
    if slowdown == "Active":
        yield "it is slowed down for heat"


def kernel_log(text: str, _expects: Mapping[str, Any]) -> Reading:
    """
    Read the Xids of the kernel's log: one that an application cannot cause is a fault of the GPU at that bus address.

    An empty log is a good one: a host that has just started says nothing of its GPUs.
    """
    found = sorted({(slot, int(code)) for slot, code in _XID.findall(text)})
    bad = ((slot, code) for slot, code in found if code not in APPLICATION_XIDS)
    return Reading(
        faults=tuple(Fault(f"the kernel's log has Xid {code} of it", Where("gpu", slot)) for slot, code in bad)
    )


def container_gpus(text: str, expects: Mapping[str, Any]) -> Reading:
    """Read which GPUs a container is given, by `nvidia-container-cli info`: a lost one is missing here, too."""
    version = re.search(r"^NVRM version:\s+(\S+)", text, re.MULTILINE)
    if version is None:
        raise CannotTellError("nvidia-container-cli told no version of the driver")
    indexes = [int(index) for index in re.findall(r"^Device Index:\s+(\d+)\s*$", text, re.MULTILINE)]
    if len(indexes) != len(re.findall(r"^Bus Location:\s+\S+\s*$", text, re.MULTILINE)):
        raise CannotTellError("the list of nvidia-container-cli ends early")
    return Reading(faults=missing_gpus(indexes, expects, "nvidia-container-cli"))
