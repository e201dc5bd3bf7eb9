"""What holds of every floor: heat in is heat out, an unknown stays unknown, and the order of entries says nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coldaisle.check import open_site
from coldaisle.plan.cooling import heats
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import FacilityPlan
from coldaisle.spec.sections import SiteSpec
from tests.unit.conftest import BASE
from tests.unit.floor_sites import facility, pool, site

SYSTEMS = ("air", "cold-plate", "half")
SHARES = {"air": 1.0, "cold-plate": 0.15, "half": 0.5}
LOOPS = ("a", "b")
COOLING = [
    {"name": "crah", "kind": "air", "units": 2, "capacity_w_each": 1e6, "redundant": 1, "temperature_rise_k": 12},
    *({"name": name, "kind": "liquid", "units": 1, "capacity_w_each": 1e6, "temperature_rise_k": 8} for name in LOOPS),
]


@st.composite
def racks(draw: st.DrawFn, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return a rack with any piping, and the systems in it from the bottom up."""
    first = draw(st.sampled_from([None, *LOOPS]))
    second = None if first is None else draw(st.sampled_from([None, *(loop for loop in LOOPS if loop != first)]))
    door = draw(st.none() | st.builds(_door, st.sampled_from(LOOPS), st.floats(1e3, 6e4)))
    piped = {"cooling": draw(st.sampled_from([None, "crah"])), "liquid_cooling": first, "rear_door": door}
    rack = {"name": name, **{key: value for key, value in piped.items() if value is not None}}
    if second is not None:
        rack["second_liquid_cooling"] = second
    return rack, draw(st.lists(st.sampled_from(SYSTEMS), max_size=4))


def _door(loop: str, capacity_w: float) -> dict[str, Any]:
    return {"cooling": loop, "capacity_w": capacity_w}


@st.composite
def floors(draw: st.DrawFn) -> list[tuple[dict[str, Any], list[str]]]:
    """Return one to five racks."""
    return [draw(racks(f"r{at}")) for at in range(1, draw(st.integers(1, 5)) + 1)]


def _site(floor: list[tuple[dict[str, Any], list[str]]], order: random.Random | None = None) -> SiteSpec:
    """Return the site of a floor, its entries in some order."""
    listed = [rack for rack, _ in floor]
    cooling = list(COOLING)
    nodes = [
        (f"{rack['name']}-n{at}", pool(f"{rack['name']}-n{at}", rack["name"], system, rack_unit=1 + 8 * at))
        for rack, systems in floor
        for at, system in enumerate(systems)
    ]
    if order is not None:
        for entries in (listed, cooling, nodes):
            order.shuffle(entries)
    spec = site(facility=facility(listed, cooling=cooling), node_pools=dict(nodes))
    dgx = spec.catalog.systems["dgx-h100"]
    systems = {name: dgx.model_copy(update={"air_share": share}) for name, share in SHARES.items()}
    return replace(spec, catalog=spec.catalog.model_copy(update={"systems": systems}))


def _taken(plan: FacilityPlan) -> float:
    return sum(heat_w or 0.0 for rack in plan.racks for _, _, heat_w in heats(rack))


@given(floors())
def test_heat_in_is_heat_out(floor: list[tuple[dict[str, Any], list[str]]]) -> None:
    """Every watt that is drawn becomes heat in one medium, and one loop takes it, or none does: never two."""
    plan = plan_facility(_site(floor), {})
    for rack in plan.racks:
        assert (rack.heat_air_w or 0) + (rack.heat_liquid_w or 0) == pytest.approx(rack.power_w)
        assert (rack.heat_door_w or 0) + (rack.heat_room_w or 0) == pytest.approx(rack.heat_air_w)
    assert sum(unit.load_w or 0 for unit in plan.cooling) == pytest.approx(_taken(plan))
    nowhere = sum((rack.heat_room_w or 0) for rack in plan.racks if rack.cooling is None)
    nowhere += sum((rack.heat_liquid_w or 0) for rack in plan.racks if rack.liquid_cooling is None)
    assert _taken(plan) + nowhere == pytest.approx(plan.it_power_w)


@given(floors())
def test_a_lost_loop_makes_no_other_cooler(floor: list[tuple[dict[str, Any], list[str]]]) -> None:
    """After the loss of a loop, what is left takes at least what it took, and what it shared with the lost one."""
    plan = plan_facility(_site(floor), {})
    for unit in plan.cooling:
        assert unit.load_w is not None
        assert unit.load_after_loss_w is not None
        assert unit.load_after_loss_w >= unit.load_w - 1e-6
        for lost in (*LOOPS, "crah"):
            after = sum(h or 0 for rack in plan.racks for _, name, h in heats(rack, lost) if name == unit.name)
            assert lost == unit.name or after <= unit.load_after_loss_w + 1e-6


@given(floors(), st.integers(0, 99))
def test_order_changes_nothing(floor: list[tuple[dict[str, Any], list[str]]], seed: int) -> None:
    """Racks, cooling and pools in any order give the same plan."""
    order = random.Random(seed)  # noqa: S311 - chance, not a secret
    assert plan_facility(_site(floor, order), {}) == plan_facility(_site(floor), {})


@given(floors(), st.sampled_from(SYSTEMS))
def test_unknown_plus_anything_is_unknown(floor: list[tuple[dict[str, Any], list[str]]], system: str) -> None:
    """A draw that is not known is known nowhere above it, and hides nothing beside it."""
    spec = _site(floor)
    unknown = spec.catalog.systems[system].model_copy(update={"max_power_w": None})
    systems = {**spec.catalog.systems, system: unknown}
    plan = plan_facility(replace(spec, catalog=spec.catalog.model_copy(update={"systems": systems})), {})
    known = plan_facility(spec, {})
    without = {rack["name"] for rack, inside in floor if system in inside}
    for unit, before in zip(plan.cooling, known.cooling, strict=True):
        if without & set(unit.racks):
            flow = unit.airflow_cfm if unit.kind == "air" else unit.coolant_l_min
            assert (unit.load_w, unit.load_after_loss_w, flow) == (None, None, None)
        else:
            assert unit == before
    assert plan.pue is not None
    assert (plan.pue.pue is None) >= bool(without)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(tmp_path_factory: pytest.TempPathFactory, order: random.Random) -> None:
    """Sections in one file or in many, in any order and under any names, give the same plan."""
    sections = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(BASE.glob("*.yaml"))]
    named = [part for part in sections if "management" not in part]
    folder = tmp_path_factory.mktemp("site")
    (folder / "allocations.yaml").write_bytes((BASE / "allocations.yaml").read_bytes())
    order.shuffle(named)
    for at, part in enumerate(named):
        keys = list(part)
        order.shuffle(keys)
        name = "site.yaml" if "site" in part else f"{order.randrange(10**6)}-{at}.yaml"
        (folder / name).write_text(yaml.safe_dump({key: part[key] for key in keys}, sort_keys=False), encoding="utf-8")
    assert open_site(folder).plan.facility == open_site(BASE).plan.facility
