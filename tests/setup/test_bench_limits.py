"""Limits of regression: how they follow from runs, and what a check says of figures that are over them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import limits
from tests.bench.figures import registry

DAY = date(2026, 1, 2)
RUNS = [{"plan_cpu_s": value, "plan_s": 9.0, "plan_mib": 100.0} for value in (1.0, 1.1, 0.9, 1.0, 1.0)]
LIMITS = {"plan": limits.limits_of(RUNS, DAY, "a machine")}


def test_a_limit_is_the_mean_of_five_runs_and_a_fifth_more() -> None:
    """The file tells the mean, every run, the day and the machine beside the limit."""
    found = LIMITS["plan"]["plan_cpu_s"]
    assert (found.limit, found.mean, found.runs) == (1.2, 1.0, (1.0, 1.1, 0.9, 1.0, 1.0))
    assert (found.date, found.machine) == ("2026-01-02", "a machine")


def test_seconds_of_the_clock_and_of_peers_have_no_limit() -> None:
    """They depend on what else the machine does, or are not ours."""
    assert LIMITS["plan"].keys() == {"plan_cpu_s", "plan_mib"}
    assert limits.limits_of([{"eos_pyavd_cpu_s": 1.0}] * 5, DAY, "a machine") == {}


def test_four_runs_are_no_mean() -> None:
    """A limit of too few runs is refused, so that none gets into the file."""
    with pytest.raises(ValueError, match="at least 5 runs, not of 4"):
        limits.limit_of([1.0] * 4, DAY, "a machine")


@pytest.mark.parametrize(("cpu_s", "said"), [(1.2, []), (1.201, ["plan_cpu_s"]), (0.1, [])])
def test_a_figure_over_its_limit_is_named(cpu_s: float, said: list[str]) -> None:
    """The limit itself is allowed; less is no regression."""
    assert list(limits.over(LIMITS["plan"], {"plan_cpu_s": cpu_s, "plan_mib": 100.0})) == said


def test_the_line_names_figure_limit_and_measured() -> None:
    """Who reads it knows by how much, against which runs, of which machine."""
    told = limits.over(LIMITS["plan"], {"plan_cpu_s": 1.5, "plan_mib": 100.0})["plan_cpu_s"]
    assert told == ("plan_cpu_s: limit 1.2, measured 1.500: 50 % above the mean of 5 runs (1; 2026-01-02, a machine)")


def test_a_figure_that_is_gone_is_over_its_limit() -> None:
    """A figure that is no longer measured must not pass for one that got better."""
    assert list(limits.over(LIMITS["plan"], {"plan_cpu_s": 1.0})) == ["plan_mib"]


def test_the_least_of_three_runs_counts() -> None:
    """One run beside something busy is no regression; three are."""
    values = iter([1.5, 1.4, 1.1])
    assert limits.check(LIMITS, ["plan"], lambda _name: {"plan_cpu_s": next(values), "plan_mib": 100.0}) == []
    values = iter([1.5, 1.4, 1.3])
    (line,) = limits.check(LIMITS, ["plan"], lambda _name: {"plan_cpu_s": next(values), "plan_mib": 100.0})
    assert "measured 1.300" in line


def test_limits_that_are_renewed_leave_the_others() -> None:
    """What was not named is kept as it was, and the file reads back as it was written."""
    runs = iter([2.0] * 5)
    after = limits.renewed(LIMITS, ["place"], lambda _name: {"place_cpu_s": next(runs)}, DAY, "another")
    assert after["plan"] == LIMITS["plan"]
    assert after["place"]["place_cpu_s"].limit == pytest.approx(2.4)


def test_a_file_reads_back(tmp_path: Path) -> None:
    """Writing and reading lose nothing."""
    file = tmp_path / "limits.yaml"
    file.write_text(limits.text_of(LIMITS), encoding="utf-8")
    assert limits.load(file) == LIMITS


def test_the_kept_limits_are_of_five_runs_of_known_figures() -> None:
    """Whoever edits a limit by hand has to edit its runs, too."""
    kept = limits.load()
    assert kept
    assert kept.keys() <= registry().keys()
    for figures in kept.values():
        for each in figures.values():
            again = limits.limit_of(each.runs, date.fromisoformat(each.date), each.machine)
            assert again.limit == pytest.approx(each.limit, rel=0.01)


def test_the_check_has_an_exit_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real figure that is measured against an impossible limit ends the command by 6 and names it."""
    file = tmp_path / "limits.yaml"
    tiny = limits.limits_of([{"plan_h100_pod_cpu_s": 0.001}] * 5, DAY, "a machine")
    file.write_text(limits.text_of({"plan_h100_pod": tiny}), encoding="utf-8")
    monkeypatch.setattr(limits, "FILE", file)
    monkeypatch.setattr(limits, "TRIES", 1)
    assert bench.main(["--check"]) == limits.OVER_LIMIT == 6
    assert "over its limit: plan_h100_pod_cpu_s: limit 0.001, measured" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--check", "node_ready"], ["--check", "--limits"], ["--whatever"]])
def test_options_and_figures_without_limits_are_wrong_usage(words: list[str]) -> None:
    """A check of nothing is not a check that passed."""
    assert bench.main(words) == bench.USAGE == 2
