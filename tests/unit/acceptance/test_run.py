"""A run from outputs to evidence: what is kept, what counts, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coldaisle.acceptance import Output, Step
from coldaisle.acceptance.records import CannotTellError
from coldaisle.cli.accept_judge import Judging, neighbours
from coldaisle.cli.accept_report import page, reasons_of, report_json
from coldaisle.evidence import Store
from coldaisle.plan import SitePlan, plan_hash
from tests.unit.acceptance.conftest import said
from tests.unit.acceptance.test_judge import gpus
from tests.unit.evidence.test_evidence import full, signer

Steps = Callable[..., tuple[Step, ...]]
START = datetime(2026, 11, 28, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def run(plan: SitePlan, tmp_path: Path) -> Judging:
    """Return a run on a site whose store is empty."""
    own = signer()
    store = Store(tmp_path / "evidence", tmp_path / "waiting", {own.key_id: own.key.public_key()}, own)
    return Judging(plan, store, "quick", "ops", START)


@pytest.fixture
def states(steps_of: Steps) -> tuple[Step, ...]:
    """Return one step a node."""
    return tuple(step for step in steps_of(phase="quick") if step.test == "gpu-state")


def outputs(states: tuple[Step, ...], lame: str | None = None) -> dict[str, Output]:
    """Return what all nodes say; one has lost a GPU."""
    return {step.id: said(step, gpus(int(step.host[-1]), lost=3 if step.host == lame else None)) for step in states}


def test_every_node_gets_evidence_of_the_plan(run: Judging, states: tuple[Step, ...], plan: SitePlan) -> None:
    """One statement a node, signed, with figures, limits, reasons and the part."""
    done = run.judged(states, outputs(states, lame="r01-n02"))
    kept = {one.statement.subjects[0]: one.statement for one in run.store.read() if one.statement}
    assert len(done.evidence) == len(kept) == 4
    assert {statement.plan_hash for statement in kept.values()} == {plan_hash(plan)}
    body = kept["r01-n02"].body
    assert body["result"] == "refused"
    assert body["reasons"][0]["part"]["slot"] == "00000000:58:00.0"
    assert kept["r01-n01"].body["result"] == "accepted"
    assert kept["r01-n01"].body["steps"][0]["measured"][0]["value"] == 31.0


def test_three_failures_in_a_row_ask_for_a_repair(run: Judging, states: tuple[Step, ...]) -> None:
    """The third says to stop; the count is that of the evidence, so that it outlives the runner."""
    events = []
    for at in range(4):
        done = replace(run, when=START + timedelta(hours=at)).judged(states, outputs(states, lame="r01-n02"))
        events.append(next(each for each in done.outcomes if each.node == "r01-n02"))
    assert [each.event for each in events] == ["refused", "refused", "repair", "repair"]
    assert "stop, and open a repair" in reasons_of(events[2])[-1]
    body = [one.statement.body for one in run.store.read() if one.statement and one.statement.subjects == ("r01-n02",)]
    assert [each["event"] for each in body] == ["refused", "refused", "repair", "repair"]


@pytest.mark.parametrize("hours", [(0, 24, -1, 2), (0, -1, -2, -3)])
def test_failures_are_counted_in_the_order_of_the_runs(
    run: Judging, states: tuple[Step, ...], hours: tuple[int, ...]
) -> None:
    """A pass, then failures under a clock that is set forward and back: none is taken for older than the pass."""
    for at, lame in zip(hours, (None, "r01-n02", "r01-n02", "r01-n02"), strict=True):
        done = replace(run, when=START + timedelta(hours=at)).judged(states, outputs(states, lame=lame))
    last = next(each for each in done.outcomes if each.node == "r01-n02")
    assert (last.failures, last.event) == (3, "repair")


def test_evidence_names_the_step_that_it_comes_after(run: Judging, states: tuple[Step, ...]) -> None:
    """And which run of its node it is."""
    for _ in range(2):
        replace(run, steps={"r01-n02": 7}).judged(states, outputs(states))
        run = replace(run, when=run.when + timedelta(hours=1))
    bodies = [
        one.statement.body for one in run.store.read() if one.statement and one.statement.subjects == ("r01-n02",)
    ]
    assert [(body["run"], body["after_step"]) for body in bodies] == [(1, 7), (2, 7)]


def test_a_pass_begins_the_count_again(run: Judging, states: tuple[Step, ...]) -> None:
    """Two failures, a pass, a failure: that is one."""
    for at, lame in enumerate(("r01-n02", "r01-n02", None, "r01-n02")):
        done = replace(run, when=START + timedelta(hours=at)).judged(states, outputs(states, lame=lame))
    assert next(each.failures for each in done.outcomes if each.node == "r01-n02") == 1


def test_evidence_that_was_changed_does_not_count(run: Judging, states: tuple[Step, ...]) -> None:
    """Nobody is sent to repair by a file that somebody wrote."""
    for at in range(2):
        replace(run, when=START + timedelta(hours=at)).judged(states, outputs(states, lame="r01-n02"))
    for path in run.store.files():
        path.write_bytes(path.read_bytes().replace(b'"payload":"ey', b'"payload":"fy'))
    done = replace(run, when=START + timedelta(hours=3)).judged(states, outputs(states, lame="r01-n02"))
    assert next(each.failures for each in done.outcomes if each.node == "r01-n02") == 1


def test_a_full_store_is_told_and_the_result_is_not_lost(
    run: Judging, states: tuple[Step, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judgement is there, each statement that could not be kept is a problem, and earlier ones stay."""
    run.judged(states, outputs(states))
    before = run.store.files()
    with monkeypatch.context() as disk:
        disk.setattr("coldaisle.files.os.fsync", full)
        done = replace(run, when=START + timedelta(hours=1)).judged(states, outputs(states))
    assert len(done.problems) == 4
    assert "No space left" in done.problems[0]
    assert all(each.verdict == "accepted" for each in done.outcomes)
    assert run.store.files() == before


