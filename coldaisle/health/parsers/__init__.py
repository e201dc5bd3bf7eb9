"""From what tools and logs print to events. Each parser passes over what it does not know, and invents nothing."""

from coldaisle.health.parsers.bmc_log import bmc_events, seconds
from coldaisle.health.parsers.disks import Counted, counted_of, disk_events
from coldaisle.health.parsers.kernel import kernel_events
from coldaisle.health.parsers.nvidia_smi import NotAReportError, SmiReport, smi_report

__all__ = [
    "Counted",
    "NotAReportError",
    "SmiReport",
    "bmc_events",
    "counted_of",
    "disk_events",
    "kernel_events",
    "seconds",
    "smi_report",
]
