"""
Running the rings of tests: what is quick and needs nothing first, what needs the simulated site last.

One pytest run, so that one summary line closes it. A site that cannot be brought up does not keep the other rings
from running, but the run fails.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from coldaisle.toolchain import debian, site
from coldaisle.toolchain.environment import environment
from coldaisle.toolchain.errors import FAULT, SetupError
from coldaisle.toolchain.places import project_root, venv_dir
from coldaisle.toolchain.tools import BuildFailedError

if TYPE_CHECKING:
    from pathlib import Path

FIRST = ("unit", "cases", "setup", "browser", "components", "provider", "policies")
"""Rings that need no simulated site, in this order."""

LAST = ("sim", "simcluster", "roles", "cluster", "e2e")
"""Rings that need it, in this order; any other folder comes between the two."""

NOT_TESTS = frozenset({"bench"})


def order(tests: Path) -> list[str]:
    """Return the folders of tests in the order of their rings."""
    there = {each.parent.name for each in tests.glob("*/test_*.py")} - NOT_TESTS
    there |= {each.relative_to(tests).parts[0] for each in tests.glob("*/*/test_*.py")} - NOT_TESTS
    middle = sorted(there - set(FIRST) - set(LAST))
    return [f"tests/{name}" for name in (*FIRST, *middle, *LAST) if name in there]


def run(arguments: list[str]) -> int:
    """Run pytest on all rings, or on what the arguments name, and return its exit code; 1 when `up` failed."""
    named = [each for each in arguments if each.startswith("tests/")]
    folders = named or order(project_root() / "tests")
    if _needs_browser(folders):
        _install_browser()
    up_failed = _needs_site(folders) and not _site_up()
    site.install(site.ENGINE_TOOLS).wait()
    others = [each for each in arguments if each not in named]
    command = [str(venv_dir() / "bin" / "python"), "-m", "pytest", *others, *folders]
    code = subprocess.run(command, cwd=project_root(), env=environment(site.SITE), check=False).returncode
    if up_failed:
        sys.stderr.write("The simulated site could not be brought up; its message is above, before the tests.\n")
    return code or (FAULT if up_failed else 0)


def _needs_browser(folders: list[str]) -> bool:
    return any(each.split("/")[1] == "browser" for each in folders)


def _install_browser() -> None:
    """Install what the ring needs; where that is not to be had, only its own tests fail."""
    try:
        debian.install(debian.missing(debian.OF_TESTS))
    except SetupError as error:
        sys.stderr.write(f"{error}\n")


def _needs_site(folders: list[str]) -> bool:
    return any(each.split("/")[1] in LAST for each in folders)


def _site_up() -> bool:
    if site.is_up():
        return True
    try:
        site.up()
    except (SetupError, BuildFailedError, site.CommandFailedError) as error:
        sys.stderr.write(f"{error}\n")
        return False
    return True
