"""What two guests showed, as JSON and as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console

from sim.rdma.records import RdmaReport
from sim.twin.report import print_checks


def as_json(report: RdmaReport) -> dict[str, Any]:
    """Return a report as plain data."""
    counts = {status.replace(" ", "_"): report.count(status) for status in ("passed", "failed", "not run")}
    return {"schema_version": "1", **asdict(report), "counts": counts}


def print_report(report: RdmaReport, console: Console | None = None) -> None:
    """Print the checks with their details, and a line that counts."""
    console = console or Console()
    print_checks(
        f"{report.site}, {report.nodes[0]} and {report.nodes[1]}, network {report.network}", report.checks, console
    )
    console.print(f"not in the guests: {', '.join(report.left_out)}", highlight=False)
    parts = [
        f"{report.count('passed')} checks passed, {report.count('failed')} failed, {report.count('not run')} not run"
    ]
    parts += [f"{name} {rate:.1f} MiB/s (emulated)" for name, rate in report.rates_mib_s.items()]
    parts += [f"{phase} {seconds:.0f} s" for phase, seconds in report.times_s.items()]
    console.print("; ".join(parts), highlight=False)
