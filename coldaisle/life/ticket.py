"""
The text of a repair's ticket: what acceptance has refused a node for, by the part to replace. Pure.

It is made of the body of `acceptance` evidence, so that who takes it to the rack reads what the tests have found, where
the part sits and which serial it has, and who has written the evidence down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coldaisle.plan.model import NodePlan
from coldaisle.units import counted

NO_PART = "no part is named"


def ticket_text(node: NodePlan, body: Mapping[str, Any], evidence: str) -> str:
    """
    Return a ticket as lines: the node and where it stands, then every part with what was found, then the evidence.

    Args:
        node: The node.
        body: Of a statement of kind `acceptance` that has refused it.
        evidence: The name of the statement's file.

    """
    failures = int(body.get("failures_in_a_row", 1))
    head = f"{node.name}, rack {node.rack}, unit {node.rack_unit}: refused by acceptance"
    head += f" ({body['phase']}), {counted(failures, 'time')} in a row"
    parts = [f"- {part}: {'; '.join(found)}" for part, found in _by_part(body.get("reasons", ())).items()]
    return "\n".join([head, *parts, f"evidence: {evidence}"])


def summary(body: Mapping[str, Any]) -> str:
    """Return a refusal in one line, as the reason of a step."""
    parts = [part for part in _by_part(body.get("reasons", ())) if part != NO_PART]
    told = (
        ", ".join(parts) or "; ".join(str(reason["what"]) for reason in body.get("reasons", ())) or "no reason is told"
    )
    return f"acceptance failed {counted(int(body.get('failures_in_a_row', 1)), 'time')} in a row: {told}"


def _by_part(reasons: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return what was found by the part that it is about, each finding once, in the order of the tests."""
    found: dict[str, list[str]] = {}
    for reason in reasons:
        part = reason.get("part")
        lines = found.setdefault(str(part["text"]) if part else NO_PART, [])
        line = f"{reason['what']} ({reason['test']})"
        if line not in lines:
            lines.append(line)
    return found
