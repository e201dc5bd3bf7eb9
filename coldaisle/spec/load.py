"""
From a folder of YAML files to a valid spec, or to everything that is wrong with it.

Reading, names, validation: each stage passes on what it can, so that one mistake hides no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from coldaisle.paths import packaged, shown
from coldaisle.spec.base import Names, near_miss
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.explain import explain
from coldaisle.spec.journal import read_journal
from coldaisle.spec.marks import Loc, Marks, Section
from coldaisle.spec.names import names_of, parts_of
from coldaisle.spec.problem import Problem, SpecError
from coldaisle.spec.salvage import salvage
from coldaisle.spec.sections import REQUIRED, SECTION_TYPES, Allocations, Sections, SiteSpec
from coldaisle.spec.yaml_reader import Reader, compose

CATALOG = "catalog"
"""The section of a site's own hardware facts; it lies over the catalog that comes with the package."""
ALLOCATIONS_FILE = "allocations.yaml"


@dataclass
class _Reading:
    """What came out of some files: data and place of each top-level key, and what was wrong."""

    data: dict[str, Any] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def site_folder(site: str, root: Path = Path()) -> Path:
    """
    Return the folder of a site: that of the name under inventory/, else the path as given if it is a folder.

    It is relative to `root`, the project's folder, which is the working directory where it is left out.
    """
    named, given = Path("inventory") / site, Path(site).expanduser()
    return named if (root / named).is_dir() or (len(given.parts) == 1 and not (root / given).is_dir()) else given


def load_site(folder: Path) -> SiteSpec:
    """
    Load and validate a site.

    Args:
        folder: The site's folder. Every `*.yaml` in it holds sections, but for catalog.yaml and allocations.yaml; the
            journal of its nodes (nodes.jsonl) lies beside them.

    Raises:
        SpecError: with every problem that was found.
    """
    if not folder.is_dir():
        raise SpecError([_no_folder(folder)])
    reading = _read(path for path in _yaml_files(folder) if path.name != ALLOCATIONS_FILE)
    marks = Marks(shown(folder), reading.sections)
    problems = reading.problems + [_wrong_ending(path) for path in sorted(folder.glob("*.yml"))]
    catalog, catalog_marks = _catalog(reading.data.get(CATALOG), marks, problems)
    allocations, allocation_marks = _allocations(folder, problems)
    journal, broken = read_journal(folder)
    problems += broken
    strange = reading.data.keys() - {*SECTION_TYPES, CATALOG}
    names = names_of(reading.data, catalog, complete=not (problems or strange))
    values = _validated(reading.data, names, marks, problems)
    spec = None
    if catalog is not None and all(section in values for section in REQUIRED):
        sections = Sections.model_construct(**values)
        spec = SiteSpec(folder, sections, catalog, marks, catalog_marks, allocations, allocation_marks, journal)
    if problems or spec is None:
        raise SpecError(problems, rest=spec)
    return spec


def load_catalog() -> tuple[Catalog, tuple[Marks, ...]]:
    """
    Read the catalog that comes with the package.

    Returns:
        The catalog, and where its entries stand.

    Raises:
        SpecError: with what is wrong with its files.
    """
    problems: list[Problem] = []
    catalog, marks = _catalog(None, Marks(""), problems)
    if catalog is None:
        raise SpecError(problems)
    return catalog, marks


def site_catalog(folder: Path) -> Catalog:
    """
    Return the catalog of a site that has no spec yet: the entries of its catalog.yaml over those of the package.

    Raises:
        SpecError: with what is wrong with either.
    """
    path = folder / f"{CATALOG}.yaml"
    reading = _read([path] if path.is_file() else [])
    problems = [*reading.problems]
    catalog, _ = _catalog(reading.data.get(CATALOG), Marks(shown(folder), reading.sections), problems)
    if catalog is None or problems:
        raise SpecError(problems)
    return catalog


def _catalog(own: Any, own_marks: Marks, problems: list[Problem]) -> tuple[Catalog | None, tuple[Marks, ...]]:  # noqa: ANN401 - not validated yet
    """Merge a site's own entries over those of the package; add what is wrong to problems, and return None then."""
    reading = _read(_yaml_files(packaged("inventory/catalog")))
    marks = Marks("", reading.sections)
    found = [*reading.problems, *_mistakes(Catalog, reading.data, (), marks, parts_of(reading.data))]
    found += _mistakes(Catalog, own, (CATALOG,), own_marks, parts_of(reading.data, own)) if own is not None else []
    problems += found
    if found:
        return None, (marks,)
    merged = {
        kind: {**entries, **(own or {}).get(kind, {})} for kind, entries in ({} | (own or {}) | reading.data).items()
    }
    return Catalog.model_validate_json(json.dumps(merged)), (marks,)


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.yaml") if path.is_file() or path.is_symlink())


