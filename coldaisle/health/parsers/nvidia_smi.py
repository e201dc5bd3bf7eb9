"""What `nvidia-smi -q -x` says of GPUs: their identity, memory errors, temperatures, and their PCI Express links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, fromstring

from coldaisle.health.events import Event, Kind, pci_address

GPU_LIMIT_BYTES = 16 * 1024 * 1024
"""More than the report of any node; a longer text is not one."""


class NotAReportError(ValueError):
    """The text is no report of nvidia-smi; the message says what it begins with."""


@dataclass(frozen=True, slots=True)
class SmiReport:
    """GPUs by the names of their parts, each with what tells it from others, and what is wrong with them."""

    parts: Mapping[str, Mapping[str, str]]
    events: tuple[Event, ...]


COUNTERS: tuple[tuple[str, Kind, str], ...] = (
    ("ecc_errors/volatile/dram_uncorrectable", "ecc", "uncorrected"),
    ("ecc_errors/volatile/sram_uncorrectable", "ecc", "uncorrected"),
    ("ecc_errors/volatile/sram_uncorrectable_parity", "ecc", "uncorrected"),
    ("ecc_errors/volatile/sram_uncorrectable_secded", "ecc", "uncorrected"),
    ("ecc_errors/volatile/dram_correctable", "ecc", "corrected"),
    ("ecc_errors/volatile/sram_correctable", "ecc", "corrected"),
    ("pci/replay_counter", "pcie", "replay"),
)
"""Counters that are 0 on a healthy GPU; those of memory count since the driver was loaded, or the GPU was reset."""

FLAGS: tuple[tuple[str, Kind, str], ...] = (
    ("ecc_errors/aggregate/sram_threshold_exceeded", "ecc", "sram-threshold"),
    ("ecc_errors/unrepairable_memory", "ecc", "unrepairable"),
    ("remapped_rows/remapped_row_pending", "ecc", "remap-pending"),
    ("remapped_rows/remapped_row_failure", "ecc", "remap-failed"),
    ("retired_pages/pending_retirement", "ecc", "retirement-pending"),
    ("clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown", "thermal", "hw-slowdown"),
    ("clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown", "thermal", "hw-slowdown"),
)
"""What reads No or Not Active on a healthy GPU; drivers before 535 call the reasons of clocks throttle reasons."""

SET = frozenset({"yes", "active"})
IDENTITY = ("serial", "uuid", "product_name", "minor_number")


def smi_report(node: str, text: str, at: float) -> SmiReport:
    """
    Return what a report tells.

    Raises:
        NotAReportError: it is not a report.
    """
    try:
        if len(text) > GPU_LIMIT_BYTES or "<!ENTITY" in text:
            raise NotAReportError("a report of nvidia-smi is shorter, and defines no entities")
        root = fromstring(text)  # noqa: S314 - entities are refused above, so that nothing in it can grow
    except ParseError:
        raise NotAReportError(f"not what nvidia-smi -q -x prints: {text[:60]!r}") from None
    if root.tag != "nvidia_smi_log":
        raise NotAReportError(f"not what nvidia-smi -q -x prints: <{root.tag}>")
    gpus = {f"gpu {pci_address(gpu.get('id', ''))}": gpu for gpu in root.findall("gpu")}
    parts = {part: {name: said for name in IDENTITY if (said := _text(gpu, name))} for part, gpu in gpus.items()}
    found = [event for part, gpu in gpus.items() for event in _of_gpu(node, part, gpu, at)]
    return SmiReport(parts, tuple(sorted(found)))


def _of_gpu(node: str, part: str, gpu: Element, at: float) -> Iterator[Event]:
    counted: dict[tuple[Kind, str], int] = {}
    for path, kind, code in COUNTERS:
        counted[kind, code] = counted.get((kind, code), 0) + (_number(gpu, path) or 0)
    for (kind, code), count in counted.items():
        if count:
            yield Event(node, part, kind, code, count, at, f"{code} {kind}: {count}", state=True)
    for path, kind, code in FLAGS:
        if _text(gpu, path).lower() in SET:
            yield Event(node, part, kind, code, 1, at, f"{path.rpartition('/')[2]}: yes", state=True)
    yield from _too_warm(node, part, gpu, at)
    yield from _narrow(node, part, gpu, at)


def _too_warm(node: str, part: str, gpu: Element, at: float) -> Iterator[Event]:
    """A GPU slows itself down at its own threshold; what no driver tells is no event."""
    temperature_c = _number(gpu, "temperature/gpu_temp")
    slowdown_c = _number(gpu, "temperature/gpu_temp_slow_threshold")
    if temperature_c is not None and slowdown_c and temperature_c >= slowdown_c:
        said = f"{temperature_c} C, and it slows down at {slowdown_c} C"
        yield Event(node, part, "thermal", "over-slowdown", 1, at, said, state=True)


def _narrow(node: str, part: str, gpu: Element, at: float) -> Iterator[Event]:
    """A link that has lost lanes. Its rate is no sign: an idle GPU lowers it to save power, but keeps its lanes."""
    widths = "pci/pci_gpu_link_info/link_widths"
    now, most = (_number(gpu, f"{widths}/{name}") for name in ("current_link_width", "max_link_width"))
    if now is not None and most is not None and now < most:
        yield Event(node, part, "pcie", "width", 1, at, f"x{now} of x{most} lanes", state=True)


def _text(gpu: Element, path: str) -> str:
    said = (gpu.findtext(path) or "").strip()
    return "" if said in {"N/A", "[N/A]", "Requested functionality has been deprecated"} else said


def _number(gpu: Element, path: str) -> int | None:
    found = re.match(r"\d+", _text(gpu, path))
    return int(found[0]) if found else None
