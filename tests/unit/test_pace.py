"""How often Ansible looks for results, and that nothing else of the project's settings is lost by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coldaisle.pace import write_settings

ANSIBLE_CONFIG = Path(sys.executable).with_name("ansible-config")


def _settings(file: Path) -> dict[str, str]:
    """Return what Ansible itself finds in a file."""
    done = subprocess.run(
        [ANSIBLE_CONFIG, "dump", "--only-changed", "-t", "base", "-c", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.partition(" = ") for line in done.stdout.splitlines())
    return {name.partition("(")[0]: value for name, _, value in lines}


@pytest.mark.parametrize(("hosts", "wait"), [(1, "0.001"), (100, "0.01"), (1_000, "0.1"), (5_000, "0.25")])
def test_more_hosts_are_looked_at_less_often(hosts: int, wait: str, tmp_path: Path) -> None:
    """Few hosts are looked at as soon as Ansible does it by itself, and thousands four times a second."""
    write_settings(tmp_path / "ansible.cfg", hosts, tmp_path / "none.cfg")
    assert _settings(tmp_path / "ansible.cfg")["DEFAULT_INTERNAL_POLL_INTERVAL"] == wait


def test_the_projects_settings_stay_and_its_own_word_counts(tmp_path: Path) -> None:
    """A percent sign is a letter like others, and who has set the pace keeps it."""
    own, file = tmp_path / "own.cfg", tmp_path / "ansible.cfg"
    own.write_text(
        "[defaults]\nforks = 7\ninternal_poll_interval = 0.5\n[ssh_connection]\ncontrol_path = %(directory)s/%%h\n"
    )
    write_settings(file, 5_000, own)
    found = _settings(file)
    assert (found["DEFAULT_FORKS"], found["DEFAULT_INTERNAL_POLL_INTERVAL"]) == ("7", "0.5")
    assert "control_path = %(directory)s/%%h" in file.read_text()