def test_strictly_a_figure_without_a_limit_is_no_pass(run: Judging, steps_of: Steps) -> None:
    """`--strict`: what nobody can judge is not accepted."""
    from tests.unit.acceptance import forms  # noqa: PLC0415

    step = next(step for step in steps_of(phase="full") if step.test == "hpl")
    bare = replace(step, limits=tuple(replace(limit, value=None, source=None) for limit in step.limits))
    told = {bare.id: said(bare, forms.HPL)}
    assert run.judged([bare], told).outcomes[0].verdict == "accepted"
    assert replace(run, strict=True).judged([bare], told).outcomes[0].verdict == "could-not-tell"


def test_the_page_says_what_the_json_says(run: Judging, states: tuple[Step, ...]) -> None:
    """Nodes, reasons and parts are on it, escaped, and it fetches nothing."""
    done = replace(run, who="<ops>").judged(states, outputs(states, lame="r01-n02"))
    text = page(done)
    assert "3 of 4 nodes accepted, 1 refused, 0 could not be told" in text
    assert "slot 00000000:58:00.0" in text
    assert "&lt;ops&gt;" in text
    assert "http" not in text.replace("http-equiv", "")
    assert report_json(done)["nodes"]["r01-n02"]["result"] == "refused"


LLDP = (
    '{"lldp": {"interface": [{"rail0": {"chassis": {"%s": {}}, "port": {"id": {"type": "ifname", "value": "%s"}}}}]}}'
)
CABLES = {"cables": {"rail0": ["leaf01", "swp1"]}}


def test_a_wrong_cable_says_where_it_ends() -> None:
    """And a silent port that nobody is heard there; half of an output is no answer."""
    assert neighbours(LLDP % ("leaf01", "swp1"), CABLES).faults == ()
    (wrong,) = neighbours(LLDP % ("leaf01", "swp2"), CABLES).faults
    assert wrong.what == "rail0 ends at leaf01:swp2, and not at leaf01:swp1"
    (silent,) = neighbours('{"lldp": {}}', CABLES).faults
    assert silent.what == "nobody is heard behind rail0"
    for text in ("", LLDP[:40], "lldpctl: cannot connect"):
        with pytest.raises(CannotTellError):
            neighbours(text, CABLES)
