"""What a stack gives to others, where figures are not known too."""

from __future__ import annotations

from dataclasses import replace

from coldaisle.check import open_site
from coldaisle.plan.model import StartGroupPlan
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


def test_the_start_is_told_and_stays_short() -> None:
    """Each group of a start is a line; of many, the first are there and the others are counted."""
    plan = open_site(site_folder("sim")).plan
    group = StartGroupPlan(devices=("a", "b"), racks=("r01", "r02"), startup_w=1500.0, running_w=300.0, over=("ups-a",))

    def shown(groups: tuple[StartGroupPlan, ...] | None) -> list[str]:
        told: list[str] = budgets(replace(plan, facility=replace(plan.facility, start_order=groups)))["start"]
        return told

    assert shown((group,)) == ["1: 2 devices of r[01-02] start with 1.5 kW while 0.3 kW run, over ups-a"]
    assert len(shown((group,) * 25)) == 21
    assert shown((group,) * 25)[-1] == "and 5 more groups: coldaisle plan has them"
    assert "not known" in shown(None)[0]
