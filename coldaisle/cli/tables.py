"""A plan as tables for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

from rich.console import Console
from rich.table import Table

from coldaisle.plan.budgets import Change
from coldaisle.plan.model import FabricPlan, RackPlan, SitePlan
from coldaisle.render.changes import COLUMNS, headline, lines
from coldaisle.units import counted, kilowatts, percent

_ROLES: tuple[Literal["core", "spine", "leaf", "oob"], ...] = ("core", "spine", "leaf", "oob")


def print_plan(plan: SitePlan, console: Console | None = None) -> None:
    """Print a plan: a head line, then racks, cooling, fabrics, pools and plays."""
    console = console or Console()
    gpus = sum(node.gpus for node in plan.nodes)
    parts = (counted(len(plan.nodes), "node"), counted(gpus, "GPU"), counted(len(plan.facility.racks), "rack"))
    console.print(f"[bold]{plan.name}[/] ({plan.domain}): {', '.join(parts)}, {kilowatts(plan.facility.it_power_w)}")
    for make in (_racks, _cooling, _start, _fabrics, _pools, _serving, _plays):
        table = make(plan)
        if table.row_count:
            console.print(table)


def _table(title: str, columns: Iterable[str], numbers: Iterable[str] = ()) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column)
    for column in numbers:
        table.add_column(column, justify="right")
    return table


def _racks(plan: SitePlan) -> Table:
    """Return the racks, neighbours that are alike in one line."""
    table = _table("Racks", ("racks", "hall / row"), ("units", "power each", "feeds: load of capacity", "after a loss"))
    for figures, alike in groupby(plan.facility.racks, _figures):
        table.add_row(_first_to_last([rack.name for rack in alike]), *figures)
    return table


def _first_to_last(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names)})"


def _figures(rack: RackPlan) -> tuple[str, ...]:
    """Return what a line says of a rack: its place, its units, its power, and each feed in full and after a loss."""
    units = f"{rack.used_u} of {rack.height_u}"
    loads = _alike((feed.name, f"{kilowatts(feed.load_w)} of {kilowatts(feed.capacity_w)}") for feed in rack.feeds)
    after = _alike((feed.name, percent(feed.load_after_loss_w, feed.capacity_w)) for feed in rack.feeds)
    return f"{rack.hall} / {rack.row}", units, kilowatts(rack.power_w), loads, after


def _alike(named: Iterable[tuple[str, str]]) -> str:
    """Return lines of names and what is said of them: `a, b 13.6 kW of 34.4 kW`."""
    names: dict[str, list[str]] = {}
    for name, said in named:
        names.setdefault(said, []).append(name)
    return "\n".join(f"{', '.join(those)} {said}" for said, those in names.items())


def _cooling(plan: SitePlan) -> Table:
    table = _table("Cooling", ("name", "kind"), ("racks", "load", "capacity", "after a loss"))
    for loop in plan.facility.cooling:
        figures = (kilowatts(loop.load_w), kilowatts(loop.capacity_w), kilowatts(loop.capacity_after_loss_w))
        table.add_row(loop.name, loop.kind, str(len(loop.racks)), *figures)
    return table


def _start(plan: SitePlan) -> Table:
    """Return the groups in which a site starts after a blackout; empty where a start-up draw is not known."""
    table = _table("Start after a blackout", ("group", "racks"), ("devices", "start-up", "running before"))
    for at, group in enumerate(plan.facility.start_order or (), start=1):
        figures = (str(len(group.devices)), kilowatts(group.startup_w), kilowatts(group.running_w))
        table.add_row(str(at), _first_to_last(group.racks), *figures)
    return table


def _fabrics(plan: SitePlan) -> Table:
    table = _table("Fabrics", ("fabric", "kind", "topology", "switches"), ("rails", "cables", "oversubscription"))
    for fabric in plan.fabrics.values():
        ratio = "-" if fabric.oversubscription is None else f"{fabric.oversubscription:g}"
        shape = (fabric.name, fabric.kind, fabric.topology, _switches(fabric))
        table.add_row(*shape, str(fabric.rails), str(len(fabric.cables)), ratio)
    return table


def _switches(fabric: FabricPlan) -> str:
    counts = Counter(switch.role for switch in fabric.switches)
    return ", ".join(f"{counts[role]} {role}" for role in _ROLES if counts[role]) or "none"


def _pools(plan: SitePlan) -> Table:
    table = _table("Pools", ("pool", "role", "system", "boot"), ("nodes", "GPUs"))
    for pool in plan.pools:
        nodes = [node for node in plan.nodes if node.pool == pool.name]
        boots = ", ".join(sorted({node.boot for node in nodes}))
        gpus = sum(node.gpus for node in nodes)
        table.add_row(pool.name, pool.role, pool.system, boots, str(len(nodes)), str(gpus))
    return table


def _serving(plan: SitePlan) -> Table:
    table = _table("Endpoints", ("endpoint", "model"), ("replicas", "GPUs a replica", "start-up"))
    for endpoint in plan.endpoints:
        replicas = "autoscaled" if endpoint.replicas is None else str(endpoint.replicas)
        figures = (replicas, str(endpoint.gpus_per_replica), f"{endpoint.startup_s} s")
        table.add_row(endpoint.name, endpoint.model, *figures)
    return table


def _plays(plan: SitePlan) -> Table:
    table = _table("Plays, in order", ("play", "playbook", "after"), ("hosts", "facts"))
    for play in plan.plays:
        facts = sum(len(facts) for facts in play.facts.values())
        table.add_row(play.name, play.playbook, ", ".join(play.after), str(len(play.facts)), str(facts))
    return table


# -- budgets before and after -------------------------------------------------------------------------------------
def print_changes(changes: Sequence[Change], console: Console | None = None) -> None:
    """Print the budgets that differ between two plans, those that read the same as one line."""
    console = console or Console()
    if changes:
        what, budget, *numbers = COLUMNS
        table = _table("Budgets before and after", (what, budget), numbers)
        for line in lines(changes):
            table.add_row(*line.cells, style="bold" if line.over else None)
        console.print(table)
    console.print(headline(changes), highlight=False)
