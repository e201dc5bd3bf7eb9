"""Running other programs: one place that turns a failed command into an error that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sim.errors import SimError

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where system programs are: `sudo` and virtual environments often leave out the `sbin` folders."""

TAIL_CHARS = 800
"""How much of a failed command's output an error repeats."""


def environment() -> Mapping[str, str]:
    """Return this process's environment with the system folders at the end of PATH."""
    return {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}", "LC_ALL": "C.UTF-8"}


def find(program: str, package: str) -> str:
    """Return the path of a program; SimError names the Debian package when it is missing."""
    found = shutil.which(program, path=environment()["PATH"])
    if found is None:
        raise SimError(program, "this program is needed", "it is not on PATH", f"install the package {package}")
    return found


def run(
    command: Sequence[str | Path], *, stdin: str | None = None, check: bool = True, timeout_s: float | None = None
) -> subprocess.CompletedProcess[str]:
    """
    Run a command to its end and return it with its output as text.

    Raises SimError with the end of the output when the command fails and `check` is true.
    """
    words = [str(word) for word in command]
    done = subprocess.run(
        words, input=stdin, capture_output=True, text=True, check=False, env=dict(environment()), timeout=timeout_s
    )
    if check and done.returncode != 0:
        raise failed(words, done.returncode, done.stderr or done.stdout)
    return done


def failed(words: Sequence[str], code: int, output: str) -> SimError:
    """Return the error of a command that ended with `code`; a full disk is named as such."""
    if "No space left on device" in output:
        return SimError(words[0], "the disk is full", output.strip()[-TAIL_CHARS:], "free some space and run it again")
    return SimError(
        " ".join(words)[:200],
        f"the command ended with {code}",
        output.strip()[-TAIL_CHARS:] or "it printed nothing",
        "read the message above; `coldaisle sim down` and `sim up` start from nothing",
    )
