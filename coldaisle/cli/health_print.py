"""The report of `coldaisle health`, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import print_json
from coldaisle.health.conditions import rfc3339

if TYPE_CHECKING:
    from coldaisle.cli.health import Round

HELD_LINES = 5


def show(site: str, found: Round, *, as_json: bool) -> None:
    """Print a round."""
    if as_json:
        print_json({"schema_version": "1", "site": site, **body(found)})
    else:
        for line in lines(found):
            typer.echo(line)


def body(found: Round) -> dict[str, Any]:
    """Return a round for programs."""
    decision = found.decision
    done = [{**asdict(step), "ok": ok, "result": why} for step, ok, why in found.outcomes]
    return {
        "conditions": [{**asdict(it), "last_transition": rfc3339(it.last_transition)} for it in decision.conditions],
        "findings": [{**asdict(it), "text": it.text} for it in decision.findings],
        "proposed": [] if done else [asdict(step) for step in decision.steps],
        "done": done,
        "held": [asdict(it) for it in decision.held],
        "not_told": {name: list(notes) for name, notes in sorted(found.notes.items())},
    }


def lines(found: Round) -> list[str]:
    """Return a round for people: problems, what they have in common, what to do, what waits, what is not known."""
    decision = found.decision
    bad = [it for it in decision.conditions if it.status == "True"]
    text = [f"{it.node}  {it.type} since {rfc3339(it.last_transition)}: {it.message}" for it in bad]
    text += [f"burst: {it.text}" for it in decision.findings]
    if found.outcomes:
        text += [
            f"{step.node}  {step.rung} {'done' if ok else 'failed'} for {step.part} ({step.why})"
            + (f": {why}" if why else "")
            for step, ok, why in found.outcomes
        ]
    else:
        text += [f"{step.node}  {step.rung} is proposed for {step.part} ({step.why})" for step in decision.steps]
    text += [f"{it.node}  {it.rung} waits: {it.limit}" for it in decision.held[:HELD_LINES]]
    if len(decision.held) > HELD_LINES:
        text.append(f"and {len(decision.held) - HELD_LINES} more wait, by the same limits")
    text += [f"{name}  could not tell {note}" for name, notes in sorted(found.notes.items()) for note in notes]
    return text or ["all nodes are well"]


def exit_code(found: Round) -> ExitCode:
    """Return the exit status: problems first, then what could not be told."""
    if any(it.status == "True" for it in found.decision.conditions) or found.decision.findings:
        return ExitCode.CHECK_FAILED
    return ExitCode.COULD_NOT_TELL if found.notes else ExitCode.CLEAN
