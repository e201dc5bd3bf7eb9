"""What twins found, as JSON and as tables; and the exit status that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from sim.twin.records import Check, Drill, TwinReport

SHOWN = 8
STYLES = {"passed": "green", "failed": "bold red", "not run": "yellow"}


def as_json(reports: Sequence[TwinReport]) -> dict[str, Any]:
    """Return reports as plain data."""
    return {"schema_version": "1", "fabrics": [_report(report) for report in reports]}


def _report(report: TwinReport) -> dict[str, Any]:
    counts = {status.replace(" ", "_"): report.count(status) for status in ("passed", "failed", "not run")}
    return {**asdict(report), "counts": counts}


def print_reports(reports: Sequence[TwinReport], console: Console | None = None) -> None:
    """Print the checks of each fabric, how long traffic was without, and a line that counts."""
    console = console or Console()
    for report in reports:
        print_checks(f"{report.site}, fabric {report.fabric}", report.checks, console)
        if report.drills:
            console.print(_drills(report.drills))
        if report.not_survived:
            some = ", ".join(report.not_survived[:SHOWN]) + (", …" if len(report.not_survived) > SHOWN else "")
            console.print(f"by the plan, not survived and not tried: {some}", highlight=False)
        console.print(_counts(report), highlight=False)


def print_checks(title: str, checks: Sequence[Check], console: Console) -> None:
    """Print a table of checks, and below it the details of each."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in ("check", "", "expected", "seen"):
        table.add_column(column, overflow="fold")
    for one in checks:
        table.add_row(one.name, f"[{STYLES[one.status]}]{one.status}[/]", one.expected, one.seen)
    console.print(table)
    for one in checks:
        for line in one.details[:SHOWN]:
            console.print(f"  {one.name}: {line}", highlight=False, markup=False, soft_wrap=True)
        if len(one.details) > SHOWN:
            console.print(f"  {one.name}: and {len(one.details) - SHOWN} more (--json has all)", highlight=False)


def _drills(drills: Sequence[Drill]) -> Table:
    table = Table(title="Single failures", title_justify="left", header_style="bold")
    table.add_column("what fails")
    for column in ("tried", "without traffic: median", "longest", "all routes back: longest"):
        table.add_column(column, justify="right")
    for kind in dict.fromkeys(one.kind for one in drills):
        ran = [one for one in drills if one.kind == kind and one.flows]
        without = [one.outage_ms for one in ran if one.outage_ms is not None]
        back = [one.restored_ms for one in ran if one.restored_ms is not None]
        table.add_row(
            kind, str(len(ran)), *(_ms(values) for values in ([median(without)] if without else [], without, back))
        )
    return table


def _ms(values: Sequence[float]) -> str:
    return f"{max(values):.0f} ms" if values else "-"


def _counts(report: TwinReport) -> str:
    hosts = f"{report.hosts} of {report.hosts_planned} planned hosts run"
    parts = [
        f"{report.count('passed')} checks passed, {report.count('failed')} failed, {report.count('not run')} not run"
    ]
    parts += [f"{report.switches} switches, {hosts}; traffic between {report.ends}"]
    parts += [f"{phase.replace('_', ' ')} {seconds:.1f} s" for phase, seconds in report.times_s.items()]
    if report.memory_mib is not None:
        parts.append(f"{report.memory_mib:.0f} MiB")
    return "; ".join(parts)
