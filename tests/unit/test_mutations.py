"""Whatever is wrong in a spec, the answer is findings or problems, and never an exception of another kind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coldaisle.check import open_site
from coldaisle.check.finding import Finding
from coldaisle.plan import json_text
from coldaisle.spec import SpecError
from tests.unit.conftest import BASE

ROOT = Path(__file__).parents[2]
POD = ROOT / "inventory" / "h100-pod"
Place = tuple[str | int, ...]

NUMBERS: tuple[Any, ...] = (0, -1, 1.5, -0.0, 10**12, 2**63, 10**400, 1e308, 1e-308, float("nan"), float("inf"))
TEXTS = (
    "", "x", " ", "\n", "\t", "r[1-", "r[01-02]", "r[3-1]", "r[1-99999999]", "[1-9][1-9999][1-9999]", "1" * 5000,
    "é" * 70, "\U0001f600", "\u202e", "\u0661\u0662", "{port}", "{0}{x}", "{port!r:>{x}}", "%s", "<<", "*a", "file:",
)  # fmt: skip
ADDRESSES = ("10.0.0.0/8", "198.18.0.0/33", "::1", "fe80::/10", "255.255.255.255", "0.0.0.0/0", "0.0.0.0/32")
NESTS: tuple[Any, ...] = (
    None,
    True,
    [],
    ["a"],
    [[]],
    [[[["a"]]]],
    {},
    {"a": 1},
    {"": None},
    {"name": []},
    [{"name": "x"}],
)

EDITS = st.tuples(st.integers(0, 10**6), st.sampled_from(("remove", "replace", "rename", "repeat", "nest")))
WITH = st.one_of(st.sampled_from(NUMBERS), st.sampled_from((*TEXTS, *ADDRESSES)), st.sampled_from(NESTS))
MUTATION = st.lists(st.tuples(EDITS, WITH), min_size=1, max_size=3)
QUIETLY = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def places(value: Any, path: Place = ()) -> Iterator[Place]:  # noqa: ANN401
    """Yield the path of every value below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def mutate(data: dict[str, Any], at: int, kind: str, value: Any) -> None:  # noqa: ANN401
    """Change one value below the sections: remove it, replace it, rename its key, repeat it, or nest it."""
    paths = [place for place in places(data) if len(place) > 2]  # below a file and its section
    if not paths:
        return
    path = paths[at % len(paths)]
    parent: Any = data
    for step in path[:-1]:
        parent = parent[step]
    last: Any = path[-1]
    if kind == "remove":
        del parent[last]
    elif kind == "rename" and isinstance(parent, dict):
        parent[value if isinstance(value, str) else str(value)[:60]] = parent.pop(last)
    elif kind == "repeat" and isinstance(parent, list):
        parent.append(deepcopy(parent[last]))
    elif kind == "nest":
        parent[last] = [parent[last]] if value else {"a": parent[last]}
    else:
        parent[last] = deepcopy(value)


def told(site: Path) -> tuple[Finding, ...]:
    """Return what is told of a site, which is something where it cannot be used; another exception is raised."""
    try:
        return open_site(site).findings
    except SpecError as error:
        found = error.problems
    assert found
    return found


def assert_told_well(site: Path) -> None:
    """Whatever a site holds, each of its problems has words, a place in a file, and can be printed."""
    for found in told(site):
        assert found.what
        assert found.where.startswith((str(site), "inventory/catalog"))
        found.text().encode()


def read(folder: Path) -> dict[str, Any]:
    """Return the files of a site as plain data."""
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yaml"))}


def mutated(site: Path, files: dict[str, Any], mutation: list[tuple[tuple[int, str], Any]]) -> None:
    """Write a site with some values changed."""
    data = deepcopy(files)
    for (at, kind), value in mutation:
        mutate(data, at, kind, value)
    for name, sections in data.items():
        (site / name).write_text(yaml.safe_dump(sections, allow_unicode=True), encoding="utf-8")


