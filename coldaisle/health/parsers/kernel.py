"""Lines of the kernel's log: Xids, PCI Express errors (AER), links of network ports, AMD's RAS, and disks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from coldaisle.health.events import Event, Kind, pci_address

_Found = tuple[str, Kind, str, int]
"""Part, kind, code and count of what a line tells."""

RECOVERY = "154"
"""The Xid whose text names what the GPU needs; its code here has that behind a colon."""


def _xid(line: re.Match[str]) -> _Found:
    code = line["code"]
    if code == RECOVERY:
        named = re.findall(r"\(([A-Za-z0-9 ]+)\)", line["rest"])
        code = f"{code}:{named[-1].strip().lower().replace(' ', '-')}" if named else code
    return f"gpu {pci_address(line['pci'])}", "xid", code, 1


def _sxid(line: re.Match[str]) -> _Found:
    severity = re.match(r"\s*(fatal|non-fatal)", line["rest"], re.IGNORECASE)
    return f"nvswitch {pci_address(line['pci'])}", "nvlink", f"sxid-{(severity or ['', 'unknown'])[1].lower()}", 1


def _aer(line: re.Match[str]) -> _Found:
    severity = line["severity"].lower()
    code = "corrected" if severity == "corrected" else "fatal" if "(fatal" in severity else "nonfatal"
    return f"pci {pci_address(line['pci'])}", "pcie", code, 1


def _link(line: re.Match[str]) -> _Found:
    return f"port {line['port']}", "link", f"link-{line['state'].lower()}", 1


def _block(line: re.Match[str]) -> _Found:
    return f"disk {line['disk']}", "disk", "io-error", 1


def _nvme(line: re.Match[str]) -> _Found:
    return f"disk {line['disk']}", "disk", "timeout", 1


def _slot_power(line: re.Match[str]) -> _Found:
    return f"pci {pci_address(line['pci'])}", "pcie", "slot-power", 1


def _ras(line: re.Match[str]) -> _Found:
    code = "uncorrected" if line["kind"] else "corrected"
    return f"gpu {pci_address(line['pci'])}", "ras", code, int(line["count"])


def _amd_reset(line: re.Match[str]) -> _Found:
    return f"gpu {pci_address(line['pci'])}", "ras", "reset-failed" if "failed" in line[0] else "hang", 1


_PCI = r"(?P<pci>[0-9a-fA-F:.]{5,16})"
LINES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Found]], ...] = (
    (re.compile(rf"NVRM: Xid \((?:PCI:)?{_PCI}\): (?P<code>\d+)(?P<rest>.*)"), _xid),
    (re.compile(rf"SXid \((?:PCI:)?{_PCI}\): (?P<code>\d+),(?P<rest>.*)"), _sxid),
    (re.compile(rf"{_PCI}: PCIe Bus Error: severity=(?P<severity>Corrected|Uncorrec\w+ \([\w-]+\))"), _aer),
    (re.compile(rf"mlx5_core {_PCI} (?P<port>\S+): Link (?P<state>up|down)"), _link),
    (re.compile(rf"mlx5_core {_PCI}: .*Detected insufficient power on the PCIe slot"), _slot_power),
    (re.compile(rf"amdgpu {_PCI}: (?:amdgpu: )?(?:\{{\d+\}})?"
                r"(?P<count>[1-9]\d*) (?:new )?(?P<kind>un)?correctable hardware errors detected in"), _ras),
    (re.compile(rf"amdgpu {_PCI}: .*(?:GPU reset\(\d+\) failed|ring \S+ timeout, signaled)"), _amd_reset),
    (re.compile(r"I/O error, dev (?P<disk>\w+), sector \d+"), _block),
    (re.compile(r"nvme (?P<disk>nvme\d+): I/O .*timeout"), _nvme),
)  # fmt: skip
"""
What is known of lines, and what each tells. Forms: NVIDIA's Xid document; drivers/pci/pcie/aer.c, mlx5, amdgpu,
block/blk-mq.c and drivers/nvme/host/pci.c of Linux. amdgpu's "no uncorrectable hardware errors" and a count of 0 are
good news, and match nothing.
"""


def kernel_events(node: str, lines: Iterable[tuple[float, str]]) -> list[Event]:
    """
    Return what lines of a kernel's log tell, each a time (see `Event.seen_at`) and a text; a port's flaps are counted.

    A link that comes up again and nothing else is no event: the one that went down is.
    """
    found = [event for at, text in lines for event in _of_line(node, at, text)]
    return [event for event in found if event.code != "link-up"]


def marks() -> tuple[str, ...]:
    """Return texts of which every line that is known has one, so that hosts send no others."""
    return "NVRM: Xid", "SXid", "PCIe Bus Error", "mlx5_core", "amdgpu", "I/O error, dev", "nvme nvme"


def _of_line(node: str, at: float, text: str) -> list[Event]:
    for pattern, tells in LINES:
        line = pattern.search(text)
        if line is not None:
            part, kind, code, count = tells(line)
            return [Event(node, part, kind, code, count, at, text.strip())]
    return []
