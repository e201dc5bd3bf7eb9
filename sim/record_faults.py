"""How faults change what a simulated node's host and BMC report: a fault is an entry of its hardware record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sim.fault_lines import LOST, flap_lines, xid_lines
from sim.parts import serial_of
from sim.replaced import MACHINE, NIC, replace_machine, replace_nic

Options = Mapping[str, Any]
Record = dict[str, Any]


def _miss_gpu(record: Record, options: Options) -> None:
    lost = int(options.get("index", len(record["gpus"]) - 1))
    record["gpus"] = [gpu for gpu in record["gpus"] if gpu["index"] != lost]


def _replace_gpu(record: Record, options: Options) -> None:
    gpu = next(gpu for gpu in record["gpus"] if gpu["index"] == int(options.get("index", 0)))
    gpu["serial"] = str(options.get("serial", serial_of(record["host"], "a new GPU")))


def _miss_dimm(record: Record, options: Options) -> None:
    slot = str(options.get("slot", record["dimms"][-1]["slot"]))
    record["dimms"] = [dimm for dimm in record["dimms"] if dimm["slot"] != slot]


def _write_xid(record: Record, options: Options) -> None:
    """Write an Xid of one GPU into the kernel's log; Xid 79 takes the GPU off the bus too."""
    index = int(options.get("index", len(record["gpus"]) - 1))
    code = int(options.get("code", LOST))
    for gpu in (gpu for gpu in record["gpus"] if gpu["index"] == index):
        record["xids"] = [{"code": code, "pci": gpu["pci"]}]
        record["kernel_log"] += xid_lines(options, gpu["pci"])
    if code == LOST:
        record["gpus"] = [gpu for gpu in record["gpus"] if gpu["index"] != index]


def _flap(record: Record, options: Options) -> None:
    record["kernel_log"] += flap_lines(options, str(options.get("port", "rail0")))


def _count_ecc(record: Record, options: Options) -> None:
    record["gpus"][int(options.get("index", 0))]["ecc_uncorrected"] = int(options.get("errors", 2))


def _never_complete(record: Record, _options: Options) -> None:
    record["fabric_state"] = "In Progress"


def _old_driver(record: Record, options: Options) -> None:
    record["driver_version"] = str(options.get("version", "535.54.03"))


def _dead_driver(record: Record, _options: Options) -> None:
    record["driver_version"] = ""


RECORD_CHANGES: Mapping[str, Callable[[Record, Options], None]] = {
    MACHINE: replace_machine,
    NIC: replace_nic,
    "gpu-missing": _miss_gpu,
    "gpu-replaced": _replace_gpu,
    "dimm-missing": _miss_dimm,
    "gpu-xid": _write_xid,
    "link-flap": _flap,
    "gpu-ecc": _count_ecc,
    "gpu-fabric": _never_complete,
    "gpu-driver-old": _old_driver,
    "gpu-driver-dead": _dead_driver,
}
"""By fault, in the order in which they are applied: a new machine first, and a GPU that is gone has no more errors."""
