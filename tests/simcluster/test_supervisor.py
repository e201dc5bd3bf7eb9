"""The supervisor: back-off, order of start, restart after a crash, and a clean end."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from sim.cluster import supervisor
from sim.cluster.supervisor import Process, answers, backoff_s

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@pytest.mark.parametrize(
    ("restarts", "lived_s", "expected_s"), [(0, 1, 0.5), (1, 1, 1.0), (3, 1, 4.0), (50, 1, 30.0), (50, 61, 0.5)]
)
def test_backoff(restarts: int, lived_s: float, expected_s: float) -> None:
    """The wait before a restart doubles up to half a minute, and is short again after a steady minute."""
    assert backoff_s(restarts, lived_s) == expected_s


def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    """A killed process comes back under a new pid, and its pid file follows."""
    _write(tmp_path, [Process("a", ["sleep", "1000"])])
    running = _start(tmp_path)
    try:
        first = _wait(lambda: _pid(tmp_path, "a"))
        os.kill(first, signal.SIGKILL)
        assert _wait(lambda: _pid(tmp_path, "a") not in {0, first})
    finally:
        _end(running)


def test_nothing_is_left_after_the_end(tmp_path: Path) -> None:
    """A supervisor that is asked to end takes its children and its pid files with it."""
    _write(tmp_path, [Process("a", ["sleep", "1000"]), Process("b", ["sleep", "1000"], needs=["a"])])
    running = _start(tmp_path)
    pids = [_wait(lambda name=name: _pid(tmp_path, name)) for name in ("a", "b")]  # type: ignore[misc]
    _end(running)
    assert list((tmp_path / "run").iterdir()) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_killed_supervisor_takes_its_children_along(tmp_path: Path) -> None:
    """Even after `kill -9` of the supervisor no child stays behind."""
    _write(tmp_path, [Process("a", ["sleep", "1000"])])
    running = _start(tmp_path)
    child = _wait(lambda: _pid(tmp_path, "a"))
    running.kill()
    running.wait()
    assert _wait(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child))


def test_a_process_waits_for_what_it_needs(tmp_path: Path) -> None:
    """A process whose need does not listen yet is not started."""
    _write(
        tmp_path, [Process("a", ["sleep", "1000"], listens="127.0.0.1:1"), Process("b", ["sleep", "9"], needs=["a"])]
    )
    running = _start(tmp_path)
    try:
        _wait(lambda: _pid(tmp_path, "a"))
        time.sleep(0.5)
        assert _pid(tmp_path, "b") == 0
    finally:
        _end(running)


def test_an_open_port_answers_and_a_closed_one_does_not() -> None:
    """A port answers while something listens on it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    assert answers(address, None)
    server.shutdown()
    server.server_close()
    assert not answers(address, None)


def _write(folder: Path, processes: list[Process]) -> None:
    (folder / "processes.json").write_text(json.dumps([asdict(process) for process in processes]))


def _start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, supervisor.__file__, str(folder)])


def _end(running: subprocess.Popen[bytes]) -> None:
    running.terminate()
    assert running.wait(20) == 0


def _pid(folder: Path, name: str) -> int:
    path = folder / "run" / f"{name}.pid"
    return int(path.read_text() or 0) if path.exists() else 0


def _is_zombie(pid: int) -> bool:
    return " Z " in Path(f"/proc/{pid}/stat").read_text()


def _wait(condition: Callable[[], T]) -> T:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("it did not happen within 10 s")
