"""Flows of air and water, and what cooling must remove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coldaisle.plan.climate import air_density, airflow_cfm, coolant_l_min, inlet_range_c
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import CoolingPlan, FacilityPlan
from coldaisle.spec.catalog import AshraeClass, Fit
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
    """No heat figure or no temperature rise: no flow, and never none at all; no heat needs none, whatever the rise."""
    assert (airflow_cfm(0, None), coolant_l_min(0, None)) == (0, 0)
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


CDU = {"kind": "liquid", "units": 1, "capacity_w_each": 20_000.0, "temperature_rise_k": 10}


def _loops(plan: FacilityPlan) -> dict[str, CoolingPlan]:
    return {unit.name: unit for unit in plan.cooling}


def _planned(racks: list[dict[str, Any]], air_share: float = 1.0, **sections: Any) -> FacilityPlan:  # noqa: ANN401
    """Return the plan of a floor with a DGX H100 in each rack that puts a part of its heat into air."""
    pools = {f"p{at}": pool(f"{rack['name']}-n1", rack["name"]) for at, rack in enumerate(racks)}
    spec = site(facility=facility(racks, **sections), node_pools=pools)
    return plan_facility(_with(spec, air_share=air_share), {})


def test_glycol_needs_what_ocp_says() -> None:
    """Water with a quarter of glycol carries less: 1.5 litres a minute for a kilowatt at 10 K."""
    assert coolant_l_min(1000, 10, "pg25") == pytest.approx(1.50, abs=0.005)


@pytest.mark.parametrize(("altitude_m", "density"), [(0, 1.0), (1000, 0.9075), (1600, 0.8552)])
def test_thin_air_carries_less_heat(altitude_m: float, density: float) -> None:
    """The air of the standard atmosphere: 1.1117 kg/m3 at 1000 m is 0.9075 of that at sea level."""
    assert air_density(altitude_m) == pytest.approx(density, abs=5e-4)
    assert airflow_cfm(1000, 10, altitude_m) == pytest.approx((airflow_cfm(1000, 10) or 0) / density, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "low", "high", "at_1800_m"), [("A1", 15, 32, 29), ("A2", 10, 35, 32), ("A3", 5, 40, 40 - 900 / 175)]
)
def test_classes_have_their_ranges(name: AshraeClass, low: float, high: float, at_1800_m: float) -> None:
    """A class gives its range at sea level, and a lower ceiling above 900 m."""
    assert inlet_range_c(Fit(ashrae_class=name)) == (low, high)
    assert inlet_range_c(Fit(ashrae_class=name), 1800)[1] == pytest.approx(at_1800_m)


def test_a_printed_limit_goes_before_a_class() -> None:
    """What a device's document prints holds as printed, and what nobody says is not known."""
    assert inlet_range_c(Fit(ashrae_class="A2", inlet_max_c=30.0), 1800) == (10, 30)
    assert inlet_range_c(Fit(inlet_max_c=30.0)) == (None, 30)
    assert inlet_range_c(Fit()) == (None, None)


@pytest.mark.parametrize(
    ("air", "share"),
    [({}, 0.48), ({"containment": "hot-aisle"}, 0.05), ({"containment": "cold-aisle", "bypass": 0.2}, 0.2)],
)
def test_containment_saves_air(air: dict[str, Any], share: float) -> None:
    """The units move what the devices need and what bypasses them: half of it without containment, a stated default."""
    floor = facility([{"name": "r01", "cooling": "crah"}], cooling=[CRAH])
    floor["halls"][0]["air"] = air
    crah = _loops(plan_facility(site(facility=floor, node_pools={"p": pool("r01-n1")}), {}))["crah"]
    assert crah.airflow_cfm == pytest.approx(1792, abs=1)
    assert crah.supply_airflow_cfm == pytest.approx((crah.airflow_cfm or 0) / (1 - share))


def test_two_loops_share_a_rack() -> None:
    """Each of two loops takes half of a rack's liquid heat, and all of it when the other is out."""
    racks = [{"name": "r01", "cooling": "crah", "liquid_cooling": "a", "second_liquid_cooling": "b"}]
    racks.append({"name": "r02", "cooling": "crah", "liquid_cooling": "a"})
    loops = _loops(_planned(racks, 0.2, cooling=[CRAH, {"name": "a", **CDU}, {"name": "b", **CDU}]))
    assert (loops["a"].load_w, loops["b"].load_w) == pytest.approx((8160 * 1.5, 8160 * 0.5))
    assert [loops[name].lost_loop for name in ("a", "b", "crah")] == ["b", "a", None]
    after = [loops[name].load_after_loss_w for name in ("a", "b", "crah")]
    assert after == pytest.approx([8160 * 2, 8160, 4080])


def test_a_rear_door_takes_what_it_can() -> None:
    """A door takes heat out of air up to its capacity, the room the rest, and all of it when the loop is out."""
    door = {"cooling": "a", "capacity_w": 7000.0}
    racks = [{"name": "r01", "cooling": "crah", "rear_door": door}]
    plan = _planned(racks, cooling=[CRAH, {"name": "a", **CDU}])
    (rack,), loops = plan.racks, _loops(plan)
    assert (rack.heat_air_w, rack.heat_door_w, rack.heat_room_w) == (10_200, 7000, 3200)
    assert (loops["a"].load_w, loops["crah"].load_w) == (7000, 3200)
    assert (loops["crah"].load_after_loss_w, loops["crah"].lost_loop) == (10_200, "a")
    larger = [{**racks[0], "rear_door": {"cooling": "a", "capacity_w": 20_000.0}}]
    (rack,) = _planned(larger, cooling=[CRAH, {"name": "a", **CDU}]).racks
    assert (rack.heat_door_w, rack.heat_room_w) == (10_200, 0)


