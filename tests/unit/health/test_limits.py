"""What may happen at once: bursts become findings, and limits hold for whatever comes in whatever order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.health.bursts import Finding
from coldaisle.health.limits import at_most
from coldaisle.health.state import State
from coldaisle.health.tick import Reading, tick
from coldaisle.spec.health import HealthLimits, HealthSpec
from tests.unit.health.sites import T0, Hall, event, topology

TEN = tuple(f"r01-n{number:02}" for number in range(1, 11))
QUIET = settings(max_examples=40, deadline=None)


def test_a_burst_of_xid_13_drains_nothing_and_is_one_finding() -> None:
    """An error of an application on all hosts of a hall, many times over: one finding of the hall."""
    hall = Hall()
    told = [event(node, "xid", "13", T0 + second) for node in TEN for second in range(30)]
    decision = hall.tick(told)
    assert (decision.steps, decision.held) == ((), ())
    assert decision.findings == (Finding("hall hall1", "xid", "13", TEN, 10, explains=False),)
    assert hall.tick(after_s=600).steps == ()


def test_a_burst_of_ends_of_jobs_is_not_even_a_finding() -> None:
    """77 healthy nodes with Xid 45 in 11 racks, at the end of a job: nothing at all (NVSentinel PR 1629)."""
    hall = Hall(nodes=176)
    nodes = list(hall.site.nodes)[:77]
    decision = hall.tick([event(node, "xid", "45", T0) for node in nodes])
    assert (decision.steps, decision.findings, decision.conditions) == ((), (), ())


def test_flaps_at_one_leaf_are_a_finding_of_the_leaf() -> None:
    """Half of a leaf's hosts lose their link at once, again and again: one finding, and no host is drained."""
    hall = Hall()
    told = [event(node, "link", "link-down", T0 + 7 * time, "port rail0") for node in TEN[:5] for time in range(8)]
    decision = hall.tick(told)
    assert decision.steps == ()
    [finding] = decision.findings
    assert finding.part == "leaf leaf01"
    assert finding.text.startswith("link link-down on 5 of 10 nodes of leaf leaf01 at once: look at leaf leaf01")
    for _ in range(20):
        assert hall.tick(after_s=200).steps == ()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("power-critical", "power"),
        ("fan-critical", "cooling"),
        ("leak-critical", "cooling"),
        ("other-warning", "cooling"),
    ],
)
def test_what_bmcs_log_at_once_is_looked_for_where_it_comes_from(code: str, kind: str) -> None:
    """Supplies without input are the feed's, and nobody is sent to a cooling unit for them."""
    hall = Hall()
    decision = hall.tick([event(node, "sel", code, T0 + 60, "psu 1") for node in TEN[:5]])
    assert [(finding.part.partition(" ")[0], finding.explains) for finding in decision.findings] == [(kind, True)]
    assert hall.done == []


def test_flaps_that_a_burst_explains_withdraw_what_waits() -> None:
    """The first host of a burst may be told before the others: what was not begun for it is given up."""
    hall = Hall(spec=HealthSpec(limits=HealthLimits(max_node_actions_per_hour=1)))
    first = [event(TEN[0], "link", "link-down", T0 + time, "port rail0") for time in range(5)]
    readings = [Reading(node, T0 + 60, tuple(it for it in first if it.node == node)) for node in TEN]
    state, decision = tick(State(), readings, T0 + 60, hall.policy, hall.site)
    assert [step.rung for step in decision.steps] == ["drain"]
    later = [event(node, "link", "link-down", T0 + 90, "port rail0") for node in TEN[1:6]]
    readings = [Reading(node, T0 + 120, tuple(it for it in later if it.node == node)) for node in TEN]
    state, decision = tick(state, readings, T0 + 120, hall.policy, hall.site)
    assert decision.steps == ()
    assert [ladder.status for ladder in state.ladders] == ["withdrawn"]


def test_nine_of_ten_stay_up_when_all_have_lost_a_gpu() -> None:
    """One of ten may be out: the others wait, each with the limit that holds it back, and the burst is named."""
    hall = Hall(outcome=lambda step: step.rung != "reset")
    decision = hall.tick([event(node, "xid", "79", T0) for node in TEN])
    assert [(step.node, step.rung) for step in decision.steps] == [("r01-n01", "drain")]
    assert [held.node for held in decision.held] == list(TEN[1:])
    assert decision.held[0].limit == "1 of 10 nodes of its pool are out, 1 may be (max_pool_share)"
    assert [(finding.part, finding.explains) for finding in decision.findings] == [("hall hall1", False)]
    for _ in range(30):
        hall.tick([event(node, "gpu-lost", "missing", hall.now + 60, state=True) for node in TEN])
    assert {node for node, _rung in hall.done} == {"r01-n01"}


def test_leaks_of_one_loop_are_looked_at_before_the_nodes() -> None:
    """Temperatures of a whole loop are the loop's; a single warm node is watched."""
    hall = Hall()
    told = [event(node, "thermal", "hw-slowdown", T0, state=True) for node in TEN[:6]]
    assert [finding.part for finding in hall.tick(told).findings] == ["cooling crah1"]


