"""What tools and logs print, in the forms of their documents, as events: what is bad, of which part, how often."""

from __future__ import annotations

import pytest

from coldaisle.health.events import pci_address
from coldaisle.health.parsers import NotAReportError, bmc_events, kernel_events, smi_report
from coldaisle.health.policy import policy_of
from coldaisle.health.xids import xids
from coldaisle.spec.health import ACTIONS
from tests.unit.health.sites import T0

LINES = [
    ("NVRM: Xid (PCI:0000:c6:00): 79, pid=1101234, name=nvc:[driver], GPU has fallen off the bus.",
     "gpu 0000:c6:00.0", "xid", "79", 1),
    ("NVRM: Xid (0000:01:00): 13, 0005 00000000 0000502d 00000104", "gpu 0000:01:00.0", "xid", "13", 1),
    ("NVRM: Xid (PCI:0002:00:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
     "gpu 0002:00:00.0", "xid", "154:node-reboot-required", 1),
    ("nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
     "nvswitch 0000:04:00.0", "nvlink", "sxid-fatal", 1),
    ("pcieport 0000:00:1d.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)",
     "pci 0000:00:1d.0", "pcie", "corrected", 1),
    ("nvidia 0000:58:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)",
     "pci 0000:58:00.0", "pcie", "fatal", 1),
    ("nvme 0000:02:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer",
     "pci 0000:02:00.0", "pcie", "nonfatal", 1),
    ("blk_update_request: I/O error, dev sda, sector 0 op 0x0:(READ) flags 0x0", "disk sda", "disk", "io-error", 1),
    ("nvme nvme0: I/O 832 QID 3 timeout, aborting", "disk nvme0", "disk", "timeout", 1),
    ("mlx5_core 0000:98:00.0 rail0: Link down", "port rail0", "link", "link-down", 1),
    ("mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).",
     "pci 0000:5c:00.0", "pcie", "slot-power", 1),
    ("amdgpu 0000:c3:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block",
     "gpu 0000:c3:00.0", "ras", "uncorrected", 2),
    ("amdgpu 0000:08:00.0: {1}3 correctable hardware errors detected in gfx block",
     "gpu 0000:08:00.0", "ras", "corrected", 3),
    ("amdgpu 0000:08:00.0: amdgpu: GPU reset(2) failed", "gpu 0000:08:00.0", "ras", "reset-failed", 1),
]  # fmt: skip
"""Lines as drivers write them, and part, kind, code and count of what they tell."""

QUIET = [
    "mlx5_core 0000:98:00.0 rail0: Link up",
    "amdgpu 0000:c3:00.0: amdgpu: no uncorrectable hardware errors detected in umc block",
    "amdgpu 0000:c3:00.0: amdgpu: 0 uncorrectable hardware errors detected in umc block",
    "amdgpu 0000:09:00.0: amdgpu: ring gfx_0.0.0 timeout, but soft recovered",
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05",
    "pcieport 0000:00:01.1: AER: Corrected error message received from 0000:00:01.1",
]
"""Good news, and lines that another line of the same error repeats."""


@pytest.mark.parametrize(("line", "part", "kind", "code", "count"), LINES)
def test_a_line_of_the_kernel_is_one_event(line: str, part: str, kind: str, code: str, count: int) -> None:
    """Each form that drivers write tells of a part, and of nothing else."""
    [found] = kernel_events("r01-n01", [(T0, f"[12.3] {line}")])
    assert (found.part, found.kind, found.code, found.count, found.seen_at) == (part, kind, code, count, T0)


@pytest.mark.parametrize("line", QUIET)
def test_good_news_and_echoes_are_no_events(line: str) -> None:
    """What the driver says when all is well has the words of a fault, and must not open a ticket."""
    assert kernel_events("r01-n01", [(T0, line)]) == []


REPORT = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log><attached_gpus>2</attached_gpus>
<gpu id="00000000:19:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name><serial>1650000000001</serial>
 <uuid>GPU-1</uuid><minor_number>0</minor_number>
 <pci><pci_gpu_link_info><link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width>
 </link_widths></pci_gpu_link_info><replay_counter>0</replay_counter></pci>
 <ecc_errors><volatile><sram_correctable>0</sram_correctable><sram_uncorrectable_parity>1</sram_uncorrectable_parity>
 <dram_uncorrectable>2</dram_uncorrectable></volatile>
 <aggregate><sram_threshold_exceeded>Yes</sram_threshold_exceeded></aggregate></ecc_errors>
 <retired_pages><pending_retirement>N/A</pending_retirement></retired_pages>
 <remapped_rows><remapped_row_pending>Yes</remapped_row_pending><remapped_row_failure>No</remapped_row_failure>
 </remapped_rows><temperature><gpu_temp>93 C</gpu_temp><gpu_temp_slow_threshold>92 C</gpu_temp_slow_threshold>
 </temperature></gpu>
