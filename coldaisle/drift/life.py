"""
What a node's state means for drift: who works on it is no damage, and who is retired must be off (D11).

A host that somebody has taken apart differs in everything. That is an answer of its own, `in-maintenance`, with who,
when and why; it stands in the report and changes no exit code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coldaisle.drift.answers import Drifted
from coldaisle.drift.report import Item, Report
from coldaisle.spec.journal import UNTOUCHED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldaisle.spec.journal import Journal

RETIRED = "retired"
"""What the report names as the resource of retired nodes, which are in no stack."""


def apply(report: Report, journal: Journal) -> Report:
    """Return the report with all that is found on hosts in maintenance, in repair or not verified yet marked so."""
    alone = {name: step.text for name, step in journal.last.items() if step.state in UNTOUCHED}
    return replace(report, items=tuple(_marked(item, alone) for item in report.items)) if alone else report


def _marked(item: Item, alone: Mapping[str, str]) -> Item:
    text = alone.get(item.host) if item.host else None
    return replace(item, left_alone=text) if text else item


def with_retired(report: Report, power: Mapping[str, str], silent: Mapping[str, str]) -> Report:
    """
    Return the report with each retired node that is not off.

    Args:
        report: What was found on the others.
        power: By retired node, what its BMC said of its power.
        silent: By retired node, why its BMC did not tell. One that was carried out of the hall never answers again, so
            this is a note and no finding.

    """
    on = [_item(node, state) for node, state in sorted(power.items()) if state != "off"]
    off = sum(state == "off" for state in power.values())
    notes = [f"{node} is retired, and its BMC does not tell whether it is off: {why}" for node, why in silent.items()]
    same = report.same | ({RETIRED: off} if off else {})
    return replace(report, items=(*report.items, *on), same=same, notes=(*report.notes, *sorted(notes)))


def _item(node: str, state: str) -> Item:
    answer = Drifted("off", state)
    return Item(layer="hosts", resource=RETIRED, host=node, thing="power", answer=answer, operation="none")
