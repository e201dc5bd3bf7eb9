"""Reads every node's host and BMC in one task each, and makes readings of what they tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from coldaisle.cli.collection import use_collection
from coldaisle.cli.health_files import Kept
from coldaisle.cli.playbook import HostResult, run_on_hosts
from coldaisle.health.readings import Cursors, Read, Wanted, read_node
from coldaisle.spec.journal import UNTOUCHED

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan


def wanted_of(plan: SitePlan, nodes: frozenset[str], *, bmc_log: bool) -> dict[str, Wanted]:
    """Return what each of some nodes is asked for."""
    vendors = {pool.name: pool.gpu.vendor if pool.gpu else "" for pool in plan.pools}
    return {
        node.name: Wanted(node.name, node.gpus, vendors[node.pool], bmc_log and node.bmc is not None)
        for node in plan.nodes
        if node.name in nodes
    }


def collect(plan: SitePlan, wanted: Mapping[str, Wanted], kept: Kept, clock: Callable[[], float]) -> dict[str, Read]:
    """
    Return the reading of each node that told anything, or why it did not.

    Raises:
        PlaybookError: Ansible could not be run.
    """
    facts = {name: it.facts(kept.cursors.get(name, Cursors())) for name, it in wanted.items()}
    at = clock()
    told = run_on_hosts(plan, "health_read", wanted, {"health_facts": facts}) if wanted else {}
    asked = (at, clock())
    return {name: _read(wanted[name], result, asked, kept) for name, result in told.items()}


def _read(wanted: Wanted, result: HostResult, asked: tuple[float, float], kept: Kept) -> Read:
    """Return a node's reading; one that does not answer may still have a BMC that did."""
    before = kept.cursors.get(wanted.node, Cursors())
    body = result.results[-1] if result.results else {}
    facts, errors = dict(body.get("facts", {})), dict(body.get("errors", {}))
    if result.error:
        errors |= {name: result.error for name in wanted.facts(before) if name not in {*facts, *errors}}
    return read_node(wanted, (facts, errors), asked, before, kept.state.parts.get(wanted.node, {}))


def in_maintenance(plan: SitePlan) -> frozenset[str]:
    """
    Return the nodes that somebody works on: they count as out, and nothing is done to them.

    The site's journal says so, or a hold of their power on this machine.
    """
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_lease import maintenance_of  # noqa: PLC0415

    held = {node.name for node in plan.nodes if node.bmc and maintenance_of(node.bmc.address)}
    return frozenset(held | {node.name for node in plan.nodes if node.state in UNTOUCHED})
