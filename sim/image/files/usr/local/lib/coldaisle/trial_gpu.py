"""Stand-ins for the tools that try GPUs: each prints, in its own form, what the simulated hardware's record says."""

from __future__ import annotations

import sys

from hardware import read_hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Gpu = dict[str, Any]

DCGM_TESTS = {"1": ("software",), "2": ("software", "pcie"), "3": ("software", "pcie", "memory", "diagnostic")}
PER_LINE = 2


def no_gpus(record: dict[str, Any]) -> str | None:
    """Return what a tool says where the driver is dead or no GPU is there; None where there are some."""
    if not record["driver_version"]:
        return "CUDA driver is not loaded"
    return None if record["gpus"] else "No CUDA-capable device is detected"


def found() -> tuple[dict[str, Any], list[Gpu]]:
    """Return the record and its GPUs; ends the program where there are none, as the real ones do."""
    record = read_hardware()
    why = no_gpus(record)
    if why:
        sys.exit(why)
    return record, record["gpus"]


def dcgmi() -> None:
    """`dcgmi diag -r LEVEL -j`."""
    import json  # noqa: PLC0415 - the others do without, and are quicker

    record, gpus = found()
    words = sys.argv[1:]
    if words[:1] != ["diag"] or "-j" not in words or "-r" not in words:
        sys.exit("dcgmi: only diag -r LEVEL -j is answered here")
    level = words[words.index("-r") + 1]
    tests = [dcgm_test(name, gpus) for name in DCGM_TESTS.get(level, DCGM_TESTS["3"])]
    whole = {
        "DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": tests}]},
        "metadata": {"Driver Version Detected": record["driver_version"], "version": "4.2.3"},
    }
    sys.stdout.write(f"{json.dumps(whole, indent=2)}\n")
    sys.exit(0 if all(test["test_summary"]["status"] == "Pass" for test in tests) else 226)


def dcgm_test(name: str, gpus: list[Gpu]) -> dict[str, Any]:
    """Return one test with a result for each GPU."""
    results = [dcgm_result(name, gpu) for gpu in gpus]
    bad = any(result["status"] == "Fail" for result in results)
    return {"name": name, "results": results, "test_summary": {"status": "Fail" if bad else "Pass"}}


def dcgm_result(name: str, gpu: Gpu) -> dict[str, Any]:
    """Return the result of a test on a GPU: it knows of ECC errors, and a diagnostic finds wrong results."""
    said = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu["index"]}
    errors = gpu.get("ecc_uncorrected", 0)
    why = ""
    if name == "software" and errors:
        why = f"Detected {errors} volatile double-bit ECC errors on GPU {gpu['index']}"
    elif name == "diagnostic" and gpu.get("wrong_results"):
        why = f"Found wrong results on GPU {gpu['index']}"
    if not why:
        return said | {"status": "Pass"}
    warning = {"error_category": 10, "error_id": 17, "error_severity": 2, "warning": why}
    return said | {"status": "Fail", "warnings": [warning]}


def gpu_burn() -> None:
    """`gpu_burn SECONDS`: it takes no time here."""
    _record, gpus = found()
    seconds = sys.argv[-1] if sys.argv[-1].isdigit() else "10"
    heat = " - ".join(f"{gpu['load_temperature_c']} C" for gpu in gpus)
    none = " - ".join("0" for _ in gpus)
    lines = [f"Run length set to {seconds}", f"100.0%  proc'd: {none} (0 Gflop/s)   errors: {none}   temps: {heat} "]
    lines += ["Killing processes with SIGTERM (soft kill)", "done", "", f"Tested {len(gpus)} GPUs:"]
    lines += [f"\tGPU {gpu['index']}: {'FAULTY' if gpu.get('wrong_results') else 'OK'}" for gpu in gpus]
    sys.stdout.write("\n".join(lines) + "\n")


def nvbandwidth() -> None:
    """`nvbandwidth -t TEST...`."""
    record, gpus = found()
    lines = ["nvbandwidth Version: v0.8", "", "CUDA Runtime Version: 13000"]
    lines += [f"Driver Version: {record['driver_version']}", ""]
    for name in (word for word in sys.argv[1:] if word.startswith(("host_to", "device_to"))):
        lines += copies(name, gpus)
    sys.stdout.write("\n".join(lines) + "\n")


def copies(name: str, gpus: list[Gpu]) -> list[str]:
    """Return the table of one test."""
    peers = name.startswith("device_to_device")
    rate = "peer_gb_s" if peers else "host_gb_s"
    rows: list[tuple[int, list[float | None]]] = [(0, [gpu[rate] for gpu in gpus])]
    if peers:
        rows = [(a["index"], [None if a is b else min(a[rate], b[rate]) for b in gpus]) for a in gpus]
    head = "memcpy CE GPU(row) -> GPU(column)" if peers else "memcpy CE CPU(row) -> GPU(column)"
    lines = [f"Running {name}.", f"{head} bandwidth (GB/s)", "  " + "".join(f"{gpu['index']:10}" for gpu in gpus)]
    lines += [
        f"{at:2}" + "".join("       N/A" if cell is None else f"{cell:10.2f}" for cell in row) for at, row in rows
    ]
    total = sum(cell for _, row in rows for cell in row if cell is not None)
    return [*lines, "", f"SUM {name} {total:.2f}", ""]


def nvidia_container_cli() -> None:
    """`nvidia-container-cli info`."""
    record, gpus = found()
    lines = [f"NVRM version:   {record['driver_version']}", "CUDA version:   13.0"]
    for gpu in gpus:
        lines += [
            "",
            f"Device Index:   {gpu['index']}",
            f"Device Minor:   {gpu['index']}",
            f"Model:          {gpu['name']}",
        ]
        lines += [f"GPU UUID:       {gpu['uuid']}", f"Bus Location:   {gpu['pci']}", "Architecture:   9.0"]
    sys.stdout.write("\n".join(lines) + "\n")
