"""Where problems are said to stand: the printed line and column are those of the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coldaisle.spec import load_site
from coldaisle.spec.marks import Loc
from coldaisle.spec.yaml_reader import Reader, compose


def leaves(value: Any, loc: Loc = ()) -> Iterator[tuple[Loc, Any]]:  # noqa: ANN401 - plain YAML data
    """Yield every scalar of plain data with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*loc, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*loc, index))
    else:
        yield loc, value


def text_at(where: str) -> str:
    """Return what stands at `file:line:column`, without quotes."""
    file, line, column = where.rsplit(":", 2)
    rest = Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1][int(column) - 1 :]
    return rest.lstrip("'\"")


@pytest.mark.parametrize("file", ["site.yaml", "node_pools.yaml", "hardware.yaml", "catalog.yaml", "fabrics.yaml"])
def test_every_value_stands_where_it_is_said_to(site: Path, file: str) -> None:
    """At the printed place of each value of a file, the file has that value; aliases lead to their anchor."""
    spec = load_site(site)
    root, _ = compose(site / file, file)
    assert root is not None
    checked = 0
    for loc, value in leaves(Reader(file).data(root)):
        if isinstance(value, str):
            assert text_at(spec.marks.where(loc)).startswith(value), loc
            checked += 1
    assert checked > 5


def test_a_missing_value_stands_at_its_parents_key(site: Path) -> None:
    """What is not there is said to stand at the key of what should hold it."""
    where = load_site(site).marks.where(("node_pools", "light", "image"))
    assert text_at(where).startswith("light:")


def test_an_unknown_section_stands_at_the_folder(site: Path) -> None:
    """What has no parent either is said to stand in the site's folder."""
    assert load_site(site).marks.where(("storage",)) == str(site)


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        (("site", "name"), "site.name"),
        (("node_pools", "guests", "nodes", "r[01-02]-n01", "rack"), "node_pools.guests.nodes[r[01-02]-n01].rack"),
        (("facility", "halls", 0, "rows", 0, "racks", 1), "facility.halls[hall1].rows[row1].racks[r02]"),
        (("site", "ntp_servers", 0), "site.ntp_servers[0]"),
        (("hardware", "r01-n01", "bmc_mac"), "hardware[r01-n01].bmc_mac"),
    ],
)
def test_paths_name_what_has_a_name(site: Path, loc: Loc, path: str) -> None:
    """A path shows names where there are names, and numbers where there are none."""
    assert load_site(site).marks.path(loc) == path


def test_catalog_entries_stand_in_their_file(site: Path) -> None:
    """An entry of the site's own catalog is found there, and any other in the catalog of the package."""
    spec = load_site(site)
    assert re.fullmatch(r"inventory/case/catalog\.yaml:\d+:5", spec.catalog_where("systems", "sim-guest"))
    assert text_at(spec.catalog_where("systems", "dgx-h100")).startswith("dgx-h100:")
    assert not spec.catalog_where("systems", "nothing-like-it")


def test_a_merged_value_stands_at_its_anchor(site: Path) -> None:
    """A value that comes through `<<` is said to stand where it was written."""
    first, light = (site / "node_pools.yaml").read_text(encoding="utf-8").split("  # Light hosts", 1)
    first = first.replace("gpu: {", "gpu: &gpu {")
    merged = light.replace('gpu: {driver_floor: "580.95.05", ', "gpu: {<<: *gpu, ")
    (site / "node_pools.yaml").write_text(f"{first}  # Light hosts{merged}", encoding="utf-8")
    where = load_site(site).marks.where(("node_pools", "light", "gpu", "driver_floor"))
    assert text_at(where).startswith("580.95.05")
    assert int(where.split(":")[1]) < len(first.splitlines())


def test_an_alias_stands_where_it_is_used(site: Path) -> None:
    """A list that is an alias is said to stand at its key, and what is in it at the anchor."""
    marks = load_site(site).marks
    feeds = ("facility", "halls", 0, "rows", 0, "racks", 1, "power_feeds")
    assert text_at(marks.where(feeds)).startswith("power_feeds: *feeds")
    assert marks.where((*feeds, 0)) == marks.where((*feeds[:6], 0, "power_feeds", 0))
