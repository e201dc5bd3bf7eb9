"""
What a host tells of its health: lines of the kernel's log since a cursor, nvidia-smi's report, AMD's error counters.

Hosts send what they have, and the deploy host makes sense of it (coldaisle.health): a new form of a line is no new
program on every host. Each fact is JSON or XML in one text.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, FactError, read_text, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MARKS = ("NVRM: Xid", "SXid", "PCIe Bus Error", "mlx5_core", "amdgpu", "I/O error, dev", "nvme nvme")
"""Each line of the kernel's log that tells of health has one of these (coldaisle.health.parsers.kernel)."""

FIRST_READING = "-1 day"
NEWEST_LINES = 20000
"""Lines of one reading: a driver that floods its log must not fill this host's memory."""
SENT_LINES = 2000

DRM = Path("/sys/class/drm")


def _read_kernel_log(cursor: str) -> str:
    """
    Return lines of the kernel's log behind a cursor, of all boots; without one, of the last day.

    JSON: `lines`, each a time in seconds and a text; `cursor` for the next reading; `now`, this host's clock; and
    `cut`, whether there were more lines than were taken.
    """
    since = f"--after-cursor={cursor}" if cursor else f"--since={FIRST_READING}"
    asked = ("journalctl", "_TRANSPORT=kernel", "--no-pager", "--output=json", f"--lines={NEWEST_LINES}", since)
    entries = [json.loads(line) for line in run(*asked, timeout_s=60).splitlines() if line.startswith("{")]
    lines = [[int(it["__REALTIME_TIMESTAMP"]) / 1e6, text] for it in entries if (text := _wanted(it))]
    cut = len(entries) >= NEWEST_LINES or len(lines) > SENT_LINES
    last = entries[-1]["__CURSOR"] if entries else cursor
    return json.dumps({"lines": lines[-SENT_LINES:], "cursor": last, "now": time.time(), "cut": cut})


def _wanted(entry: dict[str, object]) -> str:
    """Return the text of an entry that tells of health; journald gives what is no text as numbers."""
    text = entry.get("MESSAGE")
    return text if isinstance(text, str) and any(mark in text for mark in MARKS) else ""


def _read_gpu_report(_name: str) -> str:
    return run("nvidia-smi", "-q", "-x", timeout_s=120)


def _read_ras_counts(_name: str) -> str:
    """Return what AMD's driver has counted, as JSON: by PCI address and block `ue` (uncorrected) and `ce`."""
    found = {device: dict(_blocks(folder)) for device, folder in _amd_devices()}
    if not found:
        raise FactError(f"no device below {DRM} has error counters (device/ras/*_err_count)")
    return json.dumps(found)


def _amd_devices() -> Iterator[tuple[str, Path]]:
    for card in sorted(DRM.glob("card[0-9]*")):
        folder = card / "device" / "ras"
        if re.fullmatch(r"card\d+", card.name) and folder.is_dir():
            yield (card / "device").resolve().name, folder


def _blocks(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    for file in sorted(folder.glob("*_err_count")):
        counted = re.findall(r"^(ue|ce): (\d+)$", read_text(file), flags=re.MULTILINE)
        yield file.name.removesuffix("_err_count"), {name: int(value) for name, value in counted}


FACTS: dict[str, Fact] = {
    "kernel_log": Fact(_read_kernel_log, None, "journalctl _TRANSPORT=kernel, and Storage= of journald.conf"),
    "gpu_report": Fact(_read_gpu_report, None, "nvidia-smi -q, then dmesg for Xids"),
    "ras_counts": Fact(_read_ras_counts, None, "dmesg for amdgpu, and /sys/class/drm/card*/device/ras"),
}
