"""The lock agrees with what the project asks for, and every package in it is pinned to its content."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement
from packaging.version import Version

from coldaisle.toolchain.places import project_root

LOCK = (project_root() / "requirements.lock").read_text()
LOCKED = {
    name: Version(version) for name, version in re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^ \\]+)", LOCK, re.MULTILINE)
}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_lock_satisfies_the_project() -> None:
    """A dependency that was added or raised without locking anew would be missing on a fresh machine."""
    project = tomllib.loads((project_root() / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    requirements = [Requirement(line) for line in asked]
    missing = [each.name for each in requirements if _normal(each.name) not in LOCKED]
    assert missing == []
    assert [str(each) for each in requirements if LOCKED[_normal(each.name)] not in each.specifier] == []


def test_every_package_has_hashes() -> None:
    """One package without a hash would make pip refuse the whole lock."""
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(LOCKED)
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_lock_names_no_place() -> None:
    """Where packages come from is the machine's own setting."""
    assert "://" not in LOCK
