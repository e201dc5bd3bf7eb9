"""Holds docs/errors.md to the ids that the code gives, and the tables of field reports to the tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "docs" / "errors.md"
MAKERS = re.compile(r"finding|mistake|Problem|Finding|_at|_report|_run_out")
ID = re.compile(r"[a-z]+(-[a-z]+)+")
KINDS = (
    "system",
    "server",
    "switch",
    "gpu",
    "rack",
    "image",
    "endpoint",
    "node",
    "pool",
    "device",
    "cable",
    "optic",
    "adapter",
)


def ids_in_code() -> set[str]:
    """Return every id that the code gives to a problem or a finding: constants in calls of what makes them."""
    found = {f"unknown-{kind}" for kind in KINDS}
    for folder in ("spec", "check", "adopt"):
        for path in (ROOT / "coldaisle" / folder).rglob("*.py"):
            found |= {text for call in calls_of(path) for text in texts_of(call) if ID.fullmatch(text)}
    return found


def calls_of(path: Path) -> list[ast.Call]:
    """Return the calls in a module that make a problem or a finding."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return [call for call in calls if MAKERS.search(ast.unparse(call.func))]


def texts_of(call: ast.Call) -> list[str]:
    """Return the constant texts among a call's arguments."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def ids_in_docs() -> set[str]:
    """Return the ids that have a heading of their own."""
    return set(re.findall(r"^### (\S+)$", ERRORS.read_text(encoding="utf-8"), flags=re.MULTILINE))


def ids_in_cases() -> set[str]:
    """Return the ids that the cases show."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "cases").glob("*/*/errors.txt"))
    return {
        found for text in texts for found in re.findall(r"  \[([a-z-]+)(?:, warning)?\]$", text, flags=re.MULTILINE)
    }


def test_every_id_is_documented() -> None:
    """Each id of a problem or a finding has its meaning and its fix in docs/errors.md."""
    assert (ids_in_code() | ids_in_cases()) - ids_in_docs() == set()


def test_every_documented_id_exists() -> None:
    """docs/errors.md speaks of no id that is gone."""
    assert ids_in_docs() - ids_in_code() - ids_in_cases() == set()


def test_every_documented_id_says_something() -> None:
    """Each heading of an id is followed by text."""
    parts = ERRORS.read_text(encoding="utf-8").split("\n### ")[1:]
    assert [part.splitlines()[0] for part in parts if not part.splitlines()[1:2] or not part.splitlines()[1]] == []


# -- docs/cases-floor.md ------------------------------------------------------------------------------------------
REPORTS = ROOT / "docs" / "cases-floor.md"
NAMED_FOR_A_REPORT = re.compile(r"test_p(\d+)_")


def reports() -> dict[str, list[str]]:
    """Return the tests that hold each field report, by the report's name."""
    rows = re.findall(r"^\| (P\d+) \|(.*)\|$", REPORTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: re.findall(r"`(tests/[^`]+)`", cells.rpartition("|")[2]) for name, cells in rows}


def functions_of(path: Path) -> set[str]:
    """Return the names of the functions of a module."""
    return {
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    }


def is_there(test: str) -> bool:
    """Tell whether a test that the table names exists: a function of a file, or a case with files."""
    file, _, function = test.partition("::")
    if not function:
        return any((ROOT / file).glob("*.yaml"))
    return (ROOT / file).is_file() and function in functions_of(ROOT / file)


def test_every_field_report_is_held_by_tests_that_exist() -> None:
    """Each report of the table names tests, and each of these is there."""
    found = reports()
    assert sorted(found, key=lambda name: int(name[1:])) == ["P1", "P3", "P4", "P5", "P7", "P8", "P10"]
    assert [name for name, tests in found.items() if not tests] == []
    assert [test for tests in found.values() for test in tests if not is_there(test)] == []


def test_every_test_of_a_field_report_is_in_its_row() -> None:
    """A test that is named for a report is listed with it, and with no other."""
    named = {
        (f"P{match[1]}", f"{path.relative_to(ROOT)}::{name}")
        for path in (ROOT / "tests" / "unit").rglob("test_*.py")
        for name in functions_of(path)
        if (match := NAMED_FOR_A_REPORT.match(name))
    }
    assert named == {(report, test) for report, tests in reports().items() for test in tests if "::" in test}


# -- docs/cases-hosts.md ------------------------------------------------------------------------------------------
HOST_REPORTS = ROOT / "docs" / "cases-hosts.md"
REPORTED = (
    *(f"G{number}" for number in (1, 3, 4, 6, 7, 8, 10, 12, 13, 15, 16, 18, 19)),
    *(f"D{number}" for number in (1, 3, 4, 5, 7, 8, 9, 11)),
)


def host_reports() -> dict[str, str]:
    """Return what holds each report on hosts and drift, by the report's name."""
    text = HOST_REPORTS.read_text(encoding="utf-8")
    return dict(re.findall(r"^\| ([GD]\d+) \|.*\| ([^|]+) \|$", text, flags=re.MULTILINE))


def test_every_report_on_hosts_is_held_or_open() -> None:
    """Each report names tests that are there, or says that it is open."""
    found = host_reports()
    assert tuple(found) == REPORTED
    named = {name: re.findall(r"`(tests/[^`]+)`", cell) for name, cell in found.items()}
    assert [name for name, tests in named.items() if not tests and found[name] != "open"] == []
    assert [test for tests in named.values() for test in tests if not is_there(test)] == []
