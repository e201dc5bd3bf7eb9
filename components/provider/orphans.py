"""What a killed run leaves running on this machine, and its end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "ANSIBLE_LOCAL_TEMP"
"""Every process of a run has this variable, which names the run's own folder."""

POLL_S, END_S = 0.05, 10
SHARED_CONNECTION = b"ssh: "
"""How a connection that OpenSSH keeps open for others names itself: other runs may be using it."""


def mark(folder: Path) -> str:
    """Return the value of the variable that marks what belongs to the run of a folder."""
    return str(folder / "tmp")


def end_run(folder: Path, *, connections: bool = False) -> None:
    """
    End what the run of a folder has left, and remove the folder.

    The worker ends its own playbook, however its provider ends. Where the worker itself was killed, Ansible would run
    on, without a lock of its hosts. With `connections` those that OpenSSH keeps open end too: they are the run's own.
    """
    deadline = time.monotonic() + END_S
    own = f"{MARK}={mark(folder)}".encode()
    while (left := marked(lambda line: line == own, shared=connections)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_S)
    shutil.rmtree(folder, ignore_errors=True)


def marked(fits: Callable[[bytes], bool], *, shared: bool = False) -> list[int]:
    """Return the processes with a variable, as `NAME=value`, that fits; connections that others share only if asked."""
    found = [pid for pid in _pids() if any(map(fits, _read(pid, "environ").split(b"\0")))]
    return [pid for pid in found if shared or not _is_shared(pid)]


def _pids() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def _is_shared(pid: int) -> bool:
    return _read(pid, "cmdline").startswith(SHARED_CONNECTION)


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process; nothing where it is gone, or not ours to read."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""
