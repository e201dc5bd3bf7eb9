"""What a killed run has left is found by its mark, whoever its parent is, and nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from components.provider.orphans import MARK, end_run, mark


def sleeper(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    """Start a program that carries the mark of a run, in a session of its own."""
    env = {**os.environ, MARK: mark(folder)}
    return subprocess.Popen(command or ("sleep", "60"), env=env, start_new_session=True)


def test_what_carries_the_mark_ends_with_its_folder(tmp_path: Path) -> None:
    """A program of this run ends; one of another run stays, and so does its folder."""
    own, other = tmp_path / "1-a", tmp_path / "1-b"
    own.mkdir()
    other.mkdir()
    ours, theirs = sleeper(own), sleeper(other)
    try:
        end_run(own)
        assert ours.wait(5) < 0
        assert theirs.poll() is None
        assert (own.exists(), other.exists()) == (False, True)
    finally:
        theirs.kill()
        theirs.wait()


def test_a_shared_connection_stays(tmp_path: Path) -> None:
    """OpenSSH's master of a connection may serve another run: it is left to end by itself."""
    shared = sleeper(tmp_path / "1-a", "bash", "-c", "exec -a 'ssh: /run/socket [mux]' sleep 60")
    try:
        while not Path(f"/proc/{shared.pid}/cmdline").read_bytes().startswith(b"ssh: "):
            time.sleep(0.01)
        end_run(tmp_path / "1-a")
        assert shared.poll() is None
    finally:
        shared.kill()
        shared.wait()
