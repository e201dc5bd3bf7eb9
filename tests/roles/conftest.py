"""The simulated site's hosts, for tests of the roles; they need the site up (`make up`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

Play = Callable[..., dict[str, Any]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder as one that needs the simulated site."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.roles)


@pytest.fixture
def play() -> Play:
    """Return a function that runs a playbook on some hosts and returns Ansible's JSON report; a failure fails."""

    def plays(playbook: str, hosts: str, *options: str) -> dict[str, Any]:
        command = [str(BIN / "ansible-playbook"), "-i", "inventory/sim", f"playbooks/{playbook}.yml", "-l", hosts]
        environment = {
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "PATH": f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(Path.home()),
        }
        done = subprocess.run(
            [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        report: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
        return report

    return plays
