"""BMC modules run in the process of their task, and a play's digest holds the roles that it imports."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.plugin_utils.here import HereAction

from coldaisle.render import ansible

PLUGINS = "ansible_collections.coldaisle.site.plugins"
PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
MODULES = sorted(file.stem for file in PLAYBOOKS.glob("collections/*/coldaisle/site/plugins/modules/bmc*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_a_bmc_module_is_an_action_that_runs_it_here(name: str) -> None:
    """Ansible's own way would start a Python that imports Redfish's library anew, for each host."""
    action = import_module(f"{PLUGINS}.action.{name}").ActionModule
    assert issubclass(action, HereAction)
    assert name == action.MODULE


@pytest.mark.parametrize("playbook", ["bmc", "bmc_firmware"])
def test_a_change_of_a_role_changes_its_plays_digest(
    playbook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A role counts whether a play lists it or imports it: else hosts would keep what older code has done."""
    copy = shutil.copytree(PLAYBOOKS, tmp_path / "playbooks", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(ansible, "packaged", lambda _name: copy)
    before = ansible.code_digest(playbook)
    with (copy / "roles" / playbook / "defaults/main.yml").open("a") as file:
        file.write("# another\n")
    assert ansible.code_digest(playbook) != before
