"""A playbook on one node, whatever its state: what `coldaisle node retire` has done to a machine before it is off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.life.journal import LifeError
from coldaisle.render.ansible import inventory, playbooks_dir

if TYPE_CHECKING:
    from coldaisle.cli.node_steps import Opened

CALLBACK = "ansible.posix.json"
"""Ansible's output as one JSON document (collection ansible.posix, which the package ansible carries)."""


def has_playbook(name: str) -> bool:
    """Tell whether there is a playbook of a name."""
    return (playbooks_dir() / f"{name}.yml").is_file()


def run_playbook(known: Opened, name: str, variables: dict[str, Any]) -> list[dict[str, Any]]:
    """
    Run a playbook on one node and return what each task said of it.

    Raises:
        LifeError: it did not run, or failed; the message is the task's own.

    """
    with tempfile.TemporaryDirectory(prefix="coldaisle-node") as folder:
        hosts = Path(folder) / "hosts.json"
        hosts.write_text(json.dumps(inventory(known.plan, touch=[known.node.name])), encoding="utf-8")
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(hosts)]
        command += ["--limit", known.node.name, "--extra-vars", json.dumps(variables)]
        command.append(str(playbooks_dir() / f"{name}.yml"))
        try:
            done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
        except OSError as error:
            raise LifeError(f"there is no ansible-playbook beside {sys.executable}: {error.strerror}") from error
    results = _results(done.stdout, known.node.name)
    trouble = next((each for each in results if each.get("failed") or each.get("unreachable")), None)
    if done.returncode or trouble:
        said = (trouble or {}).get("msg") or done.stderr.strip()[-500:] or f"exit code {done.returncode}"
        raise LifeError(f"playbook {name} on {known.node.name}: {said}")
    return results


def _environment() -> dict[str, str]:
    playbooks = playbooks_dir()
    own = playbooks.parent / "ansible.cfg"
    collections = [str(playbooks / "collections"), os.environ.get("ANSIBLE_COLLECTIONS_PATH", "")]
    settings = {
        "ANSIBLE_STDOUT_CALLBACK": CALLBACK,
        "ANSIBLE_COLLECTIONS_PATH": ":".join(filter(None, collections)),
        "ANSIBLE_ROLES_PATH": str(playbooks / "roles"),
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
    }
    return {**os.environ, **settings} | ({"ANSIBLE_CONFIG": str(own)} if own.is_file() else {})


def _results(text: str, host: str) -> list[dict[str, Any]]:
    """Return the results of one host in Ansible's JSON; none where it printed something else."""
    try:
        plays = json.loads(text[text.index("{") :])["plays"]
    except (ValueError, KeyError):
        return []
    return [task["hosts"][host] for play in plays for task in play["tasks"] if host in task["hosts"]]
