"""What `coldaisle node inspect` and `accept` do with what they see: print it, write it down, and move the node on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_evidence import accepted_by
from coldaisle.cli.node_hardware import cabled, code_of, inspected, remembered
from coldaisle.cli.node_steps import Opened, Person, replace_last, step
from coldaisle.cli.node_workload import give_back
from coldaisle.cli.output import print_json
from coldaisle.life.states import refusal
from coldaisle.spec.journal import EARLY

if TYPE_CHECKING:
    from coldaisle.life.hardware import Inspection
    from coldaisle.spec.journal import State, Step
    from coldaisle.verify import CablingReport


def inspect_node(
    known: Opened, person: Person, seen: Sequence[str], *, unknown_is_fine: bool, as_json: bool
) -> ExitCode:
    """Inspect a node, move a new one on, and return the exit status."""
    cables = cabled(known, seen)
    last = step(known, "inspect", person, known.last) if known.state in EARLY else known.last
    found = inspected(known)
    code = code_of(found, cables, unknown_is_fine=unknown_is_fine)
    if known.state in EARLY:
        last = _moved_on(known, person, last, (found, cables), code)
    _print(known, found, cables, last, as_json=as_json)
    return code


def _moved_on(
    known: Opened, person: Person, last: Step | None, seen: tuple[Inspection, CablingReport | None], code: ExitCode
) -> Step:
    """Write down what was seen; hardware that is as planned is verified, and cables too let plays begin."""
    found, cables = seen
    details = remembered(found, cables)
    if code != ExitCode.CLEAN:
        return step(known, "inspect", person, last, details)
    last = step(known, "verify", person, last, details)
    return step(known, "provision", person, last) if cables is not None else last


def accept_node(
    known: Opened, person: Person, evidence: str | None, *, unknown_is_fine: bool, as_json: bool
) -> ExitCode:
    """Inspect a node, and take it into service where it is as planned; else it stays in accept."""
    details: dict[str, Any] = {"evidence": accepted_by(known, evidence)} if evidence else {}
    last = known.last
    for state in _way(known):
        last = step(known, state, person, last)
    found = inspected(known)
    code = code_of(found, None, unknown_is_fine=unknown_is_fine)
    details |= {key: value for key, value in remembered(found, None).items() if value}
    to: State = "in-service" if code == ExitCode.CLEAN else "accept"
    if to == "in-service":
        give_back(replace_last(known, last))
    last = step(known, to, person, last, details)
    _print(known, found, None, last, as_json=as_json)
    return ExitCode.CHECK_FAILED if code == ExitCode.CHANGED else code


def _way(known: Opened) -> tuple[State, ...]:
    """Return the states on the way to acceptance; a node that is not inspected yet has none."""
    if known.state == "verify":
        return ("provision", "accept")
    refused = refusal(known.state, "accept")
    if refused:
        refuse(f"{known.node.name}: {refused.why}\n  fix:  {refused.fix}", ExitCode.INVALID)
    return ("accept",)


def _print(known: Opened, found: Inspection, cables: CablingReport | None, last: Step | None, *, as_json: bool) -> None:
    if as_json:
        said: dict[str, Any] = {"schema_version": "1", "state": last.state if last else None, **found.as_json()}
        print_json(said | ({"cabling": cables.as_json()} if cables else {}))
        return
    from coldaisle.cli.node_tables import print_inspection  # noqa: PLC0415 - rich costs a moment

    print_inspection(found)
    if cables is not None:
        from coldaisle.cli.cabling_tables import print_report  # noqa: PLC0415

        print_report(cables)
    typer.echo(f"{known.node.name}: {last.state if last else 'in service'}")
