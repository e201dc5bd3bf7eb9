"""Asks every node's host and BMC, and makes readings of what they tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from coldaisle.cli.collection import use_collection
from coldaisle.cli.health_files import Kept
from coldaisle.cli.host_facts import read_facts
from coldaisle.cli.progress import progress
from coldaisle.health.readings import Cursors, Read, Wanted, read_node
from coldaisle.spec.journal import UNTOUCHED

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan
    from components.provider.reading import Reading


def wanted_of(plan: SitePlan, nodes: frozenset[str], *, bmc_log: bool) -> dict[str, Wanted]:
    """Return what each of some nodes is asked for."""
    vendors = {pool.name: pool.gpu.vendor if pool.gpu else "" for pool in plan.pools}
    return {
        node.name: Wanted(node.name, node.gpus, vendors[node.pool], bmc_log and node.bmc is not None)
        for node in plan.nodes
        if node.name in nodes
    }


def collect(plan: SitePlan, wanted: Mapping[str, Wanted], kept: Kept, clock: Callable[[], float]) -> dict[str, Read]:
    """Return the reading of each node, with what it did not tell, and why."""
    at = clock()
    facts = {name: it.facts(kept.cursors.get(name, Cursors())) for name, it in wanted.items()}
    with progress("reading the nodes") as say:
        told = read_facts(plan, facts, say)
    asked = (at, clock())
    return {name: _read(it, told[name], asked, kept) for name, it in wanted.items()}


def _read(wanted: Wanted, told: Reading, asked: tuple[float, float], kept: Kept) -> Read:
    before, parts = kept.cursors.get(wanted.node, Cursors()), kept.state.parts.get(wanted.node, {})
    return read_node(wanted, (told.facts, told.errors), asked, before, parts)


def in_maintenance(plan: SitePlan) -> frozenset[str]:
    """
    Return the nodes that somebody works on: they count as out, and nothing is done to them.

    The site's journal says so, or a hold of their power on this machine.
    """
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import maintenance_of  # noqa: PLC0415

    held = {node.name for node in plan.nodes if node.bmc and maintenance_of(node.bmc.address)}
    return frozenset(held | {node.name for node in plan.nodes if node.state in UNTOUCHED})
