"""Power arithmetic: feeds, shares of supplies, the chain above the racks, and figures that are not known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.plan.facility import plan_facility
from coldaisle.plan.power.arithmetic import Load, feed_capacity_w, feed_loads_w, shelf_power_w, spread_psus, total
from coldaisle.plan.power.chain import chain_loads_w
from coldaisle.spec.catalog import PowerShelves
from coldaisle.spec.power import UpstreamPower
from tests.unit.floor_sites import facility, feeds, pool, site


def test_a_three_phase_feed_of_the_reference() -> None:
    """208 V 30 A at 80 % is 8.646 kVA, and 415 V 60 A at 80 % is 34.50 kVA."""
    feed = {"voltage_reference": "line-to-line", "phases": 3, "derating": 0.8}
    assert feed_capacity_w(voltage_v=208, breaker_a=30, **feed) == pytest.approx(8646, abs=1)  # type: ignore[arg-type]
    assert feed_capacity_w(voltage_v=415, breaker_a=60, **feed) == pytest.approx(34502, abs=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("voltage_v", "reference", "phases", "watts"),
    [
        pytest.param(230, "line-to-neutral", 3, 22080, id="230-v-to-neutral"),
        pytest.param(400, "line-to-line", 3, 22170, id="400-v-line-to-line"),
        pytest.param(230, "line-to-neutral", 1, 7360, id="one-phase"),
    ],
)
def test_p1_volts_say_what_they_are_measured_against(voltage_v: float, reference: str, phases: int, watts: int) -> None:
    """P1: 32 A give 22 080 W at 230 V to neutral and 22 170 W at 400 V line to line; never 12 748 W."""
    capacity_w = feed_capacity_w(
        voltage_v=voltage_v,
        voltage_reference=reference,  # type: ignore[arg-type]
        phases=phases,  # type: ignore[arg-type]
        breaker_a=32,
        derating=1.0,
    )
    assert round(capacity_w, -1) == watts


def _part(name: str, fed_by: str | None = None, allocated_w: float | None = None) -> UpstreamPower:
    return UpstreamPower(name=name, kind="panel", capacity_w=1e6, fed_by=fed_by, allocated_w=allocated_w)


def test_p3_loads_add_up_through_any_depth() -> None:
    """P3: what hangs behind a nested PDU is part of everything above it."""
    chain = [
        _part("utility"),
        _part("ups", "utility"),
        _part("panel", "ups"),
        _part("pdu1", "panel"),
        _part("pdu2", "pdu1"),
    ]
    loads = chain_loads_w(chain, {"pdu2": [500.0, 300.0], "pdu1": [200.0]})
    assert loads == {"pdu2": 800, "pdu1": 1000, "panel": 1000, "ups": 1000, "utility": 1000}


def test_p4_an_unallocated_part_carries_what_hangs_below_it() -> None:
    """P4: no allocation is not an allocation of nothing; 2300 W below it are 2300 W."""
    assert chain_loads_w([_part("pdu")], {"pdu": [2300.0]}) == {"pdu": 2300}
    assert chain_loads_w([_part("pdu", allocated_w=0)], {"pdu": [2300.0]}) == {"pdu": 0}


def test_p4_a_feed_and_its_part_tell_the_same_share() -> None:
    """P4: 2300 W behind a PDU of 9600 W are 23.96 % of it, at the PDU and at the panel above it."""
    chain = [_part("panel"), _part("pdu", "panel")]
    loads = chain_loads_w(chain, {"pdu": [2300.0]})
    assert [round(100 * (loads[name] or 0) / 9600, 2) for name in ("panel", "pdu")] == [23.96, 23.96]


def test_p5_an_allocation_replaces_what_hangs_below_it() -> None:
    """P5: a draw that is set by hand is not added to the loads behind it."""
    chain = [_part("panel"), _part("pdu", "panel", allocated_w=4000)]
    assert chain_loads_w(chain, {"pdu": [2300.0]}) == {"pdu": 4000, "panel": 4000}


def test_p5_an_unknown_load_stays_unknown_above() -> None:
    """P5: a part with a load that is not known is not known itself, and neither is what is above it."""
    chain = [_part("panel"), _part("pdu", "panel")]
    assert chain_loads_w(chain, {"pdu": [2300.0, None]}) == {"pdu": None, "panel": None}


def test_a_chain_in_a_loop_ends() -> None:
    """A chain that feeds itself is computed to an end; a check tells of the loop."""
    assert set(chain_loads_w([_part("a", "b"), _part("b", "a")], {"a": [10.0]})) == {"a", "b"}


@pytest.mark.parametrize(("redundancy", "watts"), [("none", 264_000), ("shelf", 231_000), ("supply", 220_000)])
def test_p10_power_shelves_depend_on_what_may_fail(redundancy: str, watts: int) -> None:
    """P10: 8 shelves of 6 x 5.5 kW are 264 kW on the nameplate, and less by what may fail."""
    shelves = PowerShelves(count=8, psus_each=6, psu_w=5500)
    assert shelf_power_w(shelves, redundancy=redundancy) == watts  # type: ignore[arg-type]


def test_supplies_are_dealt_out_in_turn() -> None:
    """Six supplies on two feeds are 3+3, on three 2+2+2; two on three feeds leave one feed without."""
    assert spread_psus(6, 2) == (3, 3)
    assert spread_psus(6, 3) == (2, 2, 2)
    assert spread_psus(2, 3) == (1, 1, 0)


def test_a_lost_feed_moves_its_load_to_the_others() -> None:
    """Four DGX H100 load three feeds with 13.6 kW each, and two with 20.4 kW."""
    rack = [Load(10_200, 6)] * 4
    assert feed_loads_w(rack, 3) == pytest.approx((13_600, 13_600, 13_600))
    assert feed_loads_w(rack, 3, frozenset({1})) == pytest.approx((20_400, 0, 20_400))


def test_a_device_with_unknown_supplies_makes_the_feeds_unknown() -> None:
    """How a device without a count of supplies loads two feeds is not known; on one feed it is."""
    assert feed_loads_w([Load(100, 2), Load(50, None)], 2) == (None, None)
    assert feed_loads_w([Load(100, 2), Load(50, None)], 1) == (150,)


def test_a_unit_that_feeds_two_of_three_takes_both() -> None:
    """When a UPS above two of a rack's feeds fails, the third carries the whole rack."""
    upstream = [{"name": name, "kind": "ups", "capacity_w": 1e6} for name in ("ups-a", "ups-b")]
    rack_feeds = [
        {**feed, "upstream": ups} for feed, ups in zip(feeds("abc"), ("ups-a", "ups-a", "ups-b"), strict=True)
    ]
    spec = site(
        facility=facility([{"name": "r01", "power_feeds": rack_feeds}], power={"derating": 0.8, "upstream": upstream}),
        node_pools={"p": pool("r01-n1")},
    )
    plan = plan_facility(spec, {})
    after = {feed.name: feed.load_after_loss_w for feed in plan.racks[0].feeds}
    assert after == pytest.approx({"a": 5100, "b": 5100, "c": 10_200})
    assert {part.name: part.load_after_loss_w for part in plan.upstream} == pytest.approx(
        {"ups-a": 10_200, "ups-b": 10_200}
    )


WATTS = st.one_of(st.none(), st.floats(0, 20_000))
LOADS = st.lists(st.builds(Load, st.floats(0, 20_000), st.integers(1, 6)), max_size=8)


@given(st.lists(WATTS))
def test_unknown_plus_anything_is_unknown(values: list[float | None]) -> None:
    """A sum is not known exactly when an addend is not known."""
    assert (total(values) is None) == (None in values)
    assert total([*values, None]) is None


@given(LOADS, st.integers(1, 4), st.data())
def test_losing_feeds_never_makes_the_load_smaller(loads: list[Load], feeds_count: int, data: st.DataObject) -> None:
    """With some feeds lost, the others carry no less than all carried before, and each no less than it did."""
    lost = frozenset(data.draw(st.sets(st.integers(0, feeds_count - 1), max_size=feeds_count - 1)))
    before, after = feed_loads_w(loads, feeds_count), feed_loads_w(loads, feeds_count, lost)
    assert sum(w or 0 for w in after) >= sum(w or 0 for w in before) - 1e-6
    assert all((after[at] or 0) >= (before[at] or 0) - 1e-6 for at in range(feeds_count) if at not in lost)
    assert all(after[at] == 0 for at in lost)
