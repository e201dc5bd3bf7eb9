"""A plan as tables for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from rich.console import Console
from rich.table import Table

from coldaisle.plan.model import FabricPlan, RackPlan, SitePlan
from coldaisle.units import counted, kilowatts, percent

_ROLES: tuple[Literal["core", "spine", "leaf", "oob"], ...] = ("core", "spine", "leaf", "oob")


def print_plan(plan: SitePlan, console: Console | None = None) -> None:
    """Print a plan: a head line, then racks, cooling, fabrics, pools and plays."""
    console = console or Console()
    gpus = sum(node.gpus for node in plan.nodes)
    parts = (counted(len(plan.nodes), "node"), counted(gpus, "GPU"), counted(len(plan.facility.racks), "rack"))
    console.print(f"[bold]{plan.name}[/] ({plan.domain}): {', '.join(parts)}, {kilowatts(plan.facility.it_power_w)}")
    for table in (_racks(plan), _cooling(plan), _fabrics(plan), _pools(plan), _serving(plan), _plays(plan)):
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
    table = _table("Racks", ("rack", "hall / row"), ("units", "power", "feeds: load of capacity", "after a loss"))
    for rack in plan.facility.racks:
        units = f"{rack.used_u} of {rack.height_u}"
        table.add_row(rack.name, f"{rack.hall} / {rack.row}", units, kilowatts(rack.power_w), *_feeds(rack))
    return table


def _feeds(rack: RackPlan) -> tuple[str, str]:
    """Return what each feed carries, in full and after the loss of another."""
    now = (f"{f.name} {kilowatts(f.load_w)} of {kilowatts(f.capacity_w)}" for f in rack.feeds)
    after = (f"{f.name} {percent(f.load_after_loss_w, f.capacity_w)}" for f in rack.feeds)
    return "\n".join(now), "\n".join(after)


def _cooling(plan: SitePlan) -> Table:
    table = _table("Cooling", ("name", "kind"), ("racks", "load", "capacity", "after a loss"))
    for loop in plan.facility.cooling:
        figures = (kilowatts(loop.load_w), kilowatts(loop.capacity_w), kilowatts(loop.capacity_after_loss_w))
        table.add_row(loop.name, loop.kind, str(len(loop.racks)), *figures)
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
