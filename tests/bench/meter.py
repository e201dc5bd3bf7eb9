"""Measuring a command: its wall time, and the CPU time and memory of all processes that it started and waited for."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.toolchain.environment import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]


class NotMeasuredError(Exception):
    """A figure cannot be measured now; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took. `largest_mib` is the largest single process of all that this program ever waited for."""

    cpu_s: float
    wall_s: float
    largest_mib: float


def cost(command: Sequence[str], environment: Mapping[str, str], *, allowed: Sequence[int] = (0,)) -> Cost:
    """
    Run a command from the project's folder and return what it took.

    CPU seconds are those of the command and of its children, as the kernel counts them when they end. A process that
    outlives the command (a simulated machine, say) is not in them.

    Raises:
        NotMeasuredError: the command failed; the last lines of what it said are in the message.
    """
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in allowed:
        tail = " / ".join((done.stdout + done.stderr).strip().splitlines()[-4:])
        raise NotMeasuredError(f"`{' '.join(command)}` exited {done.returncode}: {tail}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, after.ru_maxrss / 1024)


def answer_of(code: str, *arguments: str) -> Any:  # noqa: ANN401 - whatever the code prints as JSON
    """Run Python code in a process of its own, so that nothing of ours is in its figures; return what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment("sim"), capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasuredError(done.stderr.strip()[-300:])
    return json.loads(done.stdout)
