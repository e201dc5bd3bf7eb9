"""From what tools and logs print to events. Each parser passes over what it does not know, and invents nothing."""

from coldaisle.health.parsers.bmc_log import bmc_events
from coldaisle.health.parsers.kernel import kernel_events
from coldaisle.health.parsers.nvidia_smi import NotAReportError, SmiReport, smi_report

__all__ = ["NotAReportError", "SmiReport", "bmc_events", "kernel_events", "smi_report"]
