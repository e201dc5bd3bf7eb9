"""Which runs of Ansible an acceptance is: what each is given, and what is told of one that fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coldaisle import pace
from coldaisle.acceptance import Step
from coldaisle.cli.accept_run import FORKS, run_playbook
from coldaisle.inventories import INVENTORY_VARIABLE
from coldaisle.plan import SitePlan

Steps = Callable[..., tuple[Step, ...]]
ANSIBLE = """#!/bin/sh
while [ $# -gt 1 ]; do
    case $1 in
        -i) inventory=$2 ;;
        --limit) hosts=${2#@} ;;
        --forks) forks=$2 ;;
        -e) variables=${2#@} ;;
    esac
    shift
done
place=${variables%/*}
cp "$variables" "$place/given.json"
echo "$inventory" > "$place/inventory"
echo "$forks" > "$place/forks"
if grep -q "$BROKEN" "$hosts"; then echo "fatal: a word of Ansible"; exit 2; fi
"""
"""Stands where ansible-playbook does: it keeps what it is given, and fails on a host that the environment names."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an acceptance whose runs have two hosts at most."""
    program = tmp_path / "bin" / "ansible-playbook"
    program.parent.mkdir()
    program.write_text(ANSIBLE)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.setattr(pace, "HOSTS_A_RUN", 2)
    monkeypatch.setenv("BROKEN", "none")
    monkeypatch.delenv(INVENTORY_VARIABLE, raising=False)
    (folder := tmp_path / "run").mkdir()
    return folder


def given(place: Path) -> list[dict[str, Any]]:
    """Return what each run was given, in the order of their numbers."""
    found = []
    for run in sorted(place.glob("run-*")):
        inventory = (run / "inventory").read_text().strip()
        hosts = json.loads(Path(inventory).read_text())["all"]["hosts"] if inventory.endswith(".json") else {}
        forks = int((run / "forks").read_text())
        found.append({"hosts": hosts, "forks": forks, **json.loads((run / "given.json").read_text())})
    return found


def test_many_hosts_are_several_runs_with_an_inventory_each(plan: SitePlan, steps_of: Steps, place: Path) -> None:
    """No run knows of another one's hosts, and together they test as many at once as one run would."""
    steps = steps_of(phase="quick")
    assert run_playbook("site", plan, steps, place) == []
    first, second = given(place)
    for run, hosts in ((first, ["r01-n01", "r01-n02"]), (second, ["r01-n03", "r01-n04"])):
        assert sorted(run["hosts"]) == sorted(run["accept_steps"]) == hosts
        assert run["forks"] == FORKS // 2
        assert run["accept_keep"] == str(place / "kept")
    assert sum(len(steps) for run in (first, second) for steps in run["accept_steps"].values()) == len(steps)
    assert first["hosts"]["r01-n01"]["ansible_host"]


def test_the_inventory_of_the_environment_is_taken_apart(
    plan: SitePlan, steps_of: Steps, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hall has an inventory of its own."""
    own = place / "own.yaml"
    own.write_text("all: {hosts: {r01-n01: {a: 1}, r01-n02: {a: 2}, r01-n03: {a: 3}, r01-n04: {a: 4}}}")
    monkeypatch.setenv(INVENTORY_VARIABLE, str(own))
    assert run_playbook("site", plan, steps_of(phase="quick"), place) == []
    assert [run["hosts"] for run in given(place)] == [
        {"r01-n01": {"a": 1}, "r01-n02": {"a": 2}},
        {"r01-n03": {"a": 3}, "r01-n04": {"a": 4}},
    ]


def test_tests_between_hosts_are_one_run(plan: SitePlan, steps_of: Steps, place: Path) -> None:
    """Their rounds go over all hosts, by the inventory that the user has."""
    steps = steps_of(phase="soak")
    assert any(step.round for step in steps)
    assert run_playbook("site", plan, steps, place) == []
    (run,) = given(place)
    assert (run["forks"], run["hosts"]) == (FORKS, {})


def test_a_run_that_fails_is_told_and_the_others_go_on(
    plan: SitePlan, steps_of: Steps, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last words are kept."""
    monkeypatch.setenv("BROKEN", "r01-n02")
    assert run_playbook("site", plan, steps_of(phase="quick"), place) == ["fatal: a word of Ansible"]
    assert len(given(place)) == 2
