"""Power in the report: draws, banks and the start are told once for what is alike, and what is not known is named."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.report.power import Banks, banks, draws, start
from coldaisle.spec import site_folder
from tests.unit.power_sites import part, planned, racks_on

RULES = {"typical": 0.5, "transient": 1.5, "startup": 1.2}
BANKS = [{"name": f"B{at}", "phase": f"L{at}", "breaker_a": 16, "outlets": 2} for at in (1, 2, 3)]


@cache
def empty() -> SitePlan:
    """Return a plan to put a facility into."""
    return open_site(site_folder("sim")).plan


def plan(count: int = 3, rules: dict[str, float] | None = None, nodes: int = 2, **feed: Any) -> SitePlan:  # noqa: ANN401
    """Return a site of so many racks with two feeds each, on one UPS each."""
    racks = racks_on(*([["ups-a", "ups-b"]] * count), **feed)
    chain = [part("utility", kind="utility"), part("ups-a", "utility"), part("ups-b", "utility")]
    rules = RULES if rules is None else rules
    return replace(empty(), name="t", facility=planned(racks, chain, nodes, draw_rules=rules))


def test_draws_of_what_is_alike_are_one_line() -> None:
    """Three racks, their six feeds and both UPS are a line each, below the site and the utility."""
    found = draws(plan())
    assert [(line.name, line.kind, *line.figures) for line in found.lines] == [
        ("t", "IT load", "6.0 kW", "3.0 kW", "9.0 kW", "7.2 kW"),
        ("utility", "utility", "6.0 kW", "3.0 kW", "9.0 kW", "7.2 kW"),
        ("ups-a, ups-b", "ups", "3.0 kW", "1.5 kW", "4.5 kW", "3.6 kW"),
        ("r[01-03]", "rack", "2.0 kW", "1.0 kW", "3.0 kW", "2.4 kW"),
        ("r[01-03]: feeds a, b", "feed", "1.0 kW", "0.5 kW", "1.5 kW", "1.2 kW"),
    ]
    assert found.lacking == ()


def test_the_lines_do_not_grow_with_the_site() -> None:
    """Ninety racks that are alike are told in as many lines as three."""
    lines = draws(plan(90)).lines
    assert len(lines) == len(draws(plan()).lines)
    assert lines[-1].name == "r[01-90]: feeds a, b"


def test_draws_that_are_not_known_name_their_models() -> None:
    """Without a rule and without a figure of the catalog, the models are told, kind by kind."""
    found = draws(plan(rules={"typical": 0.5}))
    assert found.lacking == ("the transient draw of two", "the start-up draw of two")
    assert found.lines[0].figures[2:] == ("unknown", "unknown")


def test_excursions_above_a_breakers_rating_are_marked() -> None:
    """1 500 W for milliseconds are more than 2 A at 230 V on three phases are rated at."""
    lines = draws(plan(breaker_a=2)).lines
    assert [line.over for line in lines if line.kind == "feed"] == [True]
    assert not any(line.over for line in draws(plan(breaker_a=4)).lines)


def only(found: tuple[Banks, ...]) -> Banks:
    """Return the one group of banks that there is."""
    (group,) = found
    return group


def test_banks_of_feeds_that_are_alike_stand_together() -> None:
    """Every bank and phase has its current, its outlets, and the supplies of the first rack as an example."""
    group = only(banks(plan(banks=BANKS)))
    assert (group.name, group.example) == ("r[01-03]: feeds a, b", "r01, feed a")
    assert group.circuit == "230 V line to neutral, 3 phases, 63 A"
    assert [(line.name, line.phase, line.outlets, line.supplies) for line in group.banks] == [
        ("B1", "L1", "1 of 2", "r01-n1 psu1"),
        ("B2", "L2", "1 of 2", "r01-n2 psu1"),
        ("B3", "L3", "0 of 2", ""),
    ]
    assert group.banks[0].bar.words == "2.2 A of 16.0 A, 14 %; 27 % after a loss"
    assert [line.name for line in group.phases] == ["L1", "L2", "L3"]
    assert group.fullest == "fullest is B1, 27 % after a loss"


def test_banks_that_are_full_and_supplies_without_an_outlet_are_told() -> None:
    """What passes its breaker after a loss is marked; a supply that finds no outlet leaves the phases unknown."""
    assert [line.bar.over for line in only(banks(plan(banks=[{**BANKS[0], "breaker_a": 4}, BANKS[1]]))).banks] == [
        True,
        False,
    ]
    group = only(banks(plan(nodes=7, banks=BANKS)))
    assert group.unplugged == "1 supply"
    assert group.fullest == "not known of L[1-3]"


def test_feeds_without_banks_say_nothing() -> None:
    """A site that names no banks has no tables of them."""
    assert banks(plan()) == ()


def test_the_start_is_told_group_by_group() -> None:
    """Each group names its racks, what it draws, and what runs by then."""
    (step,) = start(plan()) or ()
    assert (step.racks, step.devices, step.startup, step.running, step.together, step.over) == (
        "r[01-03]",
        "6",
        "7.2 kW",
        "0.0 kW",
        "7.2 kW",
        "",
    )
    assert start(plan(rules={})) is None


def test_what_a_start_overloads_is_told() -> None:
    """A feed that cannot start its devices whatever runs is named."""
    steps = start(plan(1, breaker_a=1.5, nodes=1, rules={**RULES, "startup": 3.0})) or ()
    assert [step.over for step in steps] == ["r01.feed_a, r01.feed_b"]
