"""The work of `coldaisle node repair`: out of service, drained, with the ticket of the acceptance that refused it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.cli.bmc import refuse
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_evidence import refused_by
from coldaisle.cli.node_workload import take_out
from coldaisle.life.ticket import summary, ticket_text

if TYPE_CHECKING:
    from coldaisle.cli.node_steps import Opened, Person
    from coldaisle.spec.journal import Step

TICKET = "ticket"


def repair_node(known: Opened, person: Person, evidence: str | None, drain_s: int | None) -> Step:
    """
    Take a broken node out of service, and return its last step; the ticket is in its details.

    Raises:
        typer.Exit: nobody says why, the evidence is no refusal of this node, or it cannot go to repair.

    """
    details: dict[str, Any] = {}
    if evidence:
        body = refused_by(known, evidence)
        details[TICKET] = ticket_text(known.node, body, Path(evidence).name)
        person = replace(person, why=person.why or summary(body))
    if not person.why:
        refuse("why? Say it with --why, or name the refusal that acceptance has kept with --evidence", ExitCode.INVALID)
    return take_out(known, "repair", person, drain_s, details)
