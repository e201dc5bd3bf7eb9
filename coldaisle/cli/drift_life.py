"""What `coldaisle drift` knows of the life of nodes: who is in maintenance, and whether who is retired is off."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from coldaisle.cli.node_bmc import power_of_node
from coldaisle.drift import life
from coldaisle.plan import plan_site
from coldaisle.spec import SpecError, load_site
from coldaisle.spec.journal import RETIRED, read_journal

if TYPE_CHECKING:
    from pathlib import Path

    from coldaisle.drift.report import Report
    from coldaisle.plan.model import NodePlan

AT_ONCE = 32
"""BMCs that are asked at once."""


def with_life(report: Report, folder: Path) -> Report:
    """
    Return a report with what the journal of a site's nodes means for it. Changes nothing.

    Raises:
        SpecError: the journal, or the spec of a site with retired nodes, cannot be used.

    """
    journal, problems = read_journal(folder)
    if problems:
        raise SpecError(problems)
    found = life.apply(report, journal)
    if RETIRED not in journal.states.values():
        return found
    return _with_power(found, plan_site(load_site(folder)).retired)


def _with_power(report: Report, retired: tuple[NodePlan, ...]) -> Report:
    nodes = [node for node in retired if node.bmc]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = dict(zip((node.name for node in nodes), pool.map(power_of_node, nodes), strict=True))
    power = {name: state for name, (state, why) in told.items() if not why}
    return life.with_retired(report, power, {name: why for name, (_, why) in told.items() if why})
