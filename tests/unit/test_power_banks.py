"""Banks and phases below a feed: the reference's examples to the last digit, and what stays unknown."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import FeedPlan
from coldaisle.spec.catalog import Psus, System
from tests.unit.floor_sites import facility, site

PORTS = [
    {"name": f"{row}_{place}", "phase": f"L{'ABC'.index(row) + 1}", "breaker_a": 16, "outlets": 1}
    for row in "ABC"
    for place in (1, 2)
]
"""Six fuse ports with one outlet each, as in netbox#21949."""
PDU = {"name": "a", "voltage_v": 230, "voltage_reference": "line-to-neutral", "phases": 3, "breaker_a": 32}


SUPPLIES = {
    f"supplies-{count}": System(
        vendor="t",
        description="t",
        height_u=1,
        air_share=1.0,
        psus=None if count == 0 else Psus(count=count, needed=1),
        source="t",
    )
    for count in range(4)
}


def plug(watts: list[float], banks: list[dict[str, Any]], count: int = 1, **feed: Any) -> tuple[FeedPlan, ...]:  # noqa: ANN401
    """Return the feeds of a rack with devices of `count` supplies each, from the bottom up, of some watts."""
    names = feed.pop("names", "a")
    feeds = [{**PDU, "derating": 1.0, "banks": banks, **feed, "name": name} for name in names]
    devices = [
        {"name": f"d{at + 1}", "model": f"supplies-{count}", "rack": "r01", "rack_unit": at + 1, "max_power_w": draw}
        for at, draw in enumerate(watts)
    ]
    spec = site(facility=facility([{"name": "r01", "power_feeds": feeds}], devices=devices))
    known = spec.catalog.model_copy(update={"systems": SUPPLIES})
    return plan_facility(replace(spec, catalog=known), {}).racks[0].feeds


def amperes(feed: FeedPlan) -> list[float | None]:
    """Return what each phase of a feed carries."""
    return [phase.load_a for phase in feed.phase_loads]


def test_p7_a_breaker_stands_between_inlet_and_outlet() -> None:
    """P7: six fuse ports of 16 A with an outlet each take a supply each, and the phases carry two ports each."""
    (feed,) = plug([2300, 1150, 2300, 1150, 2300, 1150], PORTS)
    assert feed.capacity_w == 22_080
    assert [(bank.name, bank.phase, bank.load_a, bank.supplies) for bank in feed.banks] == [
        ("A_1", "L1", 10, ("d1 psu1",)),
        ("A_2", "L1", 5, ("d2 psu1",)),
        ("B_1", "L2", 10, ("d3 psu1",)),
        ("B_2", "L2", 5, ("d4 psu1",)),
        ("C_1", "L3", 10, ("d5 psu1",)),
        ("C_2", "L3", 5, ("d6 psu1",)),
    ]
    assert amperes(feed) == pytest.approx([15, 15, 15])
    assert [(phase.name, phase.capacity_a) for phase in feed.phase_loads] == [("L1", 32), ("L2", 32), ("L3", 32)]


def test_p7_a_seventh_supply_has_no_outlet_and_makes_the_phases_unknown() -> None:
    """P7: with six outlets the seventh supply is told as unplugged, and nobody knows which phase it would load."""
    (feed,) = plug([2300] * 7, PORTS)
    assert feed.unplugged == ("d7 psu1",)
    assert amperes(feed) == [None, None, None]
    assert [bank.load_a for bank in feed.banks] == [10] * 6


def test_p5_an_outlet_without_a_phase_makes_the_phases_unknown() -> None:
    """P5: a bank whose phase is not known has a load, and the phases of its feed are unknown, not zero."""
    banks = [{"name": "A", "phase": "L1", "breaker_a": 16}, {"name": "B", "breaker_a": 16}]
    (feed,) = plug([2300, 2300], banks)
    assert amperes(feed) == [None, None, None]
    assert [(bank.load_w, bank.load_a) for bank in feed.banks] == [(2300, 10), (2300, None)]


def test_p5_an_unused_bank_without_a_phase_hides_nothing() -> None:
    """P5: a bank that carries nothing does not make the phases unknown."""
    (feed,) = plug([2300], [{"name": "A", "phase": "L1", "breaker_a": 16}, {"name": "B", "breaker_a": 16}])
    assert amperes(feed) == [10, 0, 0]


def test_p1_a_bank_between_two_phases_has_the_volts_line_to_line() -> None:
    """P1: 4 kW between two phases of 400 V are 10 A, and three such banks load each conductor with 17.3 A."""
    banks = [{"name": pair, "phase": pair, "breaker_a": 16} for pair in ("L1-L2", "L2-L3", "L3-L1")]
    feed: dict[str, Any] = {"voltage_v": 400, "voltage_reference": "line-to-line"}
    (one,) = plug([4000], banks, **feed)
    assert (one.banks[0].load_a, amperes(one)) == (10, [10, 10, 0])
    (three,) = plug([4000] * 3, banks, **feed)
    assert amperes(three) == pytest.approx([10 * sqrt(3)] * 3)


