"""Draws of each kind, power caps with their scope, and the order of start after a blackout."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.plan.model import DrawsPlan, FacilityPlan
from coldaisle.plan.power.arithmetic import Load, feed_loads_w, total_draws
from coldaisle.plan.power.draws import capped_w, drawn
from coldaisle.spec.catalog import Gpu, System
from coldaisle.spec.power import DrawRules, PowerCap
from tests.unit.power_sites import GPUS, MODELS, part, planned, racks_on

NODE = MODELS["two"]
"""A node of 1000 W with eight GPUs of 100 W."""


def model(**figures: Any) -> System:  # noqa: ANN401 - figures of the catalog
    """Return the node with more figures."""
    return NODE.model_copy(update=figures)


@pytest.mark.parametrize(
    ("watts", "scope", "expected"),
    [(70, "gpu", 760), (100, "gpu", 1000), (5600, "gpu", 1000), (700, "node", 700), (2000, "node", 1000)],
)
def test_p8_a_cap_has_a_scope(watts: float, scope: str, expected: float) -> None:
    """P8: 700 W for a node is 700 W, and a cap of each GPU takes off only what eight GPUs may draw above it."""
    assert capped_w(NODE, NODE.max_power_w, PowerCap(watts=watts, scope=scope), GPUS["gpu"]) == expected  # type: ignore[arg-type]


def test_p8_a_cap_of_gpus_needs_what_a_gpu_draws() -> None:
    """P8: without the GPU's own figure the capped draw is unknown, and never what it was."""
    assert capped_w(NODE, 1000, PowerCap(watts=70, scope="gpu"), GPUS["blank"]) is None
    assert capped_w(NODE, None, PowerCap(watts=70, scope="node"), None) is None


def test_a_cap_is_told_in_the_ledger_and_lowers_feeds_and_chain() -> None:
    """A pool's cap is in the line of the rack's ledger, and feeds, chain and site count the lower draw."""
    chain = [part("ups")]
    plan = planned(racks_on(["ups", "ups"]), chain, nodes=2, power_cap={"watts": 70, "scope": "gpu"})
    (line,) = plan.racks[0].power_lines
    assert (line.each, line.total, line.source) == (760, 1520, "capped by the site at 70 W for each GPU; t")
    assert [feed.load_w for feed in plan.racks[0].feeds] == [760, 760]
    assert (plan.upstream[0].load_w, plan.it_power_w) == (1520, 1520)


def test_a_document_a_rule_or_nothing_gives_a_draw() -> None:
    """A figure of the catalog comes first, then the site's rule; without either a draw is unknown."""
    known = model(typical_power_w=600, transient_power_w=1400, startup_power_w=900)
    rules = DrawRules(typical=0.7, transient=1.2, startup=0.5)
    assert drawn(known, rules).draws == DrawsPlan(typical_w=600, transient_w=1400, startup_w=900)
    assert drawn(NODE, rules).draws == DrawsPlan(typical_w=700, transient_w=1200, startup_w=500)
    assert drawn(NODE, DrawRules()).draws == DrawsPlan(typical_w=None, transient_w=None, startup_w=None)


def test_not_applicable_is_neither_unknown_nor_zero() -> None:
    """A draw that a document says is not applicable counts as the maximum."""
    quiet = model(transient_power_w="not-applicable", startup_power_w="not-applicable")
    assert drawn(quiet, DrawRules()).draws == DrawsPlan(typical_w=None, transient_w=1000, startup_w=1000)


def test_a_cap_does_not_lower_what_it_does_not_hold() -> None:
    """A capped node usually draws no more than its cap, and starts as it would without: the cap is not set yet."""
    known = model(typical_power_w=900, transient_power_w=1400)
    found = drawn(known, DrawRules(startup=0.9), cap=PowerCap(watts=800, scope="node"))
    assert (found.max_w, found.draws) == (800, DrawsPlan(typical_w=800, transient_w=1400, startup_w=900))


def test_each_kind_of_draw_has_its_total() -> None:
    """Racks, feeds, chain and site have the sum of each kind, and a kind with an unknown figure is unknown."""
    rules = {"typical": 0.5, "startup": 1.5}
    plan = planned(racks_on(["ups", "ups"], ["ups"]), [part("ups")], nodes=2, draw_rules=rules)
    assert plan.it_draws == DrawsPlan(typical_w=2000, transient_w=None, startup_w=6000)
    assert plan.racks[0].draws == DrawsPlan(typical_w=1000, transient_w=None, startup_w=3000)
    assert plan.racks[0].feeds[0].draws == DrawsPlan(typical_w=500, transient_w=None, startup_w=1500)
    assert plan.upstream[0].draws == plan.it_draws


# -- start ----------------------------------------------------------------------------------------------------------
RULES = {"typical": 1.0, "transient": 1.0, "startup": 1.2}


def started(plan: FacilityPlan) -> list[tuple[str, ...]]:
    """Return the racks of each group of the start."""
    assert plan.start_order is not None
    return [group.racks for group in plan.start_order]


