"""
Sites that are right, and sites with mistakes, each a folder.

A case's files lie over those of `base`, so that a case shows its own point only: a file of the same name replaces the
base's. `errors.txt` holds what `coldaisle check` says, to the letter; `make accept` writes it anew.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.check.registry import CHECKS
from coldaisle.check.report import report
from coldaisle.plan import plan_site
from coldaisle.spec import SpecError, load_site

CASES = Path(__file__).parent
EXPECTED = "errors.txt"


def cases(kind: str) -> list[pytest.ParameterSet]:
    """Return the cases of a kind, one for each folder."""
    return [pytest.param(folder, id=folder.name) for folder in sorted((CASES / kind).iterdir()) if folder.is_dir()]


def laid_out(case: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lay a case over the base in a scratch folder, go there, and return the site's folder as messages print it."""
    site = scratch / "site"
    shutil.copytree(CASES / "base", site)
    shutil.copytree(case, site, dirs_exist_ok=True, ignore=shutil.ignore_patterns(EXPECTED))
    monkeypatch.chdir(scratch)
    return Path("site")


def said_of(case: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the checks say of a case."""
    try:
        return report(open_site(laid_out(case, scratch, monkeypatch)).findings)
    except SpecError as error:
        return report(error.problems)


def compare(case: Path, said: str) -> None:
    """Compare with the expected text, or write it when asked to."""
    expected = case / EXPECTED
    if os.environ.get("COLDAISLE_ACCEPT"):
        expected.write_text(f"{said}\n", encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("case", cases("bad"))
def test_mistakes_are_told(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site with mistakes is told of all of them, in these words and at these places."""
    said = said_of(case, tmp_path, monkeypatch)
    assert said
    compare(case, said)


GUARDS = {"check_even_uplinks", "check_paths"}
"""Checks of what a planner never does, whatever the spec: unit tests change a plan for them."""


def found_in(case: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of the checks that find something in a case; none where its spec is not valid."""
    site = laid_out(case, scratch, monkeypatch)
    try:
        spec = load_site(site)
    except SpecError:
        return set()
    plan = plan_site(spec)
    return {check.__name__ for check in CHECKS if list(check(spec, plan))}


def test_every_check_has_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check finds something in at least one case."""
    folders = [folder for folder in sorted((CASES / "bad").iterdir()) if folder.is_dir()]
    found = [found_in(folder, tmp_path / folder.name, monkeypatch) for folder in folders]
    assert {check.__name__ for check in CHECKS} - set().union(*found) == GUARDS


@pytest.mark.parametrize("case", cases("good"))
def test_right_sites_pass(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site without mistakes is told of nothing."""
    assert not said_of(case, tmp_path, monkeypatch)
