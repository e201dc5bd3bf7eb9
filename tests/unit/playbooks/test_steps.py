"""Several steps of a role in one program: what they say together, and where they end."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import run_files, run_set_up, run_settle
from ansible_collections.coldaisle.site.plugins.module_utils.steps import in_turn

SAME: dict[str, Any] = {"changed": False, "changes": [], "facts": {}, "diff": {"before": "", "after": ""}}
WRITTEN: dict[str, Any] = {
    "changed": True,
    "paths": ["/etc/one"],
    "reloaded": ["udev"],
    "diff": [{"before": "", "after": "1"}],
}
SET: dict[str, Any] = {
    "changed": True,
    "changes": [{"fact": "mtu.rail0"}],
    "facts": {"mtu.rail0": 9000},
    "diff": {"before": "mtu.rail0 = 1500\n", "after": "mtu.rail0 = 9000\n"},
}


def test_steps_say_together_what_each_says() -> None:
    """A step that changed something makes the whole changed; one that did not adds no empty difference."""
    assert in_turn(lambda: SAME, lambda: WRITTEN, lambda: SET) == {
        "changed": True,
        "changes": SET["changes"],
        "facts": SET["facts"],
        "paths": ["/etc/one"],
        "reloaded": ["udev"],
        "diff": [*WRITTEN["diff"], SET["diff"]],
    }


def test_a_step_that_fails_is_the_last_and_what_was_done_before_is_told() -> None:
    """Its message is the whole's; nothing is tried after it."""
    failed = {**SAME, "failed": True, "msg": "no such port"}
    found = in_turn(lambda: WRITTEN, lambda: failed, lambda: pytest.fail("a step after one that failed"))
    assert (found["failed"], found["msg"], found["paths"]) == (True, "no such port", ["/etc/one"])


def test_users_come_before_the_files_that_are_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the plan has users, they are settled first; all facts are settled last."""
    done: list[list[str]] = []

    def played(wanted: list[str], result: dict[str, Any]) -> dict[str, Any]:
        done.append(wanted)
        return result

    monkeypatch.setattr(run_settle, "run", lambda params, **_: played(sorted(params["facts"]), SAME))
    monkeypatch.setattr(run_files, "run", lambda params, **_: played(params["files"], WRITTEN))
    facts = {"user.ops": "there", "mtu.rail0": 9000}
    run_set_up.run({"facts": facts, "files": ["one"], "links": []}, check=False)
    assert done == [["user.ops"], ["one"], ["mtu.rail0", "user.ops"]]
