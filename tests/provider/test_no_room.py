"""A full disk under the engine's state or a run's own files: told before a host is touched, and nothing twice."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.provider.test_engine import Stack

SIZE_MIB, FILLED_MIB = 32, 24

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk, which takes root")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Lay an empty disk of some MiB over a folder, which is as before at the end."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Fill a disk until there is less than a run needs, though enough for the engine to begin."""
    file = folder / "somebody-elses"
    file.write_bytes(bytes(FILLED_MIB << 20))
    return file


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """Return a stack that was never up, whose backend is on a disk of its own."""
    made = Stack(tmp_path)
    with small_disk(tmp_path / "backend"):
        made.pulumi("stack", "init", "dev")
        yield made


def runs(stack: Stack) -> list[int]:
    """Return how often the playbook has run on each host."""
    return [stack.floor.runs(name) for name in stack.floor.names]


def test_no_play_begins_whose_end_could_not_be_written(stack: Stack) -> None:
    """With the backend's disk full `up` fails with where, what, have and fix; with room again each host is run once."""
    file = fill(stack.root / "backend")
    code, output = stack.up()
    assert code != 0
    assert "the disk of the engine's state (PULUMI_BACKEND_URL) is full, so that no play is begun" in output
    assert f"where: {stack.root / 'backend'}" in output
    assert "of 16 MiB that a run needs" in output
    assert "fix:  make room there, then run again; nothing was changed on any host" in output
    assert runs(stack) == [0, 0]
    file.unlink()
    assert [stack.up()[0] for _ in range(2)] == [0, 0]
    assert runs(stack) == [1, 1]


def test_a_backend_without_a_byte_stops_the_engine_itself(stack: Stack) -> None:
    """The engine cannot even lock the stack: it says so, and no host is touched; with room again all is as planned."""
    folder = stack.root / "backend"
    free = shutil.disk_usage(folder).free
    (folder / "all").write_bytes(bytes(free))
    code, output = stack.up()
    assert code != 0
    assert "no space left on device" in output
    assert runs(stack) == [0, 0]
    (folder / "all").unlink()
    stack.pulumi("cancel", "--yes")  # its lock may be a file without a byte
    code, output = stack.up()
    assert code == 0, output
    assert runs(stack) == [1, 1]


def test_the_folder_of_a_runs_own_files_is_looked_at_too(stack: Stack) -> None:
    """The site's state is on a full disk: nothing begins; reads still tell what they can."""
    with small_disk(stack.root / "floor" / "state") as folder:
        file = fill(folder)
        code, output = stack.up()
        assert code != 0
        assert "the disk of the site's state is full" in output
        assert runs(stack) == [0, 0]
        file.unlink()
        assert stack.up()[0] == 0
    assert runs(stack) == [1, 1]
