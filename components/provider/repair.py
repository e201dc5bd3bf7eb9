"""A host that fails acceptance again and again: taken out of the plays by its journal, or told by a ticket."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Literal

from coldaisle.cli.health_actions import posted
from coldaisle.cli.health_files import add_ticket
from coldaisle.health.tickets import Ticket
from coldaisle.life.journal import LifeError, Wanted, record
from coldaisle.paths import state_dir
from coldaisle.plan import plan_hash
from coldaisle.spec import SpecError

if TYPE_CHECKING:
    from coldaisle.acceptance import NodeOutcome
    from coldaisle.cli.accept_judge import Judging
    from coldaisle.spec.sections import SiteSpec


def take_out(spec: SiteSpec, judging: Judging, outcome: NodeOutcome, way: Literal["repair", "ticket"]) -> str:
    """Do with a host what its pool says, and return what was done, or why it could not be."""
    told = _to_repair(spec, judging, outcome) if way == "repair" else _ticket(spec, judging, outcome)
    return f"failed {outcome.failures} times in a row: {told}"


def _to_repair(spec: SiteSpec, judging: Judging, outcome: NodeOutcome) -> str:
    last = spec.journal.last.get(outcome.node)
    why = f"failed acceptance {outcome.failures} times in a row: {_first(outcome)}"
    wanted = Wanted(
        node=outcome.node,
        to="repair",
        after=last.step if last else 0,
        who=judging.who,
        why=why,
        plan=plan_hash(judging.plan),
    )
    try:
        record(spec.folder, wanted, judging.when)
    except (LifeError, SpecError) as error:
        return f"it could not be put into repair: {error}"
    return f"it is in repair, and no play touches it until 'coldaisle node accept {judging.plan.name} {outcome.node}'"


def _ticket(spec: SiteSpec, judging: Judging, outcome: NodeOutcome) -> str:
    plan = judging.plan
    node = next(each for each in plan.nodes if each.name == outcome.node)
    parts = [reason.part for _test, reason in outcome.reasons if reason.part]
    part = parts[0].text() if parts else node.name
    ticket = Ticket(
        node=node.name,
        rack=node.rack,
        rack_unit=node.rack_unit,
        part=part,
        identity={"serial": parts[0].serial} if parts and parts[0].serial else {},
        cause=_first(outcome),
        replace=f"{part} ({node.name}, rack {node.rack}, unit {node.rack_unit})",
        tried=(f"acceptance: failed {outcome.failures} times in a row",),
        evidence=tuple(f"{test}: {reason.what}" for test, reason in outcome.reasons),
        opened_at=judging.when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    url = spec.health.ticket_webhook if spec.health else None
    try:
        if url:
            ok, why = posted(url, ticket.as_json())
            return "a ticket was posted" if ok else f"the ticket could not be posted: {why}"
        folder = state_dir(plan.name) / "health"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        add_ticket(folder, ticket)
    except OSError as error:
        return f"the ticket could not be written: {error}"
    return f"a ticket is in {folder}; it is tested again when a part of it has changed, or by 'coldaisle accept'"


def _first(outcome: NodeOutcome) -> str:
    test, reason = outcome.reasons[0]
    return f"{test}: {reason.what}"
