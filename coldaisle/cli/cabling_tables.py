"""What a comparison of cables found, as a table for whoever stands in front of the racks."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from coldaisle.plan.model import End
from coldaisle.units import counted
from coldaisle.verify import CablingReport, Finding
from coldaisle.verify.report import SHOWN_EACH


def print_report(report: CablingReport, console: Console | None = None) -> None:
    """Print findings with both ends, what could not be told by its reason, notes, and a line that counts."""
    console = console or Console()
    if report.findings:
        console.print(_table(report))
    for reason, cables in report.reasons():
        console.print(f"could not tell {counted(len(cables), 'cable')}: {reason}", highlight=False, markup=False)
        for one in cables[:SHOWN_EACH]:
            console.print(f"  {_end(report, one.a)}  to  {_end(report, one.b)}", highlight=False, markup=False)
        if len(cables) > SHOWN_EACH:
            console.print(f"  and {len(cables) - SHOWN_EACH} more (--json has all)", highlight=False)
    for note in report.notes:
        console.print(f"note: {note}", highlight=False, markup=False)
    console.print(_counts(report), highlight=False)


def _counts(report: CablingReport) -> str:
    told = f"{report.as_planned} of {counted(report.planned, 'cable')} as planned"
    rest = f"{counted(len(report.findings), 'finding')}, {len(report.unknown)} could not be told"
    ignored = f"; {counted(report.ignored, 'neighbour')} of no planned port ignored" if report.ignored else ""
    return f"{told}, {rest}{ignored}"


def _table(report: CablingReport) -> Table:
    table = Table(title="Cabling", title_justify="left", header_style="bold")
    for column in ("finding", "rack", "port", "rack", "port", "what to do"):
        table.add_column(column, overflow="fold")
    for finding in report.findings:
        one, two = finding.ends
        places = (report.where(one), f"{one.device}:{one.port}", report.where(two), f"{two.device}:{two.port}")
        table.add_row(_kind(finding), *places, finding.fix)
    return table


def _kind(finding: Finding) -> str:
    """Return the kind, with its place where findings must be mended in their order."""
    rails = " (rails)" if finding.wrong_rail and finding.kind == "swapped" else ""
    order = f" {finding.step}/{finding.steps}" if finding.steps > 1 else ""
    return f"{finding.kind}{rails}{order}"


def _end(report: CablingReport, end: End) -> str:
    return f"{report.where(end)} {end.device}:{end.port}"