@settings(QUIETLY, max_examples=90)
@given(mutation=MUTATION)
def test_changed_values_of_the_small_site_are_told_apart(site: Path, mutation: list[Any]) -> None:
    """A spec with one to three values changed is checked, or refused with problems that have a place."""
    mutated(site, read(BASE), mutation)
    assert_told_well(site)


@settings(QUIETLY, max_examples=10)
@given(mutation=MUTATION)
def test_changed_values_of_the_pod_are_told_apart(site: Path, mutation: list[Any]) -> None:
    """The same holds of a site of 127 nodes on three feeds."""
    shutil.rmtree(site)
    site.mkdir()
    mutated(site, read(POD), mutation)
    assert_told_well(site)


MARKS = ("&", "*", "<<:", "{", "}", "[", "]", "\t", '"', "'", "#", "%", "@", "`", "|", ">", "- ", "? ", ": ", "\0")
SLIPS = ("remove", "repeat", "indent", "insert", "cut", "anchor", "alias", "merge")
LINE_EDITS = st.tuples(st.integers(0, 10**6), st.sampled_from(SLIPS), st.sampled_from(MARKS))


def edited(lines: list[str], at: int, kind: str, mark: str) -> list[str]:
    """Return the lines of a file with one of them changed as a slip of a hand would."""
    at %= len(lines)
    line = lines[at]
    key, colon, value = line.partition(":")
    changed = {
        "remove": [],
        "repeat": [line, line],
        "indent": [f" {line}"],
        "insert": [line[: at % (len(line) + 1)] + mark + line[at % (len(line) + 1) :]],
        "cut": [line[: len(line) // 2]],
        "anchor": [f"{key}{colon} &feeds{value}"],
        "alias": [f"{key}{colon} *feeds"],
        "merge": [line, f"{line[: len(line) - len(line.lstrip())]}<<: *feeds"],
    }
    return [*lines[:at], *changed[kind], *lines[at + 1 :]]


@settings(QUIETLY, max_examples=90)
@given(edits=st.lists(LINE_EDITS, min_size=1, max_size=2))
def test_changed_lines_are_told_apart(site: Path, edits: list[tuple[int, str, str]]) -> None:
    """A file with a line gone, twice, shifted, or with a sign of YAML in it, is checked or refused with a place."""
    names = sorted(path.name for path in BASE.glob("*.yaml"))
    shutil.copytree(BASE, site, dirs_exist_ok=True)
    for at, kind, mark in edits:
        file = site / names[at % len(names)]
        lines = file.read_text(encoding="utf-8").splitlines() or [""]
        file.write_text("\n".join(edited(lines, at, kind, mark)) + "\n", encoding="utf-8")
    assert_told_well(site)


@settings(QUIETLY, max_examples=10)
@given(order=st.permutations(sorted(path.name for path in BASE.glob("*.yaml") if path.name != "allocations.yaml")))
def test_the_order_of_the_files_changes_nothing(site: Path, order: list[str]) -> None:
    """Sections that stand in files of other names, read in another order, give the same plan and the same findings."""
    before = open_site(BASE)
    shutil.rmtree(site)
    site.mkdir()
    shutil.copy(BASE / "allocations.yaml", site)
    for number, name in enumerate(order):
        shutil.copy(BASE / name, site / f"part{number:02}.yaml")
    after = open_site(site)
    assert json_text(after.plan) == json_text(before.plan)
    assert {(found.check, found.what) for found in after.findings} == {
        (found.check, found.what) for found in before.findings
    }


@pytest.mark.parametrize("text", ["1" * 5000, "-" + "9" * 400, "1e308", "1e-308", "1e400", "0." + "0" * 30 + "1"])
def test_a_number_beyond_all_figures_is_told_once(site: Path, text: str) -> None:
    """A number that no site has is told with its line, and brings no other problem."""
    file, was = site / "facility.yaml", "capacity_w: 100000"
    file.write_text(file.read_text(encoding="utf-8").replace(was, f"capacity_w: {text}"), encoding="utf-8")
    assert {(found.check, found.where) for found in told(site) if found.check != "upstream-over-budget"} == {
        ("bad-value", f"{site}/facility.yaml:24:52")
    }