def _read(paths: Iterable[Path]) -> _Reading:
    """Read files into one set of top-level keys."""
    reading = _Reading()
    for path in paths:
        _read_file(path, reading)
    return reading


def _read_file(path: Path, reading: _Reading) -> None:
    file = shown(path)
    root, problems = compose(path, file)
    reading.problems += problems
    if root is None or (root.tag.endswith(":null") and not root.value):
        return
    reader = Reader(file)
    data = reader.data(root)
    reading.problems += reader.problems
    if not isinstance(data, dict):
        reading.problems.append(_not_a_map(file, root.start_mark.line, root.start_mark.column))
        return
    places = {key.value: Section(file, key, value) for key, value in root.value if isinstance(key.value, str)}
    for key, value in data.items():
        if key in reading.data:
            reading.problems.append(_section_twice(key, places[key], reading.sections[key]))
        elif key in places:
            reading.data[key] = value
            reading.sections[key] = places[key]


def _validated(data: Mapping[str, Any], names: Names, marks: Marks, problems: list[Problem]) -> dict[str, Any]:
    """Validate each section by itself; add what is wrong to problems, and return what is left when it is cut out."""
    values: dict[str, Any] = {}
    for section in data:
        if section == CATALOG:
            continue
        if section in SECTION_TYPES:
            adapter: TypeAdapter[Any] = TypeAdapter(SECTION_TYPES[section])
            try:
                values[section] = adapter.validate_json(json.dumps(data[section]), context=names)
            except ValidationError as error:
                problems.extend(explain(error, SECTION_TYPES[section], (section,), marks))
                values[section] = salvage(SECTION_TYPES[section], data[section], names)
        else:
            problems.append(_unknown_section(section, marks))
    broken = any(not problem.path and problem.check != "duplicate-key" for problem in problems)
    missing = [] if broken else [name for name in REQUIRED if name not in data]
    meant = {name for other in data if other not in SECTION_TYPES for name in get_close_matches(other, missing, n=1)}
    problems.extend(_missing_section(name, marks) for name in missing if name not in meant)
    return {section: value for section, value in values.items() if value is not None}


def _mistakes(model: Any, data: Any, prefix: Loc, marks: Marks, names: Names | None = None) -> list[Problem]:  # noqa: ANN401 - not validated yet
    try:
        TypeAdapter(model).validate_json(json.dumps(data), context=names)
    except ValidationError as error:
        return list(explain(error, model, prefix, marks))
    return []


def _allocations(folder: Path, problems: list[Problem]) -> tuple[dict[str, dict[str, str]], Marks]:
    """Read what earlier plans handed out, and where it stands."""
    path = folder / ALLOCATIONS_FILE
    reading = _read([path] if path.is_file() else [])
    marks = Marks(shown(path), reading.sections)
    found = [*reading.problems, *_mistakes(Allocations, reading.data, (), marks)]
    problems += found
    return {} if found else reading.data, marks


def _no_folder(folder: Path) -> Problem:
    parent = folder.parent
    sites = (
        sorted(child.name for child in parent.iterdir() if (child / "site.yaml").is_file()) if parent.is_dir() else []
    )
    fix = (
        near_miss(folder.name, sites) if sites else "run this where inventory/ is, or give the path of a site's folder"
    )
    what = f"{shown(folder)} is a file" if folder.exists() else f"there is no folder {shown(folder)}"
    return Problem(check="no-such-site", where=shown(folder), path="", what=what, have="", fix=fix)


def _wrong_ending(path: Path) -> Problem:
    what = "files that end in .yml are not read"
    fix = f"rename it to {path.stem}.yaml"
    return Problem(check="wrong-ending", where=f"{shown(path)}:1:1", path="", what=what, have="", fix=fix)


def _not_a_map(file: str, line: int, column: int) -> Problem:
    where = f"{file}:{line + 1}:{column + 1}"
    fix = "begin the file with a section's name and a colon, such as site:"
    return Problem(check="wrong-type", where=where, path="", what="the file must hold sections", have="", fix=fix)


def _section_twice(key: str, place: Section, first: Section) -> Problem:
    where = f"{place.file}:{place.key.start_mark.line + 1}:{place.key.start_mark.column + 1}"
    have = f"it stands in {first.file}:{first.key.start_mark.line + 1} already"
    what = f"the section {key} stands in two files"
    return Problem(check="duplicate-key", where=where, path=key, what=what, have=have, fix="keep it in one file")


def _unknown_section(section: str, marks: Marks) -> Problem:
    where = marks.where((section,), key=True)
    what = f"there is no section {section}"
    fix = near_miss(section, [*SECTION_TYPES, CATALOG])
    return Problem(check="unknown-section", where=where, path=section, what=what, have="", fix=fix)


def _missing_section(section: str, marks: Marks) -> Problem:
    what = f"the section {section} is missing"
    fix = f"add a file {section}.yaml that begins with {section}:"
    return Problem(check="missing-section", where=marks.folder, path=section, what=what, have="", fix=fix)
