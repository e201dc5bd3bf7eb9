"""The chain above the racks: catchers, losses, spare units, and what stays true whatever is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.check.power import POWER_CHECKS
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.model import FacilityPlan, SitePlan
from coldaisle.plan.placement import loads_of, placed_devices
from coldaisle.plan.power.chain import Chain, chain_loads_w
from coldaisle.plan.power.racks import RackPowers
from coldaisle.plan.power.upstream import ChainPower
from coldaisle.spec.facility import placed_racks
from coldaisle.spec.power import UpstreamPower
from coldaisle.spec.sections import SiteSpec
from tests.unit.power_sites import part, planned, powered, racks_on


def loads(plan: FacilityPlan) -> dict[str, tuple[float | None, float | None]]:
    """Return what each part of a chain carries in full, and after the worst loss."""
    return {found.name: (found.load_w, found.load_after_loss_w) for found in plan.upstream}


CATCHER = [
    part("utility", kind="utility"),
    part("ups-a", "utility"),
    part("ups-b", "utility"),
    part("ups-c", "utility", catcher_for=["ups-a", "ups-b"]),
]


def test_a_catcher_carries_the_larger_of_what_it_catches() -> None:
    """One part that takes over for any one of two carries the larger, not both, and no rack loses a feed."""
    plan = planned(racks_on(["ups-a"], ["ups-a"], ["ups-b"]), CATCHER)
    assert loads(plan) == {"utility": (3000, 3000), "ups-a": (2000, 2000), "ups-b": (1000, 1000), "ups-c": (0, 2000)}
    assert {found.name: found.worst_loss for found in plan.upstream}["ups-c"] == "ups-a"
    assert [rack.feeds[0].load_after_loss_w for rack in plan.racks] == [1000] * 3


def test_a_catcher_below_what_is_lost_catches_nothing() -> None:
    """The utility above a catcher takes it along; a generator that takes over for the utility keeps all alive."""
    chain = Chain(UpstreamPower(**found) for found in CATCHER)
    assert chain.outage("utility").dark == {"utility", "ups-a", "ups-b", "ups-c"}
    generator = UpstreamPower(**part("gen", kind="generator", catcher_for=["utility"]))
    kept = Chain([*chain.parts.values(), generator]).outage("utility")
    assert (set(kept.dark), dict(kept.moved or {})) == ({"utility"}, {"utility": "gen"})


def test_a_generator_carries_what_the_utility_did() -> None:
    """After the loss of the utility, the generator that takes over carries all that hung on it."""
    chain = [*CATCHER, part("gen", kind="generator", catcher_for=["utility"])]
    assert loads(planned(racks_on(["ups-a"], ["ups-b"]), chain))["gen"] == (0, 2000)


def test_what_a_part_loses_is_drawn_above_it() -> None:
    """A UPS of 95 % that gives 1900 W draws 2000 W; the loss is told, and one without an efficiency tells none."""
    chain = [part("utility", kind="utility"), part("ups", "utility", efficiency=0.95, heat_to="crah")]
    plan = planned(racks_on(["ups"]), [*chain, part("idle", "utility")], nodes=19, system="one")
    by_name = {found.name: found for found in plan.upstream}
    assert by_name["ups"].load_w == 19_000
    assert by_name["ups"].loss_w == pytest.approx(1000)
    assert by_name["utility"].load_w == pytest.approx(20_000)
    assert by_name["idle"].loss_w is None


def test_a_catcher_has_its_own_losses_only() -> None:
    """What took over for a UPS of 80 % gives its load without that UPS's losses."""
    chain = [part("utility", kind="utility"), part("ups-a", "utility", efficiency=0.8),
             part("ups-c", "utility", efficiency=0.5, catcher_for=["ups-a"])]  # fmt: skip
    assert loads(planned(racks_on(["ups-a"]), chain)) == {
        "utility": (1250, 2000), "ups-a": (1000, 1000), "ups-c": (0, 1000)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "usable_w"),
    [({}, 100), ({"units": 5, "redundant": 1}, 80), ({"derating": 0.9}, 90),
     ({"units": 4, "redundant": 2, "derating": 0.8}, 40)],
)  # fmt: skip
def test_spare_units_and_derating_lower_what_a_part_may_carry(keys: dict[str, Any], usable_w: float) -> None:
    """N+1 of five modules gives four fifths of the capacity, and a site's derating its part of that."""
    (found,) = planned([], [part("ups", **{"capacity_w": 100, **keys})]).upstream
    assert found.capacity_w == pytest.approx(usable_w)


def test_distributed_redundancy_shares_a_lost_part() -> None:
    """Three UPS behind pairs of feeds: after the loss of one, each of the others carries half as much again."""
    chain = [part(name) for name in ("ups-a", "ups-b", "ups-c")]
    plan = planned(racks_on(["ups-a", "ups-b"], ["ups-b", "ups-c"], ["ups-c", "ups-a"]), chain)
    assert loads(plan) == dict.fromkeys(("ups-a", "ups-b", "ups-c"), (1000, 1500))


def test_p3_a_chain_is_counted_however_deep_it_is() -> None:
    """P3: a load behind three hundred nested parts is part of the topmost one."""
    parts = [UpstreamPower(**part("p0"))]
    parts += [UpstreamPower(**part(f"p{at}", f"p{at - 1}")) for at in range(1, 300)]
    assert chain_loads_w(parts, {"p299": [2300.0]})["p0"] == 2300
    assert Chain(parts).outage("p0").dark == {found.name for found in parts}


# -- what holds for every chain -------------------------------------------------------------------------------------
NAMES = [f"u{at}" for at in range(6)]


