"""From the engine's preview to a report, its formats, and known drift."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from coldaisle.cli.drift import exit_code, terraform_code
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.drift import CouldNotTell, Drifted, Item, Report, formats, ignore, report_of
from coldaisle.drift.preview import split_path

HERE = Path(__file__).parent
TODAY = date(2026, 11, 28)
POD = "urn:pulumi:dev::t::kubernetes:apps/v1:Deployment::llama"


def recorded(name: str) -> Report:
    """Return the report of a preview that the engine (3.274.1) gave."""
    return report_of(json.loads((HERE / f"{name}.json").read_text()), "dev", "2026-11-28T01:24:00Z")


def step(operation: str, old: dict[str, Any] | None, new: dict[str, Any] | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a step of a preview on a resource that is no play."""
    states = {"oldState": old and {"custom": True, **old}, "newState": new and {"custom": True, **new}}
    return {"op": operation, "urn": POD, **{key: state for key, state in states.items() if state}, **more}


def item(**changes: Any) -> Item:  # noqa: ANN401
    """Return an item of drift."""
    values = {"layer": "hosts", "resource": "os-train", "host": "r01-n03", "thing": "mtu.rail0", "operation": "update"}
    return Item(**{**values, "answer": Drifted(9000, 1500), **changes})


def report(*items: Item, errors: tuple[str, ...] = ()) -> Report:
    """Return a report of these items."""
    return Report(stack="dev", taken_at="2026-11-28T01:24:00Z", items=items, same={"os-train": 7}, errors=errors)


def test_drift_names_host_fact_planned_and_seen() -> None:
    """A changed MTU is one item, and the other facts of the play count as the same."""
    found = recorded("drifted")
    assert [(each.resource, each.host, each.thing, each.answer) for each in found.items] == [
        ("os-train", "h3", "mtu.rail0", Drifted(9000, 1500))
    ]
    assert found.counts() == {
        "same": 7,
        "drifted": 1,
        "pending": 0,
        "could-not-tell": 0,
        "in-maintenance": 0,
        "ignored": 0,
    }


def test_a_silent_host_is_neither_drift_nor_the_same() -> None:
    """Each fact of a host that does not answer could not be told, and since when; another host's drift stays drift."""
    found = recorded("silent")
    assert found.counts() == {
        "same": 5,
        "drifted": 1,
        "pending": 0,
        "could-not-tell": 2,
        "in-maintenance": 0,
        "ignored": 0,
    }
    silent = [each for each in found.items if each.host == "h2"]
    assert {each.thing for each in silent} == {"hostname", "mtu.rail0"}
    assert all(isinstance(each.answer, CouldNotTell) and each.answer.since for each in silent)


def test_silence_that_only_the_diagnostics_tell_is_not_lost() -> None:
    """Where nothing else is to do, the engine's only word on a silent host is a warning."""
    preview = json.loads((HERE / "silent.json").read_text())
    preview["steps"] = [each for each in preview["steps"] if each["op"] != "update"]
    assert report_of(preview, "dev", "now").counts()["could-not-tell"] == 2


def test_a_changed_plan_is_pending_and_not_drift() -> None:
    """What differs because the plan has moved since the last run is not blamed on the site."""
    old = {"inputs": {"replicas": 1}, "outputs": {"replicas": 1}}
    change = {"replicas": {"kind": "update", "inputDiff": False}}
    preview = {
        "steps": [step("refresh", old, old), step("update", old, {"inputs": {"replicas": 2}}, detailedDiff=change)]
    }
    assert [each.kind for each in report_of(preview, "dev", "now").items] == ["pending"]


@pytest.mark.parametrize(
    ("applied", "answer"),
    [({"h1": {"a": 1}}, Drifted("finished", "not finished")), ({}, Drifted("present", "absent"))],
)
def test_a_host_that_is_not_done_is_pending(applied: dict[str, Any], answer: Drifted) -> None:
    """A host that the last run did not finish is told from one that the plan has gained since."""
    old = {"custom": True, "inputs": {"hosts": applied}, "outputs": {"hosts": {}}}
    new = {"custom": True, "inputs": {"hosts": {"h1": {"a": 1}}}}
    play = {"urn": "urn:pulumi:dev::t::coldaisle:ansible:Play::os", "oldState": old}
    change = {"op": "update", "newState": new, "detailedDiff": {'hosts["h1"]': {"kind": "add"}}}
    found = report_of({"steps": [{**play, "op": "refresh"}, {**play, **change}]}, "dev", "now").items
    assert [(each.kind, each.host, each.answer) for each in found] == [("pending", "h1", answer)]


def test_a_resource_that_has_gone_is_drift() -> None:
    """The engine would make it again; it was there at the last run."""
    old = {"inputs": {"replicas": 1}, "outputs": {"replicas": 1}}
    preview = {"steps": [step("refresh", old, None), step("create", None, {"inputs": {"replicas": 1}})]}
    assert [(each.kind, each.answer) for each in report_of(preview, "dev", "now").items] == [
        ("drifted", Drifted("present", "absent"))
    ]


def test_a_resource_that_cannot_be_read_is_not_known() -> None:
    """A failure that the engine ties to a resource belongs to it; any other is a failure of the comparison."""
    diagnostics = [
        {"urn": POD, "message": "connection refused", "severity": "error"},
        {"urn": "", "message": "preview failed", "severity": "error"},
    ]
    found = report_of({"diagnostics": diagnostics}, "dev", "now")
    assert [each.answer for each in found.items] == [CouldNotTell("connection refused")]
    assert found.errors == ("preview failed",)


