"""
Running acceptance tools on a host, one after the other, and keeping what they print.

A tool is given its words as they are, without a shell. It ends when its time is over, with all that it has started. A
second host of a pair serves meanwhile: its program is left running, with an end of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT_BYTES = 1_000_000
"""What is kept of an output: NCCL's log of a large group is some 100 KB."""

LISTENS_S = 10.0
"""How long a server may take until it listens."""

POLL_S = 0.05
RDMA = "@rdma:"
LISTENING = "0A"
"""State of a listening socket in /proc/net/tcp (Linux, include/net/tcp_states.h)."""


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Run the steps; the result has a line a step: `id`, `text`, `status`, `seconds`, `why`, `whole`."""
    steps = [] if check else params["steps"]
    lines = [_serve(step) if params["serve"] else _run(step) for step in steps]
    return {"changed": False, "outputs": [line for line in lines if line is not None]}


def _run(step: dict[str, Any]) -> dict[str, Any]:
    """Run one tool to its end, or to the end of its time."""
    started = time.monotonic()
    try:
        words = _resolved(step["argv"])
        # Its own session: what it has started ends with it.
        tool = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
    except (OSError, FactError) as error:
        return _line(step, "", None, started, _why(step, error))
    try:
        said, _ = tool.communicate(timeout=step["timeout_s"])
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)
        said, _ = tool.communicate()
        return _line(step, said, None, started, f"{words[0]} did not end within {step['timeout_s']} s")
    return _line(step, said, tool.returncode, started, "")


def _why(step: dict[str, Any], error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{step['argv'][0]} is not installed"
    return f"{step['argv'][0]} cannot be started: {error}"


def _line(step: dict[str, Any], said: bytes | str, status: int | None, started: float, why: str) -> dict[str, Any]:
    raw = said.encode() if isinstance(said, str) else said
    return {
        "id": step["id"],
        "text": raw[-KEPT_BYTES:].decode(errors="replace"),
        "status": status,
        "seconds": round(time.monotonic() - started, 3),
        "why": why,
        "whole": len(raw) <= KEPT_BYTES,
    }


def _serve(step: dict[str, Any]) -> dict[str, Any] | None:
    """Start the serving end of a pair and wait until it listens; None where it does, else a line that says why not."""
    started = time.monotonic()
    try:
        words = ["timeout", str(step["serve_s"]), *_resolved(step["serve"])]
        server = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, FactError) as error:
        return _line(step, "", None, started, f"the serving end: {_why(step, error)}")
    while time.monotonic() - started < LISTENS_S:
        if step["port"] in _listening():
            return None
        if server.poll() is not None:
            missing = server.returncode == 127  # noqa: PLR2004 - timeout(1): the command was not found
            why = f"{step['serve'][0]} is not installed" if missing else f"it ended with {server.returncode}"
            return _line(step, "", None, started, f"the serving end: {why}")
        time.sleep(POLL_S)
    return _line(step, "", None, started, f"the serving end does not listen after {LISTENS_S:g} s")


def _listening() -> set[int]:
    """Return the TCP ports that somebody listens on."""
    lines = [line for name in ("tcp", "tcp6") for line in _read(f"/proc/net/{name}")]
    rows = [line.split() for line in lines]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if len(row) > 3 and row[3] == LISTENING}  # noqa: PLR2004


def _read(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []


def _resolved(words: list[str]) -> list[str]:
    """Return a command line in which `@rdma:PORT` is the RDMA device of a port. FactError where there is none."""
    found = []
    for word in words:
        before, mark, port = word.partition(RDMA)
        found.append(f"{before}{_rdma_device(port)}" if mark else word)
    return found


def _rdma_device(port: str) -> str:
    """Return a port's RDMA device: as the kernel's tree has it, which InfiniBand needs, or as `rdma link` does."""
    folder = Path("/sys/class/net") / port / "device" / "infiniband"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if names:
        return names[0]
    links = json.loads(command("rdma", "-j", "link", "show") or "[]")
    device = next((link["ifname"] for link in links if link.get("netdev") == port), None)
    if device is None:
        raise FactError(f"{port} has no RDMA device")
    return str(device)
