"""The wheel carries all that is read at run time, so that a team's repository needs only its sites and stacks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain.places import project_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of what git knows, and unpack it where no checkout is."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=project_root(), check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site-packages")
    return folder / "site-packages"


def _run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # -P keeps the working directory off the path, and the wheel comes before the checkout that the tests run from.
    command = [sys.executable, "-P", *arguments]
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "HOME": str(cwd)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_a_site_elsewhere_is_checked_with_the_catalog_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    """With nothing but a site's folder around, its hardware is found in the package's catalog."""
    shutil.copytree(project_root() / "inventory" / "h100-pod", tmp_path / "inventory" / "h100-pod")
    done = _run(installed, tmp_path, "-m", "coldaisle", "check", "h100-pod")
    assert (done.returncode, done.stderr) == (0, "")
    where = _run(installed, tmp_path, "-c", "import coldaisle; print(coldaisle.__file__)")
    assert where.stdout.startswith(str(installed))


@pytest.mark.parametrize("name", ["playbooks", "templates", "inventory/catalog", "tools/go", "tools/langhost"])
def test_run_time_files_are_in_the_wheel(installed: Path, name: str) -> None:
    """Each folder that the code reads at run time is in the package, with as many files as git has."""
    listed = subprocess.run(
        ["git", "ls-files", name], cwd=project_root(), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert listed
    missing = [path for path in listed if not (installed / "coldaisle" / "data" / path).exists()]
    assert [path for path in missing if (project_root() / path).exists()] == []


def test_the_tools_can_be_built_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The pins travel too: an installed Coldaisle knows the same cache key as the checkout."""
    ask = "from coldaisle.toolchain import pins; print(pins.key())"
    here = subprocess.run([sys.executable, "-c", ask], cwd=project_root(), capture_output=True, text=True, check=True)
    assert _run(installed, tmp_path, "-c", ask).stdout == here.stdout
