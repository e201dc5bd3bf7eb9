"""Whatever is plugged where: swaps mend it, and nobody's point of view or order changes the report."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coldaisle.plan.model import End
from coldaisle.verify import CablingReport, compare
from tests.unit.verify.neighbours import answers, as_planned, ethernet, infiniband, read_subnet

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def permuted(links: dict[End, End], uppers: list[End], order: list[int]) -> dict[End, End]:
    """Return links whose upper ends are exchanged among each other in an order."""
    changed: dict[End, End] = {}
    for upper, at in zip(uppers, order, strict=True):
        lower = links[uppers[at]]
        changed |= {upper: lower, lower: upper}
    return changed


def mended(links: dict[End, End], report: CablingReport) -> dict[End, End]:
    """Return links after everything that a report says of plugs, in its order."""
    now = dict(links)
    for finding in report.findings:
        assert finding.kind == "swapped"
        one, two = finding.ends
        now[one], now[two] = now[two], now[one]
        now[now[one]], now[now[two]] = one, two
    return now


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[int], int]:
    """Return an order of the InfiniBand cables, and how many of them it moves at most."""
    count = len(infiniband().cables)
    moved = draw(st.integers(0, 40))
    rng = random.Random(draw(st.integers(0, 2**32)))  # noqa: S311 - not for secrets
    order = list(range(count))
    some = rng.sample(order, moved)
    for at, value in zip(sorted(some), some, strict=True):
        order[at] = value
    return order, moved


@given(orders())
@QUIET
def test_swaps_give_the_plan_back(drawn: tuple[list[int], int]) -> None:
    """Any permutation of the plan's cables is told as swaps, fewer than cables moved, that give the plan back."""
    order, moved = drawn
    planned = as_planned(infiniband())
    links = permuted(planned, [cable.plan.b for cable in infiniband().cables], order)
    report = compare(infiniband(), [read_subnet(infiniband(), links)])
    assert mended(links, report) == planned
    assert len(report.findings) <= max(0, moved - 1)
    assert report.unknown == ()


@given(st.randoms(use_true_random=False))
@QUIET
def test_order_changes_nothing(rng: random.Random) -> None:
    """Files and neighbours in any order give one report."""
    planned = as_planned(ethernet())
    uppers = [cable.plan.b for cable in ethernet().cables]
    order = list(range(len(uppers)))
    rng.shuffle(order)
    links = permuted(planned, uppers, order)
    names = list(ethernet().devices)
    first = compare(ethernet(), answers(links, names))
    told = answers(links, names)
    rng.shuffle(told)
    assert compare(ethernet(), told) == first
    shuffled = list(links.items())
    rng.shuffle(shuffled)
    assert compare(ethernet(), answers(dict(shuffled), names)) == first


@given(st.randoms(use_true_random=False), st.integers(0, 12))
@QUIET
def test_one_end_or_both_is_the_same(rng: random.Random, moved: int) -> None:
    """Where all cables are seen from their upper ends, the lower ends' answers add nothing."""
    planned = as_planned(ethernet())
    uppers = [cable.plan.b for cable in ethernet().cables]
    order = list(range(len(uppers)))
    some = rng.sample(order, moved)
    for at, value in zip(sorted(some), some, strict=True):
        order[at] = value
    links = permuted(planned, uppers, order)
    above = sorted({upper.device for upper in uppers})
    once = compare(ethernet(), answers(links, above))
    both = compare(ethernet(), answers(links, ethernet().devices))
    assert once == both
    assert mended(links, both) == planned
