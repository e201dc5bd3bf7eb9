"""
What is left of a section when its mistakes are cut out.

A spec with mistakes cannot be used, but most of it can still be planned and checked, so that a wrong type in one file
does not hide a rack that is over its feed in another.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from coldaisle.spec.base import Names

Path = tuple[str | int, ...]
_ROUNDS = 20
"""Each round cuts at least one value out; more rounds than levels of nesting are not needed."""


def salvage(root: Any, data: Any, names: Names) -> Any:  # noqa: ANN401 - any section
    """
    Return a section without what is wrong in it, or None when nothing is left.

    Args:
        root: The section's type.
        data: The section as plain data; it is not changed.
        names: Names that references are checked against.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(root)
    rest = json.loads(json.dumps(data))
    for _ in range(_ROUNDS):
        try:
            return adapter.validate_json(json.dumps(rest), context=names)
        except ValidationError as error:
            cuts = {_cut(details, rest) for details in error.errors(include_url=False)}
        if () in cuts:
            return None
        _remove(rest, cuts)
    return None


def _cut(details: ErrorDetails, data: Any) -> Path:  # noqa: ANN401
    """Return what to cut out for an error: the value, or the map that misses a key."""
    path: Path = details["loc"]
    for depth, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[:depth]
    return path


def _remove(data: Any, cuts: set[Path]) -> None:  # noqa: ANN401
    """Remove values by their paths, the last of a list first, so that indexes stay true."""
    for path in sorted(cuts, key=lambda path: [(isinstance(part, int), part) for part in path], reverse=True):
        if any(path[:depth] in cuts for depth in range(len(path))):
            continue
        parent = data
        for part in path[:-1]:
            parent = parent[part]
        del parent[path[-1]]
