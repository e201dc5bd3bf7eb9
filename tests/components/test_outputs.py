"""What a stack gives to others, where figures are not known too."""

from __future__ import annotations

from dataclasses import replace

from coldaisle.check import open_site
from coldaisle.spec import site_folder
from components.outputs import budgets


def test_a_load_that_is_not_known_is_called_unknown() -> None:
    """A loop or a source whose load is not known is shown so, and neither fails nor counts as zero."""
    plan = open_site(site_folder("sim")).plan
    loops = tuple(replace(loop, load_w=None) for loop in plan.facility.cooling)
    sources = tuple(replace(source, load_w=None) for source in plan.facility.upstream)
    shown = budgets(replace(plan, facility=replace(plan.facility, cooling=loops, upstream=sources)))
    for line in (*shown["cooling"].values(), *shown["sources"].values()):
        assert line.startswith("an unknown load of ")
