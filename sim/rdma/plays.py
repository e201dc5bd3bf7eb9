"""The project's own playbooks, run by Ansible over SSH on the two guests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coldaisle.paths import packaged
from coldaisle.plan.model import SitePlan
from coldaisle.render.ansible import inventory
from sim.rdma.guests import ssh_options
from sim.rdma.place import PROVISIONER, Lab
from sim.shell import environment, find
from sim.twin.switches import inside

LIMIT_S = 600
"""Longest wait for the plays, the boot of the guests among them."""


@dataclass(frozen=True, slots=True)
class PlayResult:
    """How the plays ended on a host: tasks that changed something, and the message of the task that failed."""

    host: str
    changed: int
    failure: str | None


def write_inventory(lab: Lab, plan: SitePlan) -> Path:
    """Write the inventory that the plan renders; only how a host is reached is the lab's own."""
    found = inventory(plan)
    for variables in found["all"]["hosts"].values():
        variables["ansible_ssh_common_args"] = ssh_options(lab)
    path = lab.folder / "inventory.yaml"
    path.write_text(json.dumps(found))  # which is YAML too
    return path


def run_plays(lab: Lab, plan: SitePlan, playbooks: Sequence[str]) -> tuple[PlayResult, ...]:
    """Run playbooks in their order on both hosts, and return how each host ended."""
    folder = packaged("playbooks")
    program = find("ansible-playbook", "ansible") if _beside() is None else str(_beside())
    words = [*inside(lab, PROVISIONER), program, "-i", str(write_inventory(lab, plan))]
    words += [str(folder / f"{name}.yml") for name in playbooks]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
        env={**environment(), **_settings(lab, folder)},
    )
    (lab.logs / "ansible.log").write_text(done.stdout + done.stderr)
    return read_results(done.stdout, [node.name for node in plan.nodes], done.stderr)


def _beside() -> Path | None:
    """Return the ansible-playbook of this Python's environment, if it has one."""
    path = Path(sys.executable).with_name("ansible-playbook")
    return path if os.access(path, os.X_OK) else None


def _settings(lab: Lab, playbooks: Path) -> dict[str, str]:
    own = playbooks.parent / "ansible.cfg"
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": str(playbooks / "collections"),
        "ANSIBLE_ROLES_PATH": str(playbooks / "roles"),
        "ANSIBLE_LOCAL_TEMP": str(lab.folder / "tmp"),
        "ANSIBLE_INVENTORY_ENABLED": "yaml",
        "ANSIBLE_SSH_ARGS": "",  # shared connections are among the options of each host
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        "ANSIBLE_STRATEGY": "linear",  # that callback loses tasks of hosts that do not go in step
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_DEVEL_WARNING": "False",
    }
    return settings | ({"ANSIBLE_CONFIG": str(own)} if own.is_file() else {})


def read_results(text: str, hosts: Sequence[str], errors: str = "") -> tuple[PlayResult, ...]:
    """
    Return how each host ended.

    Args:
        text: What Ansible printed: a JSON object a playbook.
        hosts: The hosts; one of which no playbook says anything has failed.
        errors: What it printed as errors, told of such a host.
    """
    told = list(_objects(text))
    failures = dict(failure for each in told for failure in _failures(each))
    stats = {host: [each["stats"][host] for each in told if host in each["stats"]] for host in hosts}
    return tuple(
        PlayResult(
            host,
            sum(int(each["changed"]) for each in stats[host]),
            failures.get(host) or (None if stats[host] else _last_line(errors or text)),
        )
        for host in hosts
    )


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that stand one after the other in a text; what is none ends it."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield found
        at = text.find("{", end)


def _failures(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for play in told["plays"]:
        for task in play["tasks"]:
            for host, result in task["hosts"].items():
                if result.get("failed") or result.get("unreachable"):
                    yield host, f"{task['task']['name']}: {' '.join(str(result.get('msg', '')).split())}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "Ansible said nothing"
