"""
Everything that is checked without running the product: one door, the same here, in a commit hook and in CI.

All checks run, also after one has failed: a reader wants the whole list at once.
"""

from __future__ import annotations

import subprocess
import sys
import time

from coldaisle.toolchain.environment import environment
from coldaisle.toolchain.errors import LACKING
from coldaisle.toolchain.places import project_root
from coldaisle.toolchain.site import SITE

PYTHON = ("coldaisle", "components", "playbooks", "policies", "sim", "stacks", "tests", "tools")
"""Folders with Python in them."""

CHECKS: dict[str, tuple[str, ...]] = {
    "ruff": ("ruff", "check", "--quiet"),
    "format": ("ruff", "format", "--check", "--quiet"),
    "mypy": ("mypy",),
    "imports": ("lint-imports", "--no-logo"),
    "yamllint": ("yamllint", "--strict", "."),
    "ansible-lint": ("ansible-lint", "--offline", "-q", "playbooks"),
    "codespell": ("codespell",),
}


def run(names: list[str]) -> int:
    """Run the named checks, or all, and return 0, or 4 when one failed."""
    failed = [name for name in names or CHECKS if not _one(name)]
    sys.stdout.write(f"make check: failed: {', '.join(failed)}\n" if failed else "make check: all passed\n")
    return LACKING if failed else 0


def _one(name: str) -> bool:
    root = project_root()
    command = [*CHECKS[name]]
    if name in {"ruff", "format", "mypy"}:
        command += [folder for folder in PYTHON if any((root / folder).rglob("*.py"))]
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=root, env=environment(SITE), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    passed = done.returncode == 0
    sys.stdout.write(f"{'ok' if passed else 'FAILED'} {name} ({time.monotonic() - started:.0f} s)\n")
    if not passed:
        sys.stdout.write(done.stdout + done.stderr)
    sys.stdout.flush()
    return passed