def test_racks_start_in_groups_that_the_chain_carries() -> None:
    """Three racks of 1 kW that start with 1.2 kW fit a part of 3.3 kW two at first, and then the third."""
    plan = planned(racks_on(["ups"], ["ups"], ["ups"]), [part("ups", capacity_w=3300)], draw_rules=RULES)
    assert started(plan) == [("r01", "r02"), ("r03",)]
    assert plan.start_order is not None
    assert [(group.startup_w, group.running_w, group.over) for group in plan.start_order] == [
        (2400, 0, ()), (1200, 2000, ())
    ]  # fmt: skip


def test_parts_start_side_by_side() -> None:
    """Racks of two parts start in the same groups, since neither part waits for the other."""
    racks = racks_on(["ups-a"], ["ups-a"], ["ups-b"], ["ups-b"])
    chain = [part("utility", kind="utility"), *(part(n, "utility", capacity_w=2300) for n in ("ups-a", "ups-b"))]
    assert started(planned(racks, chain, draw_rules=RULES)) == [("r01", "r03"), ("r02", "r04")]


def test_a_generator_sets_the_pace_after_a_blackout() -> None:
    """What the utility carries at once, a smaller generator that takes over for it starts one by one."""
    chain = [part("utility", kind="utility")]
    generator = part("gen", kind="generator", catcher_for=["utility"], capacity_w=2300)
    racks = racks_on(["utility"], ["utility"])
    assert started(planned(racks, chain, draw_rules=RULES)) == [("r01", "r02")]
    assert started(planned(racks, [*chain, generator], draw_rules=RULES)) == [("r01",), ("r02",)]


def test_a_rack_too_large_for_its_feeds_starts_node_by_node() -> None:
    """A rack whose nodes overload a feed when they start at once is started in parts."""
    plan = planned(racks_on(["ups"], breaker_a=5), [part("ups")], nodes=3, draw_rules=RULES)
    assert plan.start_order is not None
    assert [group.devices for group in plan.start_order] == [("r01-n1", "r01-n2"), ("r01-n3",)]


def test_what_cannot_start_at_all_names_what_it_overloads() -> None:
    """A rack that starts with more than a part carries is in a group that names the part."""
    plan = planned(racks_on(["ups"]), [part("ups", capacity_w=1100)], draw_rules=RULES)
    assert plan.start_order is not None
    assert [group.over for group in plan.start_order] == [("ups",)]


def test_an_unknown_start_up_draw_makes_the_order_unknown() -> None:
    """Without a start-up draw nobody knows the order; it is not told as if all could start at once."""
    assert planned(racks_on(["ups"]), [part("ups")]).start_order is None


def test_pools_that_start_first_do() -> None:
    """A pool that the site names starts before the others."""
    racks, chain = racks_on(["ups"], ["ups"]), [part("ups", capacity_w=2300)]
    assert started(planned(racks, chain, draw_rules=RULES, start_first=["p-r02"])) == [("r02",), ("r01",)]


@given(
    st.lists(st.lists(st.sampled_from(["ups-a", "ups-b"]), min_size=1, max_size=2), min_size=1, max_size=8),
    st.floats(1200, 9000), st.floats(1200, 9000), st.integers(1, 3),
)  # fmt: skip
def test_no_group_overloads_anything(upstreams: list[list[str]], a: float, b: float, nodes: int) -> None:
    """Each device starts once, and no part carries more than it may while a group starts, unless the group says so."""
    chain = [part("ups-a", capacity_w=a), part("ups-b", "ups-a", capacity_w=b)]
    plan = planned(racks_on(*upstreams), chain, nodes=nodes, draw_rules=RULES)
    assert plan.start_order is not None
    names = [device for group in plan.start_order for device in group.devices]
    assert sorted(names) == sorted(device.device for rack in plan.racks for device in rack.devices)
    above = {"ups-a": ("ups-a",), "ups-b": ("ups-b", "ups-a")}
    running: defaultdict[str, float] = defaultdict(float)
    for group in plan.start_order:
        starting: defaultdict[str, float] = defaultdict(float)
        for name in group.devices:
            at = upstreams[int(name[1:3]) - 1]
            for share, upstream in zip(feed_loads_w([Load(1000, 2)], len(at)), at, strict=True):
                for carrier in above[upstream]:
                    starting[carrier] += share or 0
        for found in plan.upstream:
            carried = running[found.name] + 1.2 * starting[found.name]
            fits = carried <= found.capacity_w * (1 + 1e-6)
            assert fits or not starting[found.name] or found.name in group.over
        for carrier, watts in starting.items():
            running[carrier] += watts


DRAW = st.one_of(st.none(), st.floats(0, 1e5))


@given(st.lists(st.builds(DrawsPlan, typical_w=DRAW, transient_w=DRAW, startup_w=DRAW)))
def test_unknown_stays_unknown_by_kind(draws: list[DrawsPlan]) -> None:
    """A kind's total is unknown exactly when an addend of that kind is, and the other kinds stay known."""
    summed = total_draws(draws)
    for kind in ("typical_w", "transient_w", "startup_w"):
        assert (getattr(summed, kind) is None) == any(getattr(each, kind) is None for each in draws)


def test_p8_a_gpu_without_a_figure_makes_a_capped_rack_unknown() -> None:
    """P8: what a cap leaves of an unknown GPU is unknown in rack, feed and site."""
    found = drawn(NODE, DrawRules(), cap=PowerCap(watts=70, scope="gpu"), gpu=Gpu(vendor="t", source="t"))
    assert found.max_w is None
