"""Explanations of cooling: what is told of a loop, of a hall and of the PUE adds up to the plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import CheckedSite, open_site
from coldaisle.plan import plan_site
from coldaisle.render.ledger import Explanation, explain
from tests.unit.floor_sites import facility, feeds, pool, site

ROOT = Path(__file__).parents[2]


def told(checked: CheckedSite, target: str) -> Explanation:
    """Return what is told of a thing of a site."""
    return explain(checked.spec, checked.plan, target)


def figures(found: Explanation) -> dict[str, float | None]:
    """Return the figures of an explanation by name."""
    return {figure.name: figure.value for figure in found.figures}


@pytest.mark.parametrize("name", ["h100-pod", "b200-roce", "gb200-nvl72"])
def test_loops_halls_and_the_pue_add_up_to_the_plan(name: str) -> None:
    """Each sum that is told has the total that the plan has."""
    checked = open_site(ROOT / "inventory" / name)
    floor = checked.plan.facility
    for unit in floor.cooling:
        assert told(checked, f"cooling.{unit.name}").sums[0].total == pytest.approx(unit.load_w)
    assert floor.pue is not None
    pue = told(checked, "pue")
    assert pue.sums[0].total == pytest.approx(floor.pue.facility_power_w)
    assert figures(pue)["PUE"] == floor.pue.pue
    halls = [told(checked, f"hall.{hall}") for hall in sorted({rack.hall for rack in floor.racks})]
    assert sum(hall.sums[0].total or 0 for hall in halls) == pytest.approx(floor.it_power_w)


LOOP: dict[str, Any] = {"kind": "liquid", "units": 2, "capacity_w_each": 20_000.0, "temperature_rise_k": 10}


def test_a_loop_after_the_loss_of_another_is_told() -> None:
    """The sum after a loss is the plan's, and the figures say what is given, returns, flows and is spare."""
    full = {**LOOP, "supply_temp_c": 32.0, "coolant": "pg25", "coolant_l_min_each": 30.0, "pumps_each": 2}
    racks = [{"name": "r01", "liquid_cooling": "b", "second_liquid_cooling": "a"}]
    floor = facility(racks, cooling=[{"name": "a", **LOOP}, {"name": "b", **full}])
    spec = site(facility=floor, node_pools={"p": pool("r01-n1")})
    wet = spec.catalog.systems["dgx-h100"].model_copy(update={"air_share": 0.0})
    spec = replace(spec, catalog=spec.catalog.model_copy(update={"systems": {"dgx-h100": wet}}))
    found = explain(spec, plan_site(spec), "cooling.b")
    assert [(each.name, each.total) for each in found.sums] == [
        ("heat", 5100),
        ("heat after the loss of a", 10_200),
    ]
    assert figures(found) == pytest.approx(
        {
            "capacity": 40_000,
            "capacity with 0 out": 40_000,
            "capacity after the loss of one unit": 20_000,
            "supply coolant": 32,
            "return coolant": 42,
            "flow": 7.64,
            "flow after the loss of a": 15.28,
            "flow of the units": 60,
            "pumps": 4,
        },
        abs=0.01,
    )


def test_losses_that_a_loop_takes_are_told() -> None:
    """A UPS whose losses a loop takes is an addend of its heat."""
    crah = {**LOOP, "name": "crah", "kind": "air"}
    ups = {"name": "ups", "kind": "ups", "capacity_w": 1e6, "efficiency": 0.95, "heat_to": "crah"}
    racks = [{"name": "r01", "cooling": "crah", "power_feeds": feeds("a", upstream="ups")}]
    floor = facility(racks, cooling=[crah], power={"derating": 0.8, "upstream": [ups]})
    spec = site(facility=floor, node_pools={"p": pool("r01-n1")})
    plan = plan_site(spec)
    found = explain(spec, plan, "crah")
    assert [addend.item for addend in found.sums[0].addends] == ["rack r01", "losses of ups"]
    assert found.sums[0].total == pytest.approx(10_200 / 0.95)
    assert found.sums[0].total == pytest.approx(plan.facility.cooling[0].load_w)
