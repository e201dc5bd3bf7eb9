"""Whatever is wrong in a spec, the answer is findings or problems, and never an exception of another kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.spec import SpecError

VALUES: tuple[Any, ...] = (
    None,
    "",
    0,
    -1,
    10**12,
    1.5,
    True,
    "x",
    "r[1-",
    "r[01-02]",
    "r[3-1]",
    [],
    ["a"],
    {},
    {"a": 1},
)
ADDRESSES = ("10.0.0.0/8", "198.18.0.0/33", "::1", "fe80::/10", "255.255.255.255", "0.0.0.0/0")
ROUNDS = 12


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Yield the path of every value below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def mutate(data: dict[str, Any], chance: random.Random) -> None:
    """Change, remove or repeat one value."""
    path = chance.choice([place for place in places(data) if len(place) > 1])
    parent: Any = data
    for step in path[:-1]:
        parent = parent[step]
    kind = chance.random()
    if kind < 0.25:
        del parent[path[-1]]
    elif kind < 0.9 or isinstance(parent, dict):
        parent[path[-1]] = chance.choice((*VALUES, *ADDRESSES))
    else:
        parent.append(parent[path[-1]])


@pytest.mark.parametrize("seed", range(5))
def test_mutated_specs_are_told_apart(site: Path, seed: int) -> None:
    """A spec with one to three values changed at random is checked, or refused with problems that have a place."""
    chance = random.Random(seed)  # noqa: S311 - a seed makes a failure repeatable
    files = {path.name: path.read_text(encoding="utf-8") for path in site.glob("*.yaml")}
    for _ in range(ROUNDS):
        data = {name: yaml.safe_load(text) for name, text in files.items()}
        for _ in range(chance.randint(1, 3)):
            mutate(data, chance)
        for name, sections in data.items():
            (site / name).write_text(yaml.safe_dump(sections), encoding="utf-8")
        try:
            findings = open_site(site).findings
        except SpecError as error:
            findings = error.problems
            assert findings
        assert all(found.where.startswith(str(site)) and found.what for found in findings)
