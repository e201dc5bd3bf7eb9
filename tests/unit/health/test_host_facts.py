"""Facts for a command come by the provider's reader, with the inventory that the environment names."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from coldaisle.cli.host_facts import read_facts
from coldaisle.inventories import INVENTORY_VARIABLE
from coldaisle.plan.model import SitePlan
from tests.unit.health.sites import plan

NODE, OTHER = "r01-n01", "r01-n02"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SitePlan:
    """Return a plan whose inventory has one host, this machine, and a state folder of its own."""
    here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    file = tmp_path / "inventory.yaml"
    file.write_text(yaml.safe_dump({"all": {"hosts": {NODE: here}, "children": {"nodes": {"hosts": {NODE: {}}}}}}))
    monkeypatch.setenv(INVENTORY_VARIABLE, str(file))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return plan(2)


def test_a_host_that_the_inventory_has_not_is_told(site: SitePlan) -> None:
    """It is an answer like others, and asking goes on."""
    assert read_facts(site, {OTHER: ["kernel_log"]}, print)[OTHER].errors == {
        "kernel_log": "the inventory has no such host"
    }


def test_what_only_ansible_can_reach_is_read_by_ansible(site: SitePlan) -> None:
    """The host is this machine: what its disks have counted comes back, and why it took a run."""
    told = read_facts(site, {NODE: ["disk_health"], OTHER: ["disk_health"]}, print)
    assert told[NODE].by_ansible == "its connection is local"
    assert isinstance(json.loads(told[NODE].facts["disk_health"]), dict)
    assert told[OTHER].errors
