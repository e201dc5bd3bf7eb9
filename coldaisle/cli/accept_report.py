"""What a run of acceptance found, for a person: lines on the terminal, JSON, and one HTML page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

from coldaisle.acceptance import DOMAINS, TRIES, NodeOutcome, body_of
from coldaisle.cli.accept_judge import Done
from coldaisle.render.report.acceptance import acceptance_page

MARKS = {"passed": "pass", "failed": "FAIL", "measured": "measured", "could-not-tell": "?"}
"""How the table shows a status: in words, so that it does not depend on colour."""


def report_json(done: Done) -> dict[str, Any]:
    """Return a run as JSON for programs."""
    return {
        "schema_version": "1",
        "site": done.site,
        "plan": done.plan,
        "phase": done.phase,
        "who": done.who,
        "when": done.when.isoformat(timespec="seconds"),
        "nodes": {outcome.node: body_of(outcome, done.results, done.phase) for outcome in done.outcomes},
        "evidence": [str(path) for path in done.evidence.values()],
        "problems": list(done.problems),
    }


def print_report(done: Done) -> None:
    """Print a line a node, then the reasons with the parts to look at, then a closing line."""
    console = Console(width=160, highlight=False, markup=False)
    table = Table("node", "verdict", *DOMAINS, box=None, pad_edge=False)
    for outcome in done.outcomes:
        cells = [MARKS[outcome.domains[domain]] if domain in outcome.domains else "-" for domain in DOMAINS]
        table.add_row(outcome.node, outcome.verdict, *cells)
    console.print(table)
    for outcome in done.outcomes:
        for line in reasons_of(outcome):
            console.print(line)
    for problem in done.problems:
        console.print(problem)
    counts = Counter(outcome.verdict for outcome in done.outcomes)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in ("accepted", "refused", "could-not-tell")))


def reasons_of(outcome: NodeOutcome) -> list[str]:
    """Return why a node is not accepted, a line a reason, and what to do when it fails again and again."""
    lines = [
        f"{outcome.node} {test}: {reason.what}" + (f"\n  part: {reason.part.text()}" if reason.part else "")
        for test, reason in outcome.reasons
    ]
    if outcome.event == "repair":
        lines.append(
            f"{outcome.node} has failed {outcome.failures} times in a row ({TRIES} are enough): stop, and open a repair"
        )
    return lines


def page(done: Done) -> str:
    """Return a run as one HTML page."""
    return acceptance_page(report_json(done), {outcome.node: reasons_of(outcome) for outcome in done.outcomes})
