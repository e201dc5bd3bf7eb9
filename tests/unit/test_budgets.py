"""Budgets before and after a change of the spec: in text, JSON and Markdown, against a file or a folder."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.cli import main
from coldaisle.plan.budgets import Budget, Change, alike, budgets, changes, facility_json
from coldaisle.render.changes import as_markdown, headline, lines
from tests.unit.power_sites import part, planned, racks_on

Edit = Callable[[str, str, str], None]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


def feed(name: str, value: float | None, limit: float | None = 100.0) -> Budget:
    """Return a feed's load."""
    return Budget(kind="feed", name=name, figure="load", value=value, limit=limit, unit="W")


@pytest.fixture
def old(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the plan of the site as `coldaisle plan --json` wrote it, before the test changes the spec."""
    assert run(monkeypatch, "plan", site.name, "--json") == 0
    file = Path("old.json")
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    return file


def test_a_plan_against_itself_has_no_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], old: Path
) -> None:
    """The same spec gives the same budgets, and ends with 0."""
    assert run(monkeypatch, "plan", "case", "--against", str(old)) == 0
    assert capsys.readouterr().out == "No budget differs.\n"


def test_a_lower_breaker_shows_its_feeds_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit: Edit, old: Path
) -> None:
    """A breaker's change is told with the limit before and after, and ends with 5."""
    edit("facility.yaml", "breaker_a: 32", "breaker_a: 30")
    assert run(monkeypatch, "plan", "case", "--against", str(old), "--json") == 5
    said = json.loads(capsys.readouterr().out)
    assert {found["kind"] for found in said["changes"]} == {"feed"}
    first = said["changes"][0]
    assert first["before"]["value"] == first["after"]["value"]
    assert first["after"]["limit"] == pytest.approx(first["before"]["limit"] * 30 / 32)


def test_a_folder_is_compared_as_its_plan_would_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], site: Path, edit: Edit, old: Path
) -> None:
    """A spec's folder says the same as the plan that was made of it."""
    shutil.copytree(site, "before")
    edit("facility.yaml", "breaker_a: 32", "breaker_a: 30")
    assert run(monkeypatch, "plan", "case", "--against", "before", "--markdown") == 5
    folder = capsys.readouterr().out
    assert run(monkeypatch, "plan", "case", "--against", str(old), "--markdown") == 5
    assert capsys.readouterr().out.replace("old.json", "before") == folder
    assert "<details><summary>Budgets before and after</summary>" in folder


@pytest.mark.parametrize(("text", "reason"), [("{}", "JSON of a plan"), ("oops", "JSON of a plan"), (None, "No such")])
def test_what_is_no_plan_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], site: Path, text: str | None, reason: str
) -> None:
    """A file that holds no plan ends with 2 and says what is wanted."""
    if text is not None:
        Path("old.json").write_text(text, encoding="utf-8")
    assert run(monkeypatch, "plan", site.name, "--against", "old.json") == 2
    said = capsys.readouterr().err
    assert "old.json is no plan to compare with" in said
    assert reason in said


@pytest.mark.usefixtures("site")
def test_markdown_needs_something_to_compare_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--markdown` alone is a wrong usage."""
    assert run(monkeypatch, "plan", "case", "--markdown") == 2


def test_things_that_come_and_go_are_told() -> None:
    """A feed that is new or gone is a change; one whose load and limit are not known says nothing yet."""
    found = changes([feed("r01.feed_a", 10.0), feed("r02.feed_a", None, None)], [feed("r03.feed_a", 120.0)])
    assert [(change.before is None, change.after is None) for change in found] == [(True, False), (False, True)]
    assert [line.cells[2:5] for line in lines(found)] == [
        ("not there", "120 W", "100 W"),
        ("10 W", "not there", "100 W"),
    ]
    assert headline(found) == "2 budgets differ; 1 over the limit now."
    assert "**! 120 %**" in as_markdown("t", found)


def test_a_figure_that_is_lost_is_a_change() -> None:
    """Known before and unknown now is no small difference."""
    (change,) = changes([feed("r01.feed_a", 10.0)], [feed("r01.feed_a", None)])
    assert lines([change])[0].cells[2:] == ("10 W", "unknown", "100 W", "10 % -> unknown")


def test_changes_that_read_the_same_are_one_line() -> None:
    """Many racks that change alike are named by the first and the last."""
    found = [Change(before=feed(f"r{at}.feed_a", 1.0), after=feed(f"r{at}.feed_a", 2.0)) for at in range(10, 20)]
    assert [names for names, _ in alike(found)] == [tuple(f"r{at}.feed_a" for at in range(10, 20))]
    assert lines(found)[0].cells[0] == "r10.feed_a … r19.feed_a (10)"


def test_every_circuit_has_its_budgets(site: Path) -> None:
    """The list has each feed, source, loop and rack of the plan, and an older plan without a figure is read too."""
    facility = facility_json(open_site(site).plan.facility)
    found = {(budget.kind, budget.name) for budget in budgets("case", facility)}
    for rack in facility["racks"]:
        assert ("rack", rack["name"]) in found
        assert {("feed", f"{rack['name']}.feed_{each['name']}") for each in rack["feeds"]} <= found
    assert {("cooling", loop["name"]) for loop in facility["cooling"]} <= found
    del facility["racks"][0]["weight_kg"]
    assert any(budget.figure == "weight" and budget.value is None for budget in budgets("case", facility))


def test_draws_banks_phases_and_the_start_are_budgets() -> None:
    """Every kind of draw, the current of each bank and phase, and how many groups a start takes are compared too."""
    racks = racks_on(["ups-a", "ups-b"], banks=[{"name": "B1", "phase": "L1", "breaker_a": 16}])
    chain = [part("ups-a"), part("ups-b", efficiency=0.9)]
    before = facility_json(planned(racks, chain, draw_rules={"typical": 0.5, "transient": 1.5, "startup": 1.2}))
    after = facility_json(planned(racks, chain, draw_rules={"typical": 0.6, "transient": 1.5}))
    found = {(c.budget.name, c.budget.figure): c for c in changes(budgets("t", before), budgets("t", after))}
    typical = found["r01.feed_a", "typical draw"]
    assert typical.before is not None
    assert typical.after is not None
    assert (typical.before.value, typical.after.value) == (250.0, 300.0)
    gone = found["t", "start after a blackout"]
    assert gone.before is not None
    assert gone.after is not None
    assert (gone.before.value, gone.after.value) == (1.0, None)
    banks = {b.name: b for b in budgets("t", before) if b.figure == "current after the worst loss"}
    assert sorted(banks) == sorted(f"r01.feed_{f}/{b}" for f in "ab" for b in ("B1", "L1", "L2", "L3"))
    assert banks["r01.feed_a/B1"].value == pytest.approx(1000 / 230)
    (losses,) = [b for b in budgets("t", before) if (b.name, b.figure) == ("ups-b", "losses")]
    assert losses.value == pytest.approx(500 / 0.9 - 500)
