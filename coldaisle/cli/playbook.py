"""Runs a playbook on one host for a command, and gives what it told: one process, one document of results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.inventories import Inventory, given, load, part_of
from coldaisle.paths import packaged, state_dir

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan

LAST_CHARACTERS = 2000
KNOWN_HOSTS = re.compile(r"UserKnownHostsFile=(\S+)")


class PlaybookError(Exception):
    """A playbook could not be run at all; the message is complete."""


@dataclass(frozen=True, slots=True)
class HostResult:
    """What the tasks of a host gave, in their order; `error` says why it did not come to the end."""

    results: tuple[Mapping[str, Any], ...] = ()
    error: str = ""


def run_on_host(
    plan: SitePlan, name: str, host: str, variables: Mapping[str, Any], *, touch: bool = False
) -> HostResult:
    """
    Run a playbook on a host of a site, and return what it told.

    `touch` says that it shall be touched where plays leave it alone otherwise: in maintenance, say.

    Raises:
        PlaybookError: no inventory has the host, or Ansible could not be started, or gave no results.
    """
    hosts_of_run = json.dumps(_inventory_of_one(plan, host, touch=touch))
    with tempfile.TemporaryDirectory(prefix="coldaisle-") as folder:
        (hosts := Path(folder) / "hosts.json").write_text(hosts_of_run, encoding="utf-8")
        extra = Path(folder) / "variables.json"
        # Nobody else's settings: the same run wherever it is started.
        (settings := Path(folder) / "ansible.cfg").touch()
        extra.write_text(json.dumps(dict(variables)), encoding="utf-8")
        command = ["ansible-playbook", "-i", str(hosts), "--extra-vars", f"@{extra}"]
        command += [str(packaged("playbooks") / f"{name}.yml")]
        try:
            done = subprocess.run(
                command, env=_environment(plan, settings), capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            raise PlaybookError("there is no ansible-playbook on PATH\n  fix: run 'make setup'") from None
    try:
        document = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        said = (done.stderr or done.stdout).strip()[-LAST_CHARACTERS:]
        raise PlaybookError(f"ansible-playbook {name} ended with {done.returncode}: {said}") from None
    return _of_host(document, host)


def _inventory_of_one(plan: SitePlan, host: str, *, touch: bool) -> Inventory:
    """Return a host's own inventory: Ansible reads and keeps all that it is given, and a site has thousands."""
    found = inventory_of(plan, [host] if touch else [], [host])
    if host not in found["all"]["hosts"]:
        where = given() or f"the plan of site {plan.name}"
        raise PlaybookError(f"{where} has no host {host}\n  fix: run 'coldaisle node list {plan.name}' for its nodes")
    return found


def inventory_of(plan: SitePlan, touch: Collection[str] = (), hosts: Collection[str] | None = None) -> Inventory:
    """
    Return the inventory that commands work with: what the environment names (a hall's), else what the plan says.

    With `hosts` it is that of these alone; one that is not there is left out.
    """
    if own := given():
        whole = load(own)
        return whole if hosts is None else part_of(whole, whole["all"]["hosts"].keys() & set(hosts))
    from coldaisle.render.ansible import inventory  # noqa: PLC0415 - plans variables of all roles

    return inventory(plan, touch, hosts)


def _environment(plan: SitePlan, settings: Path) -> dict[str, str]:
    """Return our environment for Ansible: results as one JSON document, hosts by YAML."""
    sockets = state_dir(plan.name) / "ssh"
    return environment(sockets) | {
        "ANSIBLE_CONFIG": str(settings),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_TIMEOUT": "30",
    }


def forget_host_key(plan: SitePlan, host: str) -> None:
    """Forget the SSH key of a host: another machine stands there now, and brings its own."""
    found = _inventory_of_one(plan, host, touch=False)["all"]["hosts"][host]
    file = KNOWN_HOSTS.search(str(found.get("ansible_ssh_common_args", "")))
    if file and Path(file[1]).exists():
        words = ["ssh-keygen", "-R", str(found["ansible_host"]), "-f", file[1]]
        subprocess.run(words, capture_output=True, check=False)  # one that is not there is forgotten


def environment(sockets: Path) -> dict[str, str]:
    """
    Return our environment for Ansible: our tools, roles and collection, and nothing of the engine's (its passphrase!).

    Connections are shared through `sockets`. Ansible names one by its address alone, and two sites may have the same:
    a run must never reach the other's host.
    """
    playbooks = packaged("playbooks")
    sockets.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "ANSIBLE_"))}
    return own | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
        "ANSIBLE_COLLECTIONS_PATH": str(playbooks / "collections"),
        "ANSIBLE_ROLES_PATH": str(playbooks / "roles"),
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(sockets),
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_NOCOLOR": "True",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
        "ANSIBLE_DEVEL_WARNING": "False",
    }


def _of_host(document: Mapping[str, Any], host: str) -> HostResult:
    tasks = [task for play in document.get("plays", []) for task in play.get("tasks", [])]
    told = [task["hosts"][host] for task in tasks if host in task.get("hosts", {})]
    bad = [result for result in told if result.get("failed") or result.get("unreachable")]
    if not told:
        return HostResult(error="it was not asked: the play has no such host")
    return HostResult(tuple(told), _reason(bad[-1]) if bad else "")


def _reason(result: Mapping[str, Any]) -> str:
    """Return why a task failed: its message, with what the command said where it was one."""
    items = [item for item in result.get("results", []) if item.get("failed")]
    said = items[0] if items else result
    output = str(said.get("stderr") or said.get("stdout") or "").strip()
    lines = [str(said.get("msg", "")).strip(), *output.splitlines()[-1:]]
    return ": ".join(line for line in lines if line) or "it failed without a message"
