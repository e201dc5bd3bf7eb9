"""A playbook on one host for a command: its inventory is that host's alone, and a host not known is told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import open_site
from coldaisle.cli.playbook import PlaybookError, run_on_host
from coldaisle.inventories import INVENTORY_VARIABLE

PLAN = open_site(Path(__file__).parents[3] / "inventory/sim").plan
HOST = "r01-n02"
GIVEN = {
    "all": {"hosts": {"h1": {"rack": 1}, "h2": {"rack": 2}}, "children": {"nodes": {"hosts": {"h1": {}, "h2": {}}}}}
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the inventories that Ansible is given, by and by; it runs nothing."""
    found: list[dict[str, Any]] = []

    def run(command: list[str], **_settings: object) -> subprocess.CompletedProcess[str]:
        inventory = json.loads(Path(command[command.index("-i") + 1]).read_text())
        found.append(inventory)
        hosts = {host: {"msg": "done"} for host in inventory["all"]["hosts"]}
        return subprocess.CompletedProcess(command, 0, json.dumps({"plays": [{"tasks": [{"hosts": hosts}]}]}), "")

    monkeypatch.setattr("subprocess.run", run)
    return found


def test_a_run_on_one_host_knows_no_other(asked: list[dict[str, Any]]) -> None:
    """Ansible reads and keeps all that it is given, of thousands of hosts as of one."""
    assert run_on_host(PLAN, "drain", HOST, {}).results == ({"msg": "done"},)
    assert list(asked[0]["all"]["hosts"]) == [HOST]
    assert asked[0]["all"]["children"]["nodes"] == {"hosts": {HOST: {}}}


def test_an_inventory_of_the_environment_stands_in_place_of_the_plans(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A hall's: of it, too, the one host with its groups."""
    (file := tmp_path / "hosts.yaml").write_text(json.dumps(GIVEN))
    monkeypatch.setenv(INVENTORY_VARIABLE, str(file))
    run_on_host(PLAN, "drain", "h2", {})
    assert asked == [{"all": {"hosts": {"h2": {"rack": 2}}, "children": {"nodes": {"hosts": {"h2": {}}}}}}]
    with pytest.raises(PlaybookError, match=f"{file} has no host {HOST}\n"):
        run_on_host(PLAN, "drain", HOST, {})


def test_a_host_that_no_plan_has_is_told() -> None:
    """Nothing is started for it."""
    with pytest.raises(PlaybookError, match="the plan of site sim has no host r99-n01\n"):
        run_on_host(PLAN, "drain", "r99-n01", {})


def test_the_real_ansible_works_with_the_inventory_of_one() -> None:
    """A play that asks for consent says so of the host, before anything is touched."""
    assert "power_cycle_consent" in run_on_host(PLAN, "power_cycle", HOST, {}).error
