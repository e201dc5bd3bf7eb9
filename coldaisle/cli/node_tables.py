"""What `coldaisle node` prints for people: nodes with their states, a node's history, and an inspection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from coldaisle.life.hardware import NAMES
from coldaisle.units import counted

if TYPE_CHECKING:
    from coldaisle.life.hardware import Inspection
    from coldaisle.plan.model import NodePlan
    from coldaisle.spec.journal import Journal, Step

NO_JOURNAL = "in service"
"""What is said of a node that no journal knows."""


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def print_nodes(site: str, nodes: Iterable[NodePlan], journal: Journal) -> None:
    """Print a line a node: its place, its state, and who brought it there."""
    table = _table(f"Nodes of {site}", "node", "rack", "pool", "state", "since", "who", "why")
    for node in nodes:
        last = journal.last.get(node.name)
        told = (last.state, last.when, last.who, last.why) if last else (NO_JOURNAL, "", "", "")
        table.add_row(node.name, f"{node.rack} u{node.rack_unit:02d}", node.pool, *map(escape, told))
    Console().print(table)


def print_history(node: str, steps: Sequence[Step]) -> None:
    """Print a line a step, the oldest first; one whose time is before an earlier one's is marked: the clock jumped."""
    if not steps:
        Console().print(f"{node}: no journal knows it; it takes work as any other node")
        return
    table = _table(f"Steps of {node}", "step", "from", "to", "when", "who", "why", "details")
    latest = ""
    for step in steps:
        when = f"{step.when} (the clock went back)" if step.when < latest else step.when
        latest = max(latest, step.when)
        said = "; ".join(f"{key}: {value}" for key, value in step.details.items())
        table.add_row(str(step.step), step.was or "", step.state, when, *map(escape, (step.who, step.why, said)))
    Console().print(table)


def print_inspection(found: Inspection) -> None:
    """Print what differs, with where to look, and what could not be told."""
    if found.differences:
        table = _table(f"Hardware of {found.node}", "what", "part", "place", "planned", "seen", "look at")
        for one in found.differences:
            cells = (one.kind, NAMES.get(one.part, one.part), one.place, one.planned or "-", one.seen or "-", one.look)
            table.add_row(*map(escape, cells))
        Console().print(table)
    for one in found.differences:
        Console().print(escape(one.what), soft_wrap=True)
    for kind, why in found.could_not_tell.items():
        Console().print(escape(f"could not tell {NAMES.get(kind, kind)}: {why}"), soft_wrap=True)
    differ = counted(len(found.differences), "difference")
    Console().print(f"{found.node}: {counted(found.as_planned, 'part')} as planned, {differ}")