@st.composite
def halls(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Return racks, a chain without losses, and nodes in a rack; parts hang on parts before them, or on nothing."""
    chain = []
    for at, name in enumerate(NAMES):
        above = draw(st.sampled_from([None, *NAMES[:at]]))
        caught = draw(st.lists(st.sampled_from([n for n in NAMES if n != name]), max_size=2, unique=True))
        chain.append(part(name, above, catcher_for=caught if draw(st.booleans()) else []))
    upstreams = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)
    return racks_on(*draw(st.lists(upstreams, min_size=1, max_size=4))), chain, draw(st.integers(1, 3))


@given(halls(), st.sampled_from(["two", "three", "unknown"]))
def test_a_watt_is_counted_once(hall: tuple[list[dict[str, Any]], list[dict[str, Any]], int], system: str) -> None:
    """What the tops of a chain carry is what the feeds carry, and that is what the devices draw."""
    racks, chain, nodes = hall
    plan = planned(racks, chain, nodes=nodes, system=system)
    tops = [found.load_w for found in plan.upstream if found.fed_by is None]
    feeds = [feed.load_w for rack in plan.racks for feed in rack.feeds]
    if None in feeds:
        assert None in tops
    else:
        assert sum(w or 0 for w in tops) == pytest.approx(plan.it_power_w)
        assert sum(w or 0 for w in feeds) == pytest.approx(plan.it_power_w)


@given(halls())
def test_losing_a_part_never_reports_less_than_it_carried(
    hall: tuple[list[dict[str, Any]], list[dict[str, Any]], int],
) -> None:
    """After a loss, the live tops carry all that racks with power draw: nothing of what the part carried is lost."""
    racks, parts, nodes = hall
    spec = powered(racks, parts, nodes=nodes)
    chain = Chain(spec.facility.power.upstream)
    devices, cache = placed_devices(spec, {}), RackPowers(chain)
    powers = [
        cache.of(rack.spec.power_feeds, loads_of(devices.get(rack.name, ()))) for rack in placed_racks(spec.facility)
    ]
    power = ChainPower(chain, powers)
    for lost in chain.parts:
        live = sum(nodes * 1000 for rack in powers if lost not in rack.darkened_by)
        dark = chain.outage(lost).dark
        tops = [name for name, found in chain.parts.items() if found.fed_by is None and name not in dark]
        after = power.loads_w(lost)
        assert sum(after[name] or 0 for name in tops) == pytest.approx(live)


ANY_NAME = st.sampled_from([*NAMES, "nowhere"])


@st.composite
def tangles(draw: st.DrawFn) -> SiteSpec:
    """Return a site whose chain may hang on itself, on nothing, or catch what it hangs on, with any figures."""
    chain = [
        part(
            draw(st.sampled_from(NAMES)),
            draw(st.one_of(st.none(), ANY_NAME)),
            kind=draw(st.sampled_from(["utility", "generator", "ups", "panel"])),
            catcher_for=draw(st.lists(ANY_NAME, max_size=2)),
            capacity_w=draw(st.floats(1, 9000)),
            allocated_w=draw(st.one_of(st.none(), st.floats(0, 9000))),
            efficiency=draw(st.one_of(st.none(), st.floats(0.5, 1))),
        )
        for _ in range(draw(st.integers(0, 6)))
    ]
    banks = [
        {"name": f"b{at}", "breaker_a": 1, "phase": draw(st.sampled_from([None, "L1", "L2-L3"])), "outlets": 1}
        for at in range(draw(st.integers(0, 2)))
    ]
    racks = racks_on(*draw(st.lists(st.lists(ANY_NAME, min_size=1, max_size=3), min_size=1, max_size=3)), banks=banks)
    system = draw(st.sampled_from(["one", "two", "three", "unknown"]))
    rules = draw(st.sampled_from([{}, {"startup": 1.5, "transient": 2.0}]))
    return powered(racks, chain, nodes=draw(st.integers(1, 3)), system=system, draw_rules=rules)


@given(tangles())
def test_any_chain_gives_findings_and_never_a_traceback(spec: SiteSpec) -> None:
    """However a chain is tangled, the plan ends, and the checks tell of it."""
    facility = plan_facility(spec, {})
    plan = SitePlan(
        name="t", domain="t", facility=facility, fabrics={}, nodes=(), pools=(), provisioning=None,
        cluster=None, gpu_stack=None, endpoints=(), autoscaler=None, plays=(), admin_private_key_file="k",
    )  # fmt: skip
    for check in POWER_CHECKS:
        assert all(finding.what and finding.fix for finding in check(spec, plan))


def test_a_catcher_keeps_supplies_alive() -> None:
    """Two feeds on one UPS darken a rack with it, unless another part takes over for that UPS."""
    chain = [part("ups-a"), part("ups-b")]
    caught = [chain[0], {**chain[1], "catcher_for": ["ups-a"]}]
    darkened = []
    for parts in (chain, caught):
        spec = powered(racks_on(["ups-a", "ups-a"]), parts)
        feeds = placed_racks(spec.facility)[0].spec.power_feeds
        darkened.append(RackPowers(Chain(spec.facility.power.upstream)).of(feeds, ()).darkened_by)
    assert darkened == [("ups-a",), ()]


def test_what_takes_over_does_not_feed_itself() -> None:
    """A catcher that hangs on what it catches has power from a second catcher, and the load is counted there."""
    chain = [part("a"), part("b", "a"), part("c", "b", catcher_for=["a"]), part("d", catcher_for=["b"])]
    outage = Chain(UpstreamPower(**found) for found in chain).outage("a")
    assert (set(outage.dark), dict(outage.moved or {})) == ({"a", "b"}, {"a": "c", "b": "d"})
    assert loads(planned(racks_on(["a"]), chain))["d"] == (0, 1000)