def test_paths_with_dots_and_quotes_are_split() -> None:
    """Fact names have dots, so the engine quotes them."""
    assert split_path('hosts["r01-n03"]["mtu.rail0"]') == ["hosts", "r01-n03", "mtu.rail0"]
    assert split_path("spec.template.containers[0].image") == ["spec", "template", "containers", "0", "image"]


@pytest.mark.parametrize(
    ("found", "code", "terraform"),
    [
        (report(), ExitCode.CLEAN, 0),
        (report(item()), ExitCode.CHANGED, 2),
        (report(item(pending=True)), ExitCode.CHANGED, 2),
        (report(item(answer=CouldNotTell("silent"))), ExitCode.COULD_NOT_TELL, 1),
        (report(item(), item(answer=CouldNotTell("silent"))), ExitCode.CHANGED, 2),
        (report(item(ignored_because="known")), ExitCode.CLEAN, 0),
        (report(item(), errors=("the engine failed",)), ExitCode.OUR_FAULT, 1),
    ],
)
def test_a_pipeline_can_tell_by_the_exit_code(found: Report, code: ExitCode, terraform: int) -> None:
    """Clean, drift, silence and failure each have a code."""
    assert exit_code(found) is code
    assert terraform_code(exit_code(found)) == terraform


def test_known_drift_is_ignored_until_its_day_and_stays_in_the_report() -> None:
    """An entry covers its last day and none after it; then the report says that it is over."""
    known = ignore.parse([{"host": "r01-*", "until": TODAY, "reason": "new firmware on Monday"}], "ignore.yaml")
    marked = ignore.apply(report(item()), known, TODAY)
    assert [each.kind for each in marked.items] == ["ignored"]
    assert "new firmware on Monday" in formats.as_text(marked)
    late = ignore.apply(report(item()), known, date(2026, 11, 29))
    assert [each.kind for each in late.items] == ["drifted"]
    assert late.notes[0].startswith("no longer ignored since 2026-11-28")


def test_an_entry_that_covers_nothing_is_noted() -> None:
    """What is ignored although it is as planned can be taken out of the file."""
    known = ignore.parse([{"thing": "driver", "until": TODAY, "reason": "r"}], "ignore.yaml")
    assert "ignored, but as planned" in ignore.apply(report(item()), known, TODAY).notes[0]


def test_every_problem_of_the_ignore_file_is_named() -> None:
    """A missing reason, a missing day, an unknown key and an entry for everything are four problems at once."""
    with pytest.raises(ignore.IgnoreFileError) as caught:
        ignore.parse([{"until": TODAY, "host": "a"}, {"reason": "r", "hosts": "b"}], "ignore.yaml")
    assert str(caught.value).splitlines() == [
        "ignore.yaml: entry 1: a reason is missing",
        "ignore.yaml: entry 2: unknown key hosts; the keys are host, reason, resource, thing, until",
        "ignore.yaml: entry 2: until must be a date, such as 2027-01-31",
        (
            "ignore.yaml: entry 2: it must name a resource, a host or a thing: "
            "an entry for everything would hide everything"
        ),
    ]


def test_markdown_puts_replacements_first_and_fits_a_comment() -> None:
    """A reviewer must see what would be destroyed, and the host of the pull request must accept the comment."""
    items = [item(thing=f"fact.{number}") for number in range(2000)]
    text = formats.as_markdown(report(*items, item(thing="spec", operation="replace")))
    assert len(text) <= formats.MARKDOWN_LIMIT
    assert text.index("**replace**") < text.index("fact.0")
    assert text.count("<details") == text.count("</details>")
    assert "does not fit" in text


def test_junit_has_failures_errors_and_skips() -> None:
    """Drift fails, silence is an error, known drift is skipped."""
    found = report(item(), item(answer=CouldNotTell("silent")), item(ignored_because="known"))
    suite = ET.fromstring(formats.as_junit(found))  # noqa: S314 - our own text
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [case[0].tag for case in suite] == ["failure", "error", "skipped"]


def test_text_gathers_what_a_silent_host_says() -> None:
    """Ten facts of a silent host are one line."""
    items = [item(thing=f"fact.{number}", answer=CouldNotTell("unreachable")) for number in range(10)]
    lines = formats.as_text(report(*items)).splitlines()
    assert sum("unreachable" in line for line in lines) == 1


def test_a_report_says_how_old_its_facts_are() -> None:
    """What was seen has the time at which its host told it; a host that is silent now told its last fact then."""
    silent = item(host="r01-n04", answer=CouldNotTell("unreachable", "2026-11-28T01:00:00Z"))
    ages = {"r01-n03": "2026-11-28T01:23:58Z", "r01-n04": "2026-11-27T23:10:00Z"}
    found = Report(stack="dev", taken_at="2026-11-28T01:24:00Z", items=(item(), silent), same={}, as_of=ages)
    text = formats.as_text(found)
    assert "os-train r01-n03 mtu.rail0: planned 9000, seen 1500 (as of 2026-11-28T01:23:58Z)" in text
    assert "unreachable (since 2026-11-28T01:00:00Z, last told 2026-11-27T23:10:00Z)" in text
    assert [each["as_of"] for each in formats.as_json(found)["items"]] == [*ages.values()]
    for form in (formats.as_markdown, formats.as_junit):
        assert "as of 2026-11-28T01:23:58Z" in form(found)
