"""A small site that tests change: the base of the cases, as a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

BASE = Path(__file__).parents[1] / "cases" / "base"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the base site, named `inventory/case` below the working directory."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(BASE, Path("inventory") / "case"))


@pytest.fixture
def edit(site: Path) -> Callable[[str, str, str], None]:
    """Return a function that replaces a text in a file of the site; the text must be there."""

    def edits(file: str, old: str, new: str) -> None:
        text = (site / file).read_text(encoding="utf-8")
        assert old in text
        (site / file).write_text(text.replace(old, new), encoding="utf-8")

    return edits
