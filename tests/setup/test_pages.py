"""The documentation keeps its word: its commands run, its links lead somewhere, its targets and commands exist."""

from __future__ import annotations

import re
import subprocess

import pytest

from coldaisle.cli.app import COMMANDS
from coldaisle.toolchain.places import project_root

ROOT = project_root()
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.findall(r"^\$ (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
"""Commands of the README that need neither the simulated site nor root."""


@pytest.mark.parametrize("command", SHOWN)
def test_commands_of_the_readme_run(command: str) -> None:
    """Each command of the five minutes ends well, says something, and shows no traceback."""
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    # The doctor's business is to fail on a machine that lacks something.
    assert done.returncode in ({0, 4} if "doctor" in command else {0}), done.stderr
    assert done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("doc", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(doc: object) -> None:
    """Every relative link is to a file or folder that is there."""
    path = ROOT / str(doc)
    targets = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("doc", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_targets_and_commands_that_are_named_exist(doc: object) -> None:
    """A make target or a coldaisle command that a page names is one that can be called."""
    text = (ROOT / str(doc)).read_text()
    targets = set(re.findall(r"^([a-z]+): ;", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        word for match in re.findall(r"(?:^    |`)make ((?:[a-z]+ ?)+)", text, re.MULTILINE) for word in match.split()
    }
    assert named - targets == set()
    assert set(re.findall(r"(?:`|bin/)coldaisle ([a-z]+)", text)) - set(COMMANDS) == set()


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.stem)
def test_decisions_have_their_parts(page: object) -> None:
    """A decision says its status, context, decision and consequences, on a page."""
    text = (ROOT / str(page)).read_text()
    assert re.search(r"^Status: (accepted|replaced)", text, re.MULTILINE)
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 60


def test_the_architecture_stays_short() -> None:
    """A description of the whole that is longer than this is read by nobody."""
    assert len((ROOT / "docs" / "architecture.md").read_text().splitlines()) <= 150


def test_the_tree_of_the_architecture_is_the_real_one() -> None:
    """Each package that the page describes in bold is there."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    names = re.findall(r"^\*\*([a-z.]+)\*\*", text, re.MULTILINE)
    assert len(names) >= 10
    assert [name for name in names if not (ROOT / name.replace(".", "/")).is_dir()] == []