<gpu id="00000000:2D:00.0"><serial>1650000000002</serial><uuid>GPU-2</uuid>
 <ecc_errors><volatile><dram_uncorrectable>N/A</dram_uncorrectable></volatile></ecc_errors>
 <temperature><gpu_temp>41 C</gpu_temp><gpu_temp_slow_threshold>N/A</gpu_temp_slow_threshold></temperature></gpu>
</nvidia_smi_log>"""


def test_a_report_of_nvidia_smi_names_what_is_wrong_and_who_it_is() -> None:
    """Counters add up over kinds of memory; what reads N/A is not known, and no event."""
    found = smi_report("r01-n01", REPORT, T0)
    assert [(it.code, it.count) for it in found.events] == [
        ("remap-pending", 1), ("sram-threshold", 1), ("uncorrected", 3), ("width", 1), ("over-slowdown", 1)
    ]  # fmt: skip
    assert {it.part for it in found.events} == {"gpu 0000:19:00.0"}
    assert all(it.state for it in found.events)
    assert found.parts["gpu 0000:2d:00.0"] == {"serial": "1650000000002", "uuid": "GPU-2"}


@pytest.mark.parametrize("text", ["NVIDIA-SMI has failed", "<html/>", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', ""])
def test_what_is_no_report_is_said_to_be_none(text: str) -> None:
    """A message of failure is not a node without errors."""
    with pytest.raises(NotAReportError):
        smi_report("r01-n01", text, T0)


def entry(text: str, severity: str = "critical", at: str = "2026-11-28T16:00:00Z") -> dict[str, str]:
    """Return an entry of a BMC's log."""
    return {"at": at, "severity": severity, "text": text, "source": "SEL"}


@pytest.mark.parametrize(
    ("text", "severity", "part", "code"),
    [
        ("DIMM A3: Uncorrectable ECC memory error", "critical", "dimm A3", "memory-critical"),
        ("PSU2 Status: Power Supply AC lost", "warning", "psu 2", "power-warning"),
        ("CPU 1: IERR", "critical", "cpu 1", "processor-critical"),
        ("Coolant leak detected under the tray", "critical", "leak", "leak-critical"),
        ("Inlet Temp: Upper critical going high", "critical", "thermal", "thermal-critical"),
    ],
)
def test_an_entry_of_a_bmc_tells_of_a_part(text: str, severity: str, part: str, code: str) -> None:
    """By the words of IPMI's sensor types, in whatever order a vendor puts them."""
    [found] = bmc_events("r01-n01", [entry(text, severity)])
    assert (found.part, found.kind, found.code) == (part, "sel", code)


def test_entries_that_are_good_news_or_have_no_time_are_passed_over() -> None:
    """What is back to normal, what the BMC calls ok, and what cannot be placed in time."""
    entries = [entry("Fan 2 returned to normal"), entry("DIMM A3 ECC", "ok"), entry("CPU 1: IERR", at="")]
    assert bmc_events("r01-n01", entries) == []


def test_a_bmc_without_a_zone_keeps_utc_and_its_clock_is_corrected() -> None:
    """Its own time, with what it is off by."""
    [found] = bmc_events("r01-n01", [entry("CPU 1: IERR", at="2026-11-28T16:00:00")], shift_s=30)
    [same] = bmc_events("r01-n01", [entry("CPU 1: IERR", at="2026-11-28T17:00:30+01:00")])
    assert found.seen_at == same.seen_at


@pytest.mark.parametrize("text", ["PCI:0000:58:00", "00000000:58:00.0", "0000:58:00.0", "58:00.0", "PCI:0000:58:00.0"])
def test_a_pci_address_has_one_form(text: str) -> None:
    """The driver, nvidia-smi and the kernel write the same slot in ways of their own."""
    assert pci_address(text) == "0000:58:00.0"


def test_every_xid_has_a_meaning_an_answer_and_a_source() -> None:
    """The catalog's entries are whole, and the application's own errors take no node from anybody."""
    assert {"13", "31", "48", "63", "64", "74", "79", "94", "95", "119", "120", "154:node-reboot-required"} <= set(
        xids()
    )
    assert all(it.source_of("meaning") and it.source_of("action") for it in xids().values())
    mild = {it.action for it in xids().values() if it.blames == "application"}
    assert mild <= {"ignore", "watch"}


def test_an_xid_that_nobody_knows_is_watched() -> None:
    """A new driver's code is no reason to drain anything."""
    [unknown] = kernel_events("r01-n01", [(T0, "NVRM: Xid (PCI:0000:58:00): 999, something new")])
    assert policy_of(None).action(unknown) == "watch"
    assert ACTIONS.index("watch") < ACTIONS.index("drain")
