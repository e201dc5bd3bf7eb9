"""
Stand-in for nvidia-smi: answers the questions of the gpu role and of node agents from the simulated hardware.

The real one is compiled, and asked at every read of a host; so this imports little, and is compiled once.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise

from hardware import read_hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PERSISTENCE = "/run/coldaisle-nvidia-persistence"
RESETS = "/run/coldaisle-nvidia-resets"
"""A file a GPU that was reset, with the memory errors that it had counted by then."""

UNITS = (" MiB", " W", " %")
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running."
)


def persistence() -> bool:
    """Return whether persistence mode is on: it lasts until the host restarts, as the real one does."""
    return os.path.exists(PERSISTENCE)  # noqa: PTH110 - see above


def uncorrected(gpu: dict[str, Any]) -> int:
    """Return the memory errors that a GPU has counted since it was reset; a fault that was taken back counts none."""
    counted = int(gpu.get("ecc_uncorrected", 0))
    try:
        with open(f"{RESETS}/{gpu['index']}", encoding="ascii") as marker:  # noqa: PTH123 - see above
            return max(counted - int(marker.read()), 0)
    except FileNotFoundError:
        return counted


def without_unit(cell: str) -> str:
    """Return a value without its unit."""
    return next((cell.removesuffix(unit) for unit in UNITS if cell.endswith(unit)), cell)


def gpu_values(gpu: dict[str, Any], hardware: dict[str, Any], count: int) -> dict[str, str]:
    """Return every value that --query-gpu may ask for, for one GPU."""
    return {
        "index": str(gpu["index"]),
        "serial": gpu.get("serial", "[N/A]"),
        "name": gpu["name"],
        "gpu_name": gpu["name"],
        "uuid": gpu["uuid"],
        "gpu_uuid": gpu["uuid"],
        "pci.bus_id": gpu["pci"],
        "gpu_bus_id": gpu["pci"],
        "count": str(count),
        "driver_version": hardware["driver_version"],
        "persistence_mode": "Enabled" if persistence() else "Disabled",
        "memory.total": f"{gpu['memory_mib']} MiB",
        "memory.used": "0 MiB",
        "utilization.gpu": "0 %",
        "temperature.gpu": str(gpu.get("temperature_c", 31)),
        "power.draw": f"{gpu.get('power_w', 70):.2f} W",
        "ecc.errors.uncorrected.volatile.total": str(uncorrected(gpu)),
        "mig.mode.current": "Disabled",
        "pcie.link.width.current": str(gpu.get("pcie_lanes", 16)),
        "pcie.link.width.max": "16",
        "clocks_event_reasons.hw_thermal_slowdown": "Active" if gpu.get("thermal_slowdown") else "Not Active",
        "fabric.state": hardware["fabric_state"],
        "fabric.status": "Success" if hardware["fabric_state"] == "Completed" else "N/A",
    }


def list_gpus(hardware: dict[str, Any]) -> str:
    """Return what `nvidia-smi -L` prints."""
    return "\n".join(f"GPU {gpu['index']}: {gpu['name']} (UUID: {gpu['uuid']})" for gpu in hardware["gpus"])


def query_gpus(hardware: dict[str, Any], fields: list[str], formats: list[str]) -> str:
    """Return what `nvidia-smi --query-gpu=FIELDS --format=csv[,noheader][,nounits]` prints."""
    lines = [] if "noheader" in formats else [", ".join(fields)]
    for gpu in hardware["gpus"]:
        values = gpu_values(gpu, hardware, len(hardware["gpus"]))
        unknown = [field for field in fields if field not in values]
        if unknown:
            sys.exit(f'Field "{unknown[0]}" is not a valid field to query.')
        row = [values[field] for field in fields]
        lines.append(", ".join(without_unit(cell) if "nounits" in formats else cell for cell in row))
    return "\n".join(lines)


def full_report(hardware: dict[str, Any]) -> str:
    """Return the parts of `nvidia-smi -q` that are read in the field: driver, GPUs, fabric."""
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [f"{'Driver Version':42}: {hardware['driver_version']}", f"{'CUDA Version':42}: 13.0"]
    lines += [f"{'Attached GPUs':42}: {len(hardware['gpus'])}"]
    for gpu in hardware["gpus"]:
        values = gpu_values(gpu, hardware, len(hardware["gpus"]))
        lines += [f"GPU {gpu['pci']}", f"    {'Product Name':38}: {gpu['name']}"]
        lines += [f"    {'Persistence Mode':38}: {values['persistence_mode']}", f"    {'GPU UUID':38}: {gpu['uuid']}"]
        lines += ["    Fabric", f"        {'State':34}: {values['fabric.state']}"]
        lines += [f"        {'Status':34}: {values['fabric.status']}"]
    return "\n".join(lines)


def xml_report(hardware: dict[str, Any]) -> str:
    """Return the parts of `nvidia-smi -q -x` that tell of health, with the elements of its document type."""
    head = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n'
    gpus = "".join(xml_gpu(gpu) for gpu in hardware["gpus"])
    return f"{head}<attached_gpus>{len(hardware['gpus'])}</attached_gpus>\n{gpus}</nvidia_smi_log>"


def xml_gpu(gpu: dict[str, Any]) -> str:
    """Return one GPU of the report."""
    width = "<max_link_width>16x</max_link_width><current_link_width>16x</current_link_width>"
    ecc = f"<dram_correctable>0</dram_correctable><dram_uncorrectable>{uncorrected(gpu)}</dram_uncorrectable>"
    remaps = "<remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure>"
    return (
        f'<gpu id="{gpu["pci"]}"><product_name>{gpu["name"]}</product_name><serial>{gpu["serial"]}</serial>'
        f"<uuid>{gpu['uuid']}</uuid><minor_number>{gpu['index']}</minor_number>"
        f"<pci><pci_gpu_link_info><link_widths>{width}</link_widths></pci_gpu_link_info>"
        "<replay_counter>0</replay_counter></pci>"
        f"<ecc_errors><volatile>{ecc}</volatile></ecc_errors><remapped_rows>{remaps}</remapped_rows>"
        f"<temperature><gpu_temp>{gpu.get('temperature_c', 31)} C</gpu_temp>"
        "<gpu_temp_slow_threshold>92 C</gpu_temp_slow_threshold></temperature></gpu>\n"
    )


def reset_gpus(wanted: str, hardware: dict[str, Any]) -> str:
    """Do what `nvidia-smi --gpu-reset [-i GPU]` does; a GPU that is not on the bus cannot be reset."""
    found = [gpu for gpu in hardware["gpus"] if wanted in ("", str(gpu["index"]), gpu["pci"], gpu["pci"][4:])]
    if not found:
        sys.stdout.write(f"Unable to determine the device handle for GPU{wanted}: GPU is lost.\n")
        sys.exit(15)
    os.makedirs(RESETS, exist_ok=True)  # noqa: PTH103 - see above
    for gpu in found:
        with open(f"{RESETS}/{gpu['index']}", "w", encoding="ascii") as marker:  # noqa: PTH123 - see above
            marker.write(str(gpu.get("ecc_uncorrected", 0)))
    return "\n".join([*(f"GPU {gpu['pci']} was successfully reset." for gpu in found), "All done."])


def set_persistence(value: str, hardware: dict[str, Any]) -> str:
    """Do what `nvidia-smi -pm 0|1` does, and return what it prints."""
    wanted = value in ("1", "ENABLED")
    if wanted:
        with open(PERSISTENCE, "w", encoding="ascii"):  # noqa: PTH123 - see above
            pass
    elif persistence():
        os.unlink(PERSISTENCE)  # noqa: PTH108 - see above
    verb = "Enabled" if wanted else "Disabled"
    lines = [f"{verb} persistence mode for GPU {gpu['pci']}." for gpu in hardware["gpus"]]
    return "\n".join([*lines, "All done."])


def answer(arguments: list[str], hardware: dict[str, Any]) -> str:
    """Return the output for a command line; exits with nvidia-smi's message for what it does not know."""
    options = dict(word.split("=", 1) for word in arguments if word.startswith("--") and "=" in word)
    options |= {word: value for word, value in pairwise(arguments) if word in ("-pm", "--persistence-mode")}
    if "-L" in arguments or "--list-gpus" in arguments:
        return list_gpus(hardware)
    if "--query-gpu" in options:
        return query_gpus(hardware, options["--query-gpu"].split(","), options.get("--format", "csv").split(","))
    persist = options.get("-pm", options.get("--persistence-mode"))
    if persist is not None:
        return set_persistence(persist, hardware)
    if "--gpu-reset" in arguments or "-r" in arguments:
        return reset_gpus(options.get("--id", ""), hardware)
    if "-x" in arguments:
        return xml_report(hardware)
    if not arguments or "-q" in arguments or "--query" in arguments:
        return full_report(hardware)
    sys.exit(f"Invalid combination of input arguments: {' '.join(arguments)}. Please run 'nvidia-smi -h' for help.")


def main() -> None:
    """Answer one call; without a driver or a GPU it fails as the real program does."""
    hardware = read_hardware()
    if not hardware["driver_version"]:
        sys.stdout.write(f"{NO_DRIVER}\n")
        sys.exit(9)
    if not hardware["gpus"]:
        sys.stdout.write("No devices were found\n")
        sys.exit(6)
    sys.stdout.write(answer(sys.argv[1:], hardware) + "\n")