def test_two_pairs_meet_on_one_conductor_at_an_angle() -> None:
    """10 A of L1-L2 and 10 A of L3-L1 add up to 17.3 A on L1, not to 20 A."""
    banks = [{"name": pair, "phase": pair, "breaker_a": 16} for pair in ("L1-L2", "L3-L1")]
    (feed,) = plug([4000, 4000], banks, voltage_v=400, voltage_reference="line-to-line")
    assert amperes(feed) == pytest.approx([10 * sqrt(3), 10, 10])


def test_a_bank_on_three_phases_loads_each_alike() -> None:
    """A three-phase bank of 400 V line to line carries watts over sqrt(3) x 400 V on each conductor."""
    (feed,) = plug([22_170], [{"name": "X", "phase": "L1-L2-L3", "breaker_a": 32}], voltage_v=400,
                   voltage_reference="line-to-line")  # fmt: skip
    assert feed.banks[0].load_a == pytest.approx(32, abs=0.001)
    assert amperes(feed) == pytest.approx([32] * 3, abs=0.001)


def test_a_power_factor_raises_the_amperes() -> None:
    """2300 W at a power factor of 0.92 are 2500 VA, so 10.87 A at 230 V."""
    (feed,) = plug([2300], PORTS, power_factor=0.92)
    assert feed.banks[0].load_a == pytest.approx(2500 / 230)


def test_banks_with_rack_units_take_what_stands_there() -> None:
    """A bank for some rack units takes the devices that stand there, and the rest goes to the bank without."""
    banks = [
        {"name": "low", "phase": "L1", "breaker_a": 16, "rack_units": [1, 2]},
        {"name": "rest", "phase": "L2", "breaker_a": 16},
    ]
    (feed,) = plug([230, 230, 230], banks)
    assert [bank.supplies for bank in feed.banks] == [("d1 psu1", "d2 psu1"), ("d3 psu1",)]


def test_the_loss_of_a_feed_doubles_what_its_banks_carry() -> None:
    """With two supplies on two feeds, each bank carries half, and all of it after the loss of the other feed."""
    feeds = plug([2300, 4600], PORTS, 2, names="ab")
    assert [(bank.load_a, bank.load_after_loss_a) for bank in feeds[0].banks[:2]] == [(5, 10), (10, 20)]
    assert feeds[1].banks[0].supplies == ("d1 psu2",)
    assert [phase.load_after_loss_a for phase in feeds[0].phase_loads] == [30, 0, 0]


def test_a_supply_that_must_be_plugged_over_makes_the_loss_unknown() -> None:
    """A device with its only supply on a lost feed goes into some bank of the other: after the loss, nobody knows."""
    feeds = plug([2300], PORTS, 1, names="ab")
    assert [bank.load_after_loss_a for bank in feeds[1].banks] == [None] * 6
    assert amperes(feeds[1]) == [0, 0, 0]


def test_an_unknown_count_of_supplies_makes_all_banks_unknown() -> None:
    """Where nobody knows how many supplies a device has, banks and phases are unknown."""
    (feed,) = plug([2300], PORTS, 0)
    assert (feed.load_w, [bank.load_a for bank in feed.banks], amperes(feed)) == (2300, [None] * 6, [None] * 3)


WATTS = st.lists(st.floats(1, 3000), max_size=6)


@given(WATTS)
def test_a_watt_is_in_one_bank(watts: list[float]) -> None:
    """The banks of a feed carry together what the feed carries, and so do the phases at their volts."""
    (feed,) = plug(watts, PORTS)
    assert sum(bank.load_w or 0 for bank in feed.banks) == pytest.approx(feed.load_w, abs=1e-3)
    assert sum(current or 0 for current in amperes(feed)) * 230 == pytest.approx(feed.load_w, abs=1e-2)


@given(WATTS, st.integers(2, 3))
def test_losing_a_feed_leaves_all_of_the_load_to_the_other(watts: list[float], count: int) -> None:
    """After the loss of one of two feeds, the other's banks carry what both carried, and none carries less."""
    banks = [{key: value for key, value in port.items() if key != "outlets"} for port in PORTS]
    for feed in plug(watts, banks, count, names="ab"):
        after = [bank.load_after_loss_a or 0 for bank in feed.banks]
        assert sum(after) * 230 == pytest.approx(sum(watts), abs=1e-2)
        assert all(then >= (bank.load_a or 0) for then, bank in zip(after, feed.banks, strict=True))