@pytest.mark.parametrize(
    ("share", "members", "most"), [(0.1, 10, 1), (0.1, 9, 1), (0.25, 16, 4), (0.3, 10, 3), (1, 1, 1)]
)
def test_a_share_is_rounded_down_and_never_less_than_one(share: float, members: int, most: int) -> None:
    """3 of 10 at 0.3, in spite of binary fractions."""
    assert at_most(share, members) == most


CAUSES = (("xid", "79"), ("xid", "13"), ("ecc", "uncorrected"), ("link", "link-down"), ("sel", "memory-critical"))
NODES = 20


@st.composite
def storms(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], HealthLimits, int]:
    """Return ticks of events, each a node and a cause by number, with limits and a seed for what fails."""
    told = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, len(CAUSES) - 1)), max_size=25)
    limits = HealthLimits(
        max_pool_share=draw(st.sampled_from((0.05, 0.2, 0.5))),
        max_rack_share=draw(st.sampled_from((0.1, 0.5))),
        max_node_actions_per_hour=draw(st.integers(1, 4)),
        max_hall_actions_per_hour=draw(st.integers(1, 12)),
    )
    return draw(st.lists(told, min_size=3, max_size=12)), limits, draw(st.integers(0, 2**16))


def _events(hall: Hall, told: list[tuple[int, int]]) -> list[object]:
    nodes = list(hall.site.nodes)
    return [event(nodes[node], *CAUSES[cause], hall.now) for node, cause in told]  # type: ignore[arg-type]


@given(storms())
@QUIET
def test_limits_are_never_passed(storm: tuple[list[list[tuple[int, int]]], HealthLimits, int]) -> None:
    """Whatever is told and whatever fails: no pool, rack, node or hall has more out, or more done in an hour."""
    ticks, limits, seed = storm
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    hall = Hall(NODES, lambda _step: chance.random() < 0.6, HealthSpec(limits=limits))
    begun: list[tuple[float, str]] = []
    for told in ticks:
        decision = hall.tick(_events(hall, told), after_s=chance.choice((60, 600, 1800)))  # type: ignore[arg-type]
        begun += [(hall.now, step.node) for step in decision.steps if step.rung in {"drain", "reset", "reboot"}]
        out = {ladder.node for ladder in hall.state.ladders if ladder.holds}
        for part in hall.site.parts:
            if part.kind in {"pool", "rack"}:
                share = limits.max_pool_share if part.kind == "pool" else limits.max_rack_share
                assert len(out & set(part.nodes)) <= at_most(share, len(part.nodes))
        last = [node for at, node in begun if hall.now - at < 3600]
        assert len(last) <= limits.max_hall_actions_per_hour
        assert all(last.count(node) <= limits.max_node_actions_per_hour for node in last)


@given(storms())
@QUIET
def test_the_order_of_arrival_changes_nothing(storm: tuple[list[list[tuple[int, int]]], HealthLimits, int]) -> None:
    """The same events of a tick in any order, and hosts read in any order, give the same state and the same steps."""
    ticks, limits, seed = storm
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    one, other = Hall(NODES, spec=HealthSpec(limits=limits)), Hall(NODES, spec=HealthSpec(limits=limits))
    for told in ticks:
        shuffled = chance.sample(told, len(told))
        assert one.tick(_events(one, told)) == other.tick(_events(other, shuffled))  # type: ignore[arg-type]
        assert one.state == other.state


@given(
    st.lists(st.tuples(st.integers(0, NODES - 1), st.sampled_from(("13", "31", "43", "45", "63", "94"))), max_size=200)
)
@QUIET
def test_harmless_events_drain_nothing(told: list[tuple[int, str]]) -> None:
    """However many events that the policy only watches: no rung is gone, and none waits."""
    hall = Hall(NODES)
    nodes = list(hall.site.nodes)
    decision = hall.tick([event(nodes[node], "xid", code, T0 + at) for at, (node, code) in enumerate(told)])
    assert (decision.steps, decision.held, hall.state.ladders) == ((), (), ())


@given(st.integers(0, 2**16), st.integers(0, len(CAUSES) - 1))
@QUIET
def test_a_ladder_always_ends(seed: int, cause: int) -> None:
    """A node that tells of an error at every reading, and whose rungs fail by chance, comes to a ticket or is back."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    hall = Hall(2, lambda _step: chance.random() < 0.5)
    node = next(iter(topology(2).nodes))
    for _ in range(200):
        hall.tick(_events(hall, [(0, cause)] if chance.random() < 0.7 else []), after_s=300)  # type: ignore[arg-type]
    for _ in range(30):
        hall.tick(after_s=1801)
    ladder = hall.state.ladder(node)
    assert ladder is None or ladder.status in {"recovered", "ticket", "withdrawn"}
    assert len(hall.done) < 60
