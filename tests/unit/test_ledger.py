"""Explanations: every sum of the ledgers with its addends, and the same total as in the plan."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

from coldaisle.check import CheckedSite, open_site
from coldaisle.cli import main
from coldaisle.render.ledger import Explanation, explain, targets

ROOT = Path(__file__).parents[2]


@cache
def opened(name: str) -> CheckedSite:
    """Return a site of the repository."""
    return open_site(ROOT / "inventory" / name)


def told(site: str, target: str) -> Explanation:
    """Return what is told of a thing of a site."""
    return explain(opened(site).spec, opened(site).plan, target)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line in the repository, and return its exit code."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["coldaisle", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.parametrize("site", ["sim", "h100-pod", "b200-roce", "gb200-nvl72"])
def test_feeds_add_up_to_the_plan(site: str) -> None:
    """What is told of each feed, in full and after the worst loss, is what the plan says."""
    for rack in opened(site).plan.facility.racks:
        for feed in rack.feeds:
            found = told(site, f"{rack.name}.feed_{feed.name}")
            assert found.sums[0].total == pytest.approx(feed.load_w)
            assert found.sums[-1].total == pytest.approx(feed.load_after_loss_w)
            assert found.figures[0].value == feed.capacity_w


@pytest.mark.parametrize("site", ["sim", "h100-pod", "b200-roce", "gb200-nvl72"])
def test_chain_and_cooling_add_up_to_the_plan(site: str) -> None:
    """What is told of racks, of the chain above them and of cooling is what the plan says."""
    facility = opened(site).plan.facility
    assert told(site, opened(site).plan.name).sums[0].total == pytest.approx(facility.it_power_w)
    for rack in facility.racks:
        totals = {each.name: each.total for each in told(site, rack.name).sums}
        assert totals["power"] == pytest.approx(rack.power_w)
        assert totals["heat into air"] == pytest.approx(rack.heat_air_w)
        assert totals["weight"] == (None if rack.weight_kg is None else pytest.approx(rack.weight_kg))
        assert totals["rack units"] == rack.used_u
    for part in facility.upstream:
        found = told(site, part.name)
        assert found.sums[0].total == pytest.approx(part.load_w)
        assert found.sums[-1].total == pytest.approx(part.load_after_loss_w)
    for unit in facility.cooling:
        assert told(site, f"cooling.{unit.name}").sums[0].total == pytest.approx(unit.load_w)


@pytest.mark.parametrize("site", ["sim", "h100-pod", "b200-roce", "gb200-nvl72"])
def test_everything_has_a_source(site: str) -> None:
    """Each thing that can be explained says of each of its figures where it comes from."""
    for target in targets(opened(site).plan):
        found = told(site, target)
        assert found.target == target
        assert all(addend.source and addend.how for each in found.sums for addend in each.addends)
        assert all(figure.source and figure.how for figure in found.figures)


@pytest.mark.usefixtures("site")
def test_a_feed_as_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A feed's sum reads as on paper: addends with their sources, the total, the worst loss, the capacity."""
    expected = ROOT / "tests" / "unit" / "explain_feed.txt"
    monkeypatch.setattr(sys, "argv", ["coldaisle", "explain", "case", "r01.feed_a"])
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code
    said = capsys.readouterr().out
    if os.environ.get("COLDAISLE_ACCEPT"):
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")


def test_json_holds_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get sums, addends and sources under the names of the records."""
    assert run(monkeypatch, "explain", "sim", "ups-a", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema_version"], said["target"], said["what"]) == ("1", "ups-a", "ups ups-a, fed by utility")
    assert [each["name"] for each in said["sums"]] == ["load", "load after the loss of ups-b"]
    assert said["sums"][0]["total"] == sum(addend["value"] for addend in said["sums"][0]["addends"])


def test_a_name_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt name ends with 2 and the nearest name."""
    assert run(monkeypatch, "explain", "sim", "crash1") == 2
    assert capsys.readouterr().err == "nothing of sim is named crash1: write crah1\n"


def test_an_unknown_figure_is_unknown_in_the_sum() -> None:
    """A weight that no document gives is told as such, and makes the sum unknown."""
    weight = next(each for each in told("h100-pod", "n05").sums if each.name == "weight")
    assert weight.total is None
    unknown = [addend.source for addend in weight.addends if addend.value is None]
    assert unknown
    assert all(source.startswith("the catalog has no weight_kg of sn3700 (") for source in unknown)


def test_what_the_site_budgets_is_told_at_its_line() -> None:
    """A draw that the site budgets leads to the line of the spec, not to the catalog."""
    power = told("h100-pod", "n05").sums[0]
    source = next(addend.source for addend in power.addends if "sn3700" in addend.item)
    assert source.startswith("budgeted by the site (")
    lines = (ROOT / "inventory" / "h100-pod" / "fabrics.yaml").read_text().splitlines()
    line = int(re.findall(r"fabrics\.yaml:(\d+):", source)[0])
    assert "name: storage-spine" in lines[line - 1]
    assert "max_power_w: 600" in lines[line - 1]


def test_banks_and_caps_are_told(tmp_path: Path) -> None:
    """A feed's banks, phases and its pool's power cap are told with their sources, and add up to the plan."""
    shutil.copytree(ROOT / "tests" / "cases" / "base", tmp_path / "site")
    shutil.copytree(ROOT / "tests" / "cases" / "good" / "banks_in_balance", tmp_path / "site", dirs_exist_ok=True)
    pools = tmp_path / "site" / "node_pools.yaml"
    capped = pools.read_text().replace(
        "    boot: network\n", "    boot: network\n    power_cap: {watts: 300, scope: node}\n"
    )
    pools.write_text(capped)
    checked = open_site(tmp_path / "site")
    found = explain(checked.spec, checked.plan, "r01.feed_a")
    feed = checked.plan.facility.racks[0].feeds[0]
    sums = {each.name: each for each in found.sums}
    for bank in feed.banks:
        assert sums[f"load of bank {bank.name} ({bank.phase})"].total == pytest.approx(bank.load_w)
    figures = {each.name: each.value for each in found.figures}
    assert figures["phase L1"] == feed.phase_loads[0].load_a
    guest = next(addend for addend in found.sums[0].addends if "sim-guest" in addend.item)
    assert guest.how.startswith("300 W each")
    assert guest.source.startswith("capped by the site at 300 W for the node (")
