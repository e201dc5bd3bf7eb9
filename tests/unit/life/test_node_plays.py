"""A playbook on one node by the command line's own path: what each task says comes back, and so does a refusal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coldaisle.cli.node_plays import run_playbook
from coldaisle.cli.node_steps import Opened
from coldaisle.life.journal import LifeError
from coldaisle.life.wipe import certificate
from tests.unit.life.sites import move

NODE = "r01-n01"
SIZE_BYTES = 4 << 20
PYTHON = {"path": sys.executable}
"""The interpreter of the machine that stands for the node."""


@pytest.fixture
def known(site: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Return NODE in maintenance, which stands on this machine for the playbook."""
    from coldaisle.cli.node_steps import opened  # noqa: PLC0415 - reads the site that the fixture has made
    from coldaisle.render.ansible import inventory  # noqa: PLC0415

    move(site, NODE, "maintenance")

    def here(*given: Any, **touch: Any) -> dict[str, Any]:  # noqa: ANN401 - as it is called
        found = inventory(*given, **touch)
        found["all"]["hosts"][NODE] |= {"ansible_connection": "local", "ansible_python_interpreter": PYTHON["path"]}
        return found

    monkeypatch.setattr("coldaisle.render.ansible.inventory", here)
    return opened("case", NODE)


def test_a_refusal_is_told_in_the_tasks_own_words(known: Opened) -> None:
    """The wipe is meant for a node that this machine is not: nothing is touched, and the message says so."""
    with pytest.raises(LifeError, match=rf"playbook wipe on {NODE}: {NODE} was meant, and this host says that it is"):
        run_playbook(known, "wipe", {"wipe_consent": {NODE: ["S1"]}, "wipe_method": "overwrite"})


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/loop-control").exists(), reason="needs root and loop devices")
def test_a_real_disk_is_overwritten_and_certified(
    known: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop device with a secret in its middle: the playbook tells method and proof, and the bytes are zero."""
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(SIZE_BYTES // 2) + b"secret" + bytes(SIZE_BYTES // 2 - 6))
    attach = ["losetup", "--find", "--show", "--partscan", str(image)]
    path = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    disk = {"name": path[5:], "kname": path[5:], "type": "loop", "serial": "S1"}
    for name, text in (
        ("lsblk", f"echo '{json.dumps({'blockdevices': [disk]})}'"),
        ("python-of-node", f'exec unshare --uts sh -c \'hostname {NODE}; exec "$0" "$@"\' {sys.executable} "$@"'),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setitem(PYTHON, "path", str(tmp_path / "bin/python-of-node"))
    try:
        results = run_playbook(known, "wipe", {"wipe_consent": {NODE: ["S1"]}, "wipe_method": "overwrite"})
    finally:
        subprocess.run(["losetup", "--detach", path], check=True)
    lines = [line for result in results for line in result.get("disks", [])]
    body = certificate(NODE, "CH1", lines, ["S1"]).body()
    assert body["disks"] == [{"serial": "S1", "path": path, "method": "overwrite", "verified": True}]
    assert image.read_bytes() == bytes(SIZE_BYTES)
