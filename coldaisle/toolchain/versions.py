"""Reading and comparing versions, without a library: this runs before there is one."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = re.compile(r"(?<![\d.])v?(\d+)\.(\d+)(?:\.(\d+))?")
ASK_TIMEOUT_S = 20.0


def parse(text: str) -> tuple[int, int, int] | None:
    """Return the first version in a text as (major, minor, patch); None when it holds none."""
    found = _VERSION.search(text)
    if found is None:
        return None
    major, minor, patch = found.groups(default="0")
    return int(major), int(minor), int(patch)


def at_least(have: str, floor: str) -> bool:
    """Return whether one version is the other or newer; a text without a version never is."""
    left, right = parse(have), parse(floor)
    return left is not None and right is not None and left >= right


def ask(binary: Path, arguments: tuple[str, ...]) -> str | None:
    """Return the version that a binary prints as `major.minor.patch`; None when it does not run or prints none."""
    try:
        answer = subprocess.run(
            [str(binary), *arguments],
            capture_output=True,
            text=True,
            timeout=ASK_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = parse(answer.stdout) or parse(answer.stderr)
    return None if version is None or answer.returncode != 0 else ".".join(str(part) for part in version)
