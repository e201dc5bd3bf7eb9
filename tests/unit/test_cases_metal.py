"""Holds docs/cases-metal.md to the tests that there are, and to the table of quirks."""

from __future__ import annotations

import re

from tests.unit.test_docs import ROOT, functions_of, is_there

REPORTS = ROOT / "docs" / "cases-metal.md"
NAMED_FOR_A_REPORT = re.compile(r"test_b(\d+)_")


def _rows() -> dict[str, str]:
    """Return the last cell of each row by the report's name."""
    rows = re.findall(r"^\| (B\d+) \|(.*)\|$", REPORTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: cells.rpartition("|")[2].strip() for name, cells in rows}


def test_each_report_is_held_by_tests_that_exist_or_is_open() -> None:
    """A row names tests, each of which is there, or says that it is open."""
    held = {name: re.findall(r"`(tests/[^`]+)`", cell) for name, cell in _rows().items() if cell != "open"}
    assert [name for name, tests in held.items() if not tests] == []
    assert [test for tests in held.values() for test in tests if not is_there(test)] == []


def test_a_test_that_is_named_for_a_report_is_in_its_row() -> None:
    """No test is named for a report whose row does not know it."""
    rows = _rows()
    missing = [
        name
        for path in (ROOT / "tests" / "unit").rglob("test_bmc_*.py")
        for name in functions_of(path)
        if (match := NAMED_FOR_A_REPORT.match(name)) and name not in rows.get(f"B{match[1]}", "")
    ]
    assert missing == []


def test_each_report_of_a_quirk_has_a_row() -> None:
    """What the table of quirks says that it is for is told here too."""
    table = ROOT / "playbooks/collections/ansible_collections/coldaisle/site/plugins/module_utils/bmc_quirks.py"
    reports = set(re.findall(r'report="(B\d+)"', table.read_text(encoding="utf-8")))
    assert reports
    assert reports <= set(_rows())
