"""Flows of air and water, and what cooling must remove."""

from __future__ import annotations

import pytest
from floor_sites import facility, pool, site

from coldaisle.plan.cooling import airflow_cfm, coolant_l_min
from coldaisle.plan.facility import plan_facility

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
