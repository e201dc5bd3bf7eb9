"""Plays on a host that is off: check mode leaves it alone, and wrong variables are told before anybody waits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.cli.playbook import environment
from coldaisle.render.ansible import inventory

ROOT = Path(__file__).parents[3]
HOST = "r01-n02"
OFF = "#!/bin/sh\necho 'ssh: connect to host: No route to host' >&2\nexit 255\n"


def play(folder: Path, playbook: str, variables: dict[str, Any], *words: str) -> tuple[int, str]:
    """Run a playbook on a host of the simulated site whose ssh finds nobody; return how it ended, and what it said."""
    ssh, hosts = folder / "ssh", folder / "hosts.yaml"
    ssh.write_text(OFF)
    ssh.chmod(0o755)
    hosts.write_text(yaml.safe_dump(inventory(open_site(ROOT / "inventory/sim").plan)))
    given = {"os_files": [], "kubernetes_files": [], "kubernetes_bootstrap_token": "env:A_TOKEN"}
    extra = json.dumps(given | {"ansible_ssh_executable": str(ssh)} | variables)
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("ansible-playbook")),
            *("-i", str(hosts), "-l", HOST, "-e", extra, *words, str(ROOT / f"playbooks/{playbook}.yml")),
        ],
        cwd=folder,
        env=environment(folder / "sockets") | {"A_TOKEN": "abcdef.0123456789abcdef"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("playbook", ["os", "kubernetes", "verify"])
def test_check_mode_leaves_a_host_alone_that_is_off(playbook: str, tmp_path: Path) -> None:
    """What a run would change there cannot be known; nothing fails, and no later task of the play is tried."""
    code, said = play(tmp_path, playbook, {}, "--check", "-v")
    assert code == 0, said
    assert f"{HOST} is not up: a run would wait for it and then settle it" in said
    assert said.count("\nok: [") == 1


def test_a_wrong_variable_is_told_at_once(tmp_path: Path) -> None:
    """Nobody waits ten minutes to hear of it."""
    code, said = play(tmp_path, "os", {"up_timeout_s": "soon"})
    assert code != 0
    assert "variables up_*: " in said
    assert "timeout_s" in said
