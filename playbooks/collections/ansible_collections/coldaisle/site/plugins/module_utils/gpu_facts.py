"""Facts of the GPUs, as nvidia-smi and systemd report them."""

from __future__ import annotations

import functools
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, Fact, FactError, Value, run
from ansible_collections.coldaisle.site.plugins.module_utils.os_facts import unit_state

FIELDS = ("driver_version", "persistence_mode", "fabric.state")
IMEX = "nvidia-imex.service"


@functools.cache
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


def _set_persistence(_name: str, planned: Value, _context: Context) -> None:
    run("nvidia-smi", "-pm", "1" if planned else "0", timeout_s=60)
    _gpus.cache_clear()


def _read_nouveau(_name: str) -> str:
    return "loaded" if Path("/sys/module/nouveau").exists() else "off"


def _set_nouveau(_name: str, _planned: Value, _context: Context) -> None:
    run("modprobe", "-r", "nouveau")


def _read_imex(_name: str) -> str:
    """Return off where the service is not installed, or can neither run nor be started by another unit."""
    state = unit_state(IMEX)
    return "off" if state in {"", "masked"} else state


def _set_imex(_name: str, _planned: Value, _context: Context) -> None:
    run("systemctl", "mask", "--now", IMEX)


FACTS: dict[str, Fact] = {
    "gpu_count": Fact(lambda _name: len(_gpus()), None, "dmesg for Xid 79 (a GPU that fell off the bus), then lspci"),
    "driver": Fact(lambda _name: _common("driver_version"), None, "the driver in the image, or in the GPU operator"),
    "fabric_state": Fact(
        lambda _name: _common("fabric.state"), None, "nvidia-fabricmanager, and on HGX B200 mlx5_ib and ib_umad"
    ),
    "persistence": Fact(_read_persistence, _set_persistence, "nvidia-smi -q, journalctl -u nvidia-persistenced"),
    "nouveau": Fact(_read_nouveau, _set_nouveau, "what uses it (lsmod), and the initrd, which may load it early"),
    "imex_service": Fact(_read_imex, _set_imex, f"systemctl status {IMEX}"),
}
