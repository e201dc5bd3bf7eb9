"""What goes on from Ansible's events, and how a run's end is told; no playbook runs here."""

from __future__ import annotations

from typing import Any

import pytest

from components.provider.events import hide, message, tell
from components.provider.outcome import Collector, Failed, Stopped, Unreachable


def event(kind: str, result: dict[str, Any], **data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an event of ansible-runner."""
    return {"event": kind, "event_data": {"host": "h1", "task": "Rdma | Set", "res": result, **data}}


def collect(*events: dict[str, Any], collect_facts: bool = False) -> Collector:
    """Return a collector that has seen these events of ansible-runner."""
    made = Collector(("h1", "h2"), timeout_s=60)
    for each in events:
        for line in tell(each, collect_facts=collect_facts):
            made.add(line)
    return made


def stats(**counts: dict[str, int]) -> dict[str, Any]:
    """Return the last event of a run that came to its end."""
    return {"event": "playbook_on_stats", "event_data": {"processed": {"h1": 1, "h2": 1}, **counts}}


def test_only_what_is_named_goes_on() -> None:
    """A result's other content, such as a module's arguments, stays behind."""
    result = {"changed": True, "invocation": {"module_args": {"password": "x"}}, "stdout": "x"}
    [line] = tell(event("runner_on_ok", result), collect_facts=False)
    assert line == {
        "kind": "task",
        "host": "h1",
        "task": "Rdma | Set",
        "state": "changed",
        "message": "",
        "where": "",
    }


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("login failed, password=hunter2 given", "login failed, password=*** given"),
        ('{"token": "abc"}', '{"token": ***'),
        ("the secret is kept", "the secret is kept"),
    ],
)
def test_what_looks_like_a_secret_is_covered(text: str, hidden: str) -> None:
    """A second line of defence behind the tasks' own no_log."""
    assert hide(text) == hidden


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"censored": "…", "msg": "x"}, "the result is hidden, since the task handles a secret"),
        (
            {"msg": "non-zero return code", "stderr": "no such device", "rc": 2},
            "non-zero return code; no such device; exit code 2",
        ),
        ({}, "the task failed without a message"),
    ],
)
def test_a_failure_has_a_message(result: dict[str, Any], text: str) -> None:
    """Why a task failed is said in one line, whatever the module gave."""
    assert message(result) == text


def test_the_item_that_failed_is_told_and_not_that_items_did() -> None:
    """A loop's own message says nothing: the item's does."""
    made = collect(
        event("runner_item_on_failed", {"msg": "rail1 has no such function"}),
        event("runner_on_failed", {"msg": "One or more items failed"}, task_path="/nowhere/rdma.yml:7"),
        stats(failures={"h1": 1}),
    )
    assert made.end("failed", 2).trouble == {
        "h1": Failed("Rdma | Set", "rail1 has no such function", "/nowhere/rdma.yml:7")
    }


def test_a_rescued_failure_is_none() -> None:
    """A task that failed and was rescued has not failed its host."""
    made = collect(event("runner_on_failed", {"msg": "x"}), stats(rescued={"h1": 1}))
    assert made.end("successful", 0).trouble == {}


def test_unreachable_and_failed_are_told_apart() -> None:
    """Ansible's exit code is the same for both; the events are not."""
    made = collect(event("runner_on_unreachable", {"msg": "no route to host"}), stats(dark={"h1": 1}))
    assert made.end("failed", 4).trouble == {"h1": Unreachable("no route to host")}


def test_a_host_that_no_task_was_for_is_not_done() -> None:
    """A playbook whose 'hosts:' leaves a host out must not count as applied there."""
    made = collect({"event": "playbook_on_stats", "event_data": {"processed": {"h1": 1}}})
    assert "no task for this host" in made.end("successful", 0).trouble["h2"].reason("h2")


def test_a_stopped_run_says_where_each_host_was() -> None:
    """One host was in a task, the other had not begun."""
    made = collect(event("runner_on_start", {}))
    assert made.end("canceled", 254).trouble == {
        "h1": Stopped("stopped in task 'Rdma | Set'"),
        "h2": Stopped("stopped before its first task"),
    }


def test_facts_of_several_tasks_are_put_together() -> None:
    """What the BMC told stays when the host itself is silent."""
    made = collect(
        event("runner_on_ok", {"facts": {"power": "on"}, "errors": {"boot_order": "no such property"}}),
        event("runner_on_unreachable", {"msg": "no route to host"}),
        stats(dark={"h1": 1}),
        collect_facts=True,
    )
    result = made.end("failed", 4)
    assert (result.facts, result.errors) == ({"h1": {"power": "on"}}, {"h1": {"boot_order": "no such property"}})
