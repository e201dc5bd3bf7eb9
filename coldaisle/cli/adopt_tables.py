"""What `coldaisle adopt` prints for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from coldaisle.adopt.outcome import Outcome
    from coldaisle.adopt.told import Unknown

MOST = 40
"""Lines of one list; all of them are in the JSON, and gaps in unknown.md."""


def print_outcome(outcome: Outcome, place: Path, written: Sequence[str]) -> None:
    """Print what was found, what contradicts, what differs, and what is not known."""
    counts = ", ".join(f"{count} {name}" for name, count in outcome.counts.items())
    typer.echo(f"The sources know {counts}.")
    _list("Sources contradict each other", [each.text for each in outcome.contradictions])
    _list("Passed over", outcome.notes)
    if outcome.problems:
        typer.echo(f"{place} was not written.")
        return
    _list("The plan differs from the sources", [each.text for each in outcome.differences])
    _list("Not known, and the spec needs it", list(_gaps(outcome.unknowns, required=True)))
    _list("Not known, and left out", list(_gaps(outcome.unknowns, required=False)))
    typer.echo(_closing(outcome, place, written))


def _list(title: str, lines: Sequence[str]) -> None:
    if lines:
        typer.echo(f"{title} ({len(lines)}):")
        for line in lines[:MOST]:
            typer.echo(f"  {line}")
        if len(lines) > MOST:
            typer.echo(f"  … and {len(lines) - MOST} more, which --json has")


def _gaps(unknowns: Iterable[Unknown], *, required: bool) -> Iterable[str]:
    """Yield gaps in words, those that are alike in one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for each in unknowns:
        if each.gap.required is required:
            alike.setdefault((each.gap.what, each.gap.look), []).append(each.path)
    for (what, look), paths in alike.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield f"{paths[0]}{more}: {what}; look at {look}"


def _closing(outcome: Outcome, place: Path, written: Sequence[str]) -> str:
    parts = [f"Wrote {len(written)} files to {place}."] if written else [f"Nothing in {place} was changed."]
    if outcome.unplanned:
        parts.append(f"What is known makes no valid spec yet: {outcome.unplanned}.")
    elif not outcome.differences:
        parts.append("The plan is what the sources say.")
    if written:
        parts.append(f"Fill in what unknown.md lists, then run coldaisle check {place}.")
    return " ".join(parts)