def test_a_loop_has_temperatures_and_flows() -> None:
    """Coolant returns warmer by its rise, and the flow of the units counts without the spare ones."""
    cdu = {**CDU, "name": "a", "units": 3, "redundant": 1, "supply_temp_c": 32.0, "coolant_l_min_each": 20.0}
    loop = _loops(_planned([{"name": "r01", "liquid_cooling": "a"}], 0.0, cooling=[cdu]))["a"]
    assert (loop.supply_temp_c, loop.return_temp_c, loop.coolant_capacity_l_min) == (32, 42, 40)
    assert loop.coolant_l_min == pytest.approx(10.2 * 1.44, abs=0.03)
    assert (loop.capacity_after_loss_w, loop.capacity_after_one_w) == (40_000, 40_000)


def test_the_pue_is_the_sum_of_its_parts() -> None:
    """Fans, heat rejection and lighting on their stated assumptions: 10.2 kW of IT power at a rise of 10 K in air."""
    overheads = {"fan_w_per_cfm": 0.4, "cop": 4.0, "lighting": 0.02}
    floor = facility([{"name": "r01", "cooling": "crah"}], cooling=[CRAH], overheads=overheads)
    floor["halls"][0]["air"] = {"bypass": 0.0}
    plan = plan_facility(site(facility=floor, node_pools={"p": pool("r01-n1")}), {})
    assert plan.pue is not None
    parts = {part.item: part.power_w for part in plan.pue.overheads}
    fans = 1792.0 * 0.4
    assert parts == pytest.approx(
        {"fans of crah": fans, "heat rejection of crah": (10_200 + fans) / 4, "lighting and the rest": 204}, abs=1
    )
    assert plan.pue.pue == pytest.approx((10_200 + fans + (10_200 + fans) / 4 + 204) / 10_200, abs=1e-3)
    assert all("default" not in part.assumption for part in plan.pue.overheads)


def test_losses_of_the_chain_are_part_of_the_pue() -> None:
    """A UPS that gives no efficiency loses by the stated default, one that gives its own by that, others nothing."""
    upstream = [
        {"name": "utility", "kind": "utility", "capacity_w": 1e6},
        {"name": "ups-a", "kind": "ups", "capacity_w": 1e6, "fed_by": "utility"},
        {"name": "ups-b", "kind": "ups", "capacity_w": 1e6, "fed_by": "utility", "efficiency": 0.98},
    ]
    power_feeds = [*feeds("a", upstream="ups-a"), *feeds("b", upstream="ups-b")]
    plan = _planned([{"name": "r01", "power_feeds": power_feeds}], power={"derating": 0.8, "upstream": upstream})
    assert plan.pue is not None
    losses = {part.item: part for part in plan.pue.overheads if part.item.startswith("losses")}
    assert set(losses) == {"losses of ups ups-a", "losses of ups ups-b"}
    assert losses["losses of ups ups-a"].power_w == pytest.approx(5100 * (1 / 0.96 - 1))
    assert losses["losses of ups ups-b"].power_w == pytest.approx(5100 * (1 / 0.98 - 1))
    assert "default of overheads.ups_efficiency" in losses["losses of ups ups-a"].assumption


@pytest.mark.parametrize(
    ("cooling", "why"), [({}, "nothing takes the heat"), ({"cooling": "crah"}, "give temperature_rise_k")]
)
def test_a_part_that_is_not_known_leaves_the_pue_unknown(cooling: dict[str, str], why: str) -> None:
    """Heat that nothing takes, and air whose rise nobody gives, make the PUE unknown and say why."""
    crah = {key: value for key, value in CRAH.items() if key != "temperature_rise_k"}
    plan = _planned([{"name": "r01", **cooling}], cooling=[crah])
    assert plan.pue is not None
    assert plan.pue.pue is None
    reasons = [part.assumption for part in plan.pue.overheads if part.power_w is None]
    assert why in reasons[0]


def test_the_floor_carries_rack_and_devices() -> None:
    """The load is devices and rack on its footprint with its share of the aisles; without a figure it is not known."""
    full = {"name": "r01", "depth_mm": 1200.0, "pitch_m": 0.6, "empty_weight_kg": 160.0, "floor_limit_kg_m2": 1200.0}
    pools = {"p": pool("r01-n1", "r01", "dgx-b200")}
    for missing, load in ((None, (142.4 + 160) / (0.6 * 1.5)), ("depth_mm", None), ("empty_weight_kg", None)):
        floor = facility([{key: value for key, value in full.items() if key != missing}])
        floor["halls"][0]["floor"] = {"limit_kg_m2": 900.0, "aisle_m": 0.3}
        (rack,) = plan_facility(site(facility=floor, node_pools=pools), {}).racks
        assert rack.floor_kg_m2 == (None if load is None else pytest.approx(load))
        assert rack.floor_limit_kg_m2 == 1200


def test_free_units_are_counted_for_blanking() -> None:
    """A rack of 48 units with two systems of eight has 32 panels; a device beyond the top takes none of them."""
    plan = plan_facility(site(node_pools={"p": pool("r01-n1"), "q": pool("r01-n2", rack_unit=46)}), {})
    assert plan.racks[0].blank_u == 48 - 8 - 3
