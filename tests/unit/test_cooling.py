"""Flows of air and water, and what cooling must remove."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coldaisle.plan.climate import airflow_cfm, coolant_l_min
from coldaisle.plan.facility import plan_facility
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, feeds, pool, site

CRAH = {
    "name": "crah",
    "kind": "air",
    "units": 3,
    "capacity_w_each": 40_000.0,
    "redundant": 1,
    "temperature_rise_k": 10,
}


def test_air_and_water_carry_what_the_reference_says() -> None:
    """1.76 CFM a watt and kelvin, and 1.44 litres of water a minute for a kilowatt at 10 K."""
    assert airflow_cfm(1000, 1) == pytest.approx(1757, abs=1)
    assert coolant_l_min(1000, 10) == pytest.approx(1.44, abs=0.005)


def test_a_flow_is_not_known_without_its_figures() -> None:
    """No heat figure or no temperature rise: no flow, and never none at all."""
    assert airflow_cfm(None, 10) is None
    assert coolant_l_min(1000, None) is None


def test_cooling_counts_without_its_spare_units() -> None:
    """N+1: two of three units carry the load, and the load is that of the racks which name the unit."""
    racks = [{"name": "r01", "cooling": "crah"}, {"name": "r02", "cooling": "crah"}, {"name": "r03"}]
    nodes = {rack: pool(f"{rack}-n1", rack) for rack in ("r01", "r03")}
    plan = plan_facility(site(facility=facility(racks, cooling=[CRAH]), node_pools=nodes), {})
    (crah,) = plan.cooling
    assert (crah.capacity_w, crah.capacity_after_loss_w, crah.load_w) == (120_000, 80_000, 10_200)
    assert crah.racks == ("r01", "r02")
    assert plan.it_power_w == 20_400


def _with(spec: SiteSpec, **facts: float | None) -> SiteSpec:
    """Return a site whose DGX H100 has other facts."""
    system = spec.catalog.systems["dgx-h100"].model_copy(update=facts)
    return replace(spec, catalog=spec.catalog.model_copy(update={"systems": {"dgx-h100": system}}))


def test_heat_is_split_between_air_and_liquid() -> None:
    """A system that puts 15 % of its heat into air loads the air handlers with that, and the coolant with the rest."""
    cdu = {"name": "cdu", "kind": "liquid", "units": 2, "capacity_w_each": 20_000.0, "temperature_rise_k": 10}
    racks = [{"name": "r01", "cooling": "crah", "liquid_cooling": "cdu"}]
    spec = site(facility=facility(racks, cooling=[CRAH, cdu]), node_pools={"p": pool("r01-n1")})
    plan = plan_facility(_with(spec, air_share=0.15), {})
    loads = {unit.name: unit.load_w for unit in plan.cooling}
    assert loads == pytest.approx({"crah": 1530, "cdu": 8670})
    assert plan.cooling[0].coolant_l_min == pytest.approx(8.67 * 1.44, abs=0.05)
    assert plan.cooling[0].airflow_cfm is None


def test_a_draw_that_is_not_known_is_known_nowhere() -> None:
    """Without the draw of one system, no sum above it is known: feed, rack, chain, cooling and site."""
    chain = {"derating": 0.8, "upstream": [{"name": "ups", "kind": "ups", "capacity_w": 1e6}]}
    racks = [{"name": "r01", "cooling": "crah", "power_feeds": feeds("ab", upstream="ups")}]
    spec = site(facility=facility(racks, cooling=[CRAH], power=chain), node_pools={"p": pool("r01-n1")})
    plan = plan_facility(_with(spec, max_power_w=None), {})
    (rack,) = plan.racks
    assert [feed.load_w for feed in rack.feeds] == [feed.load_after_loss_w for feed in rack.feeds] == [None, None]
    assert (rack.power_w, rack.heat_air_w, rack.airflow_cfm) == (None, None, None)
    assert (plan.it_power_w, plan.cooling[0].load_w, plan.upstream[0].load_w) == (None, None, None)
    assert rack.power_lines[0].total is None
