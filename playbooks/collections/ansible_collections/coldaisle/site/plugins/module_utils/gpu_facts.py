"""Facts of the GPUs, as nvidia-smi and systemd report them."""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    per_reading,
    read_text,
    run,
)
from ansible_collections.coldaisle.site.plugins.module_utils.kernel_facts import module_folder
from ansible_collections.coldaisle.site.plugins.module_utils.services import is_active, unit_state

ECC = "ecc.errors.uncorrected.volatile.total"
FIELDS = ("driver_version", "persistence_mode", "fabric.state", ECC)
IMEX = "nvidia-imex.service"
IMEX_NODES = Path("/etc/nvidia-imex/nodes_config.cfg")
FABRIC_MANAGER = "nv-fabricmanager"
MATCHES = "as the driver"


@per_reading
def _gpus() -> tuple[dict[str, str], ...]:
    """Return the values of FIELDS for each GPU, from one call: on a loaded host each call takes seconds."""
    text = run("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader", timeout_s=60)
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    return tuple(dict(zip(FIELDS, row, strict=True)) for row in rows)


def _common(name: str) -> str:
    """Return the value that all GPUs share, or every value with the GPUs that have it."""
    by_value: dict[str, list[str]] = {}
    for index, gpu in enumerate(_gpus()):
        by_value.setdefault(gpu[name], []).append(str(index))
    if not by_value:
        raise FactError("nvidia-smi lists no GPU")
    if len(by_value) == 1:
        return next(iter(by_value))
    return "; ".join(f"{value} on GPU {', '.join(gpus)}" for value, gpus in sorted(by_value.items()))


def _read_persistence(_name: str) -> bool:
    return _common("persistence_mode") == "Enabled"


def _read_ecc(_name: str) -> int:
    """Return the uncorrectable errors of all GPUs since their last reset; a GPU that counts none cannot be believed."""
    counts = {str(index): gpu[ECC] for index, gpu in enumerate(_gpus())}
    silent = [index for index, count in counts.items() if not count.isdigit()]
    if silent or not counts:
        raise FactError(f"GPU {', '.join(silent) or 'none'} counts no ECC errors: is ECC on (nvidia-smi -q -d ECC)?")
    return sum(map(int, counts.values()))


def _set_persistence(_name: str, planned: Value, _context: Context) -> None:
    run("nvidia-smi", "-pm", "1" if planned else "0", timeout_s=60)


def _read_nouveau(_name: str) -> str:
    return "loaded" if Path("/sys/module/nouveau").exists() else "off"


def _set_nouveau(_name: str, _planned: Value, _context: Context) -> None:
    run("modprobe", "-r", "nouveau")


def _read_imex(_name: str) -> str:
    """Return off where the service is not installed, or can neither run nor be started by another unit."""
    state = unit_state(IMEX)
    if state == "enabled":
        return "active" if is_active(IMEX) else "enabled, but not active"
    return "off" if state in {"", "masked"} else state


def _set_imex(_name: str, planned: Value, _context: Context) -> None:
    if planned == "off":
        run("systemctl", "mask", "--now", IMEX)
        return
    run("systemctl", "unmask", IMEX)
    run("systemctl", "enable", "--now", IMEX, timeout_s=60)


def _read_imex_nodes(_name: str) -> str:
    """Return the addresses of the domain's nodes: an address a line, and comments."""
    lines = [line.partition("#")[0].strip() for line in read_text(IMEX_NODES).splitlines()]
    return ",".join(sorted(filter(None, lines))) or "none"


def _read_kernel_support(_name: str) -> str:
    """Return whether NVIDIA's module is there for the running kernel, or can be built for it."""
    folder = module_folder()
    known = folder / "modules.dep"
    built = known.is_file() and re.search(r"^(.*/)?nvidia\.ko", read_text(known), flags=re.MULTILINE)
    if built or (folder / "build" / "Makefile").exists():
        return "ready"
    return f"neither a module nor headers for {folder.name}"


def _read_fabric_manager(_name: str) -> str:
    """Return whether fabric manager has the driver's exact version: it refuses every other."""
    said = run(FABRIC_MANAGER, "--version")
    found = re.search(r"\d+(\.\d+)+", said)
    if found is None:
        raise FactError(f"{FABRIC_MANAGER} --version names no version: {said.strip()}")
    driver = _common("driver_version")
    return MATCHES if found[0] == driver else f"{found[0]}, with driver {driver}"


FACTS: dict[str, Fact] = {
    "gpu_count": Fact(lambda _name: len(_gpus()), None, "dmesg for Xid 79 (a GPU that fell off the bus), then lspci"),
    "driver": Fact(
        lambda _name: _common("driver_version"), None, "the driver in the image, or in the GPU operator", rule="version"
    ),
    "driver_pin": Fact(
        lambda _name: _common("driver_version"),
        None,
        "the driver's packages, and a reboot: the old one may run still",
        follows=True,
    ),
    "kernel_support": Fact(
        _read_kernel_support,
        None,
        "install a driver built for this kernel, or its headers (linux-headers of uname -r)",
        follows=True,
    ),
    "fabric_manager": Fact(
        _read_fabric_manager,
        None,
        "nvidia-fabricmanager: install the driver's own version, then restart it",
        follows=True,
    ),
    "fabric_state": Fact(
        lambda _name: _common("fabric.state"), None, "nvidia-fabricmanager, and on HGX B200 mlx5_ib and ib_umad"
    ),
    "persistence": Fact(_read_persistence, _set_persistence, "nvidia-smi -q, journalctl -u nvidia-persistenced"),
    "ecc_uncorrected": Fact(
        _read_ecc,
        None,
        "nvidia-smi -q -d ECC, which names the GPU, and -d ROW_REMAPPER: drain the node and reset the GPU; a remapping "
        "that failed is a case for the vendor",
        rule="at_most",
    ),
    "nouveau": Fact(_read_nouveau, _set_nouveau, "what uses it (lsmod), and the initrd, which may load it early"),
    "imex_service": Fact(_read_imex, _set_imex, f"systemctl status {IMEX}"),
    "imex_nodes": Fact(_read_imex_nodes, None, f"{IMEX_NODES}", rule="set", from_files=True),
}
