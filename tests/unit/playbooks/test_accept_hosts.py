"""Which hosts the play of tests between hosts starts on, by Ansible's own word: each one costs a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coldaisle.acceptance.wire import PAIRED
from coldaisle.paths import packaged
from components.provider.site import Site

HOSTS = ["n1", "n2", "n3"]


def between(folder: Path, groups: dict[str, list[str]], variables: dict[str, Any]) -> list[str]:
    """Return the hosts of the second play, for the provider's inventory of a run and for variables of all of it."""
    hosts: dict[str, dict[str, Any]] = {host: {} for host in HOSTS}
    known = {"all": {"hosts": hosts, "children": {"nodes": {"hosts": hosts}}}}
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps(Site("floor", known, folder).of_hosts(HOSTS, None, groups)))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(inventory), "--list-hosts"]
    command += ["--extra-vars", json.dumps(variables), str(packaged("playbooks") / "accept.yml")]
    environment = os.environ | {
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_COLLECTIONS_PATH": str(packaged("playbooks") / "collections"),
    }
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    _, _, told = done.stdout.partition("play #2")
    return [line.strip() for line in told.partition("hosts (")[2].splitlines()[1:] if line.strip()]


@pytest.mark.parametrize(
    ("groups", "variables", "hosts"),
    [
        ({PAIRED: ["n1", "n3"]}, {}, ["n1", "n3"]),
        ({PAIRED: ["n2", "of another node"]}, {}, ["n2"]),
        ({PAIRED: []}, {}, []),
        ({}, {PAIRED: ["n3"]}, ["n3"]),
        ({}, {PAIRED: []}, []),
        ({}, {}, HOSTS),
    ],
)
def test_only_hosts_of_a_round_start(
    groups: dict[str, list[str]], variables: dict[str, Any], hosts: list[str], tmp_path: Path
) -> None:
    """The provider tells them as a group, the command as a variable, and a playbook by itself asks all of them."""
    assert sorted(between(tmp_path, groups, variables)) == hosts
