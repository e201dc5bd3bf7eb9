"""
Changing single values in a file that people write: every other character stays, comments and all.

A value that is there is replaced where it stands; a key that is not goes to the front of its map, in the map's own
style. Afterwards the whole file is read again and has to say what it said before, but for the values that were to
change. So an anchor that two nodes share is refused, and not changed for both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from coldaisle.spec.yaml_reader import Reader, parse_text

Path = tuple[str, ...]

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
"""What needs no quotes: it begins with a letter, and is none of YAML's words."""
WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class EditError(Exception):
    """The file cannot be changed safely; the message says what to do by hand."""


def with_values(text: str, changes: Mapping[Path, str]) -> str:
    """
    Return a file's text with some values set, each by its path of keys.

    Raises:
        EditError: a path leads through something that is no map, or another value would change with it.

    """
    wanted = json.loads(json.dumps(_data(text)))  # maps that an alias shares are maps of their own now
    for path, value in changes.items():
        text = _with_value(text, path, value)
        _put(wanted, path, value)
    if _data(text) != wanted:
        paths = ", ".join(".".join(path) for path in changes)
        raise EditError(f"{paths}: other values would change too (an anchor that is shared?); edit the file by hand")
    return text


def _data(text: str) -> Any:  # noqa: ANN401 - YAML holds anything
    try:
        root = parse_text(text)
    except yaml.YAMLError as error:
        raise EditError(f"the file is not YAML: {error}") from error
    return {} if root is None else Reader("").data(root)


def _put(data: Any, path: Path, value: str) -> None:  # noqa: ANN401 - YAML holds anything
    for key in path[:-1]:
        data = data.setdefault(key, {})
    data[path[-1]] = value


def _with_value(text: str, path: Path, value: str) -> str:
    node = parse_text(text)
    for depth, key in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            raise EditError(f"{'.'.join(path[:depth])} is no map; edit the file by hand")
        found = next((child for own, child in node.value if own.value == key), None)
        if found is None:
            return _with_key(text, node, key, _nested(path[depth + 1 :], value))
        node = found
    if not isinstance(node, yaml.ScalarNode):
        raise EditError(f"{'.'.join(path)} is no single value; edit the file by hand")
    return text[: node.start_mark.index] + _written(value, node.style or "") + text[node.end_mark.index :]


def _nested(path: Path, value: str) -> str:
    """Return a value below keys that are not there yet, in one line."""
    return f"{{{_written(path[0])}: {_nested(path[1:], value)}}}" if path else _written(value)


def _with_key(text: str, node: yaml.MappingNode, key: str, value: str) -> str:
    """Put a key to the front of a map."""
    entry = f"{_written(key)}: {value}"
    if node.flow_style:
        at = node.start_mark.index + 1
        return text[:at] + entry + (", " if node.value else "") + text[at:]
    at = node.start_mark.index
    return f"{text[:at]}{entry}\n{' ' * node.start_mark.column}{text[at:]}"


def _written(value: str, style: str = "") -> str:
    """Return a text as YAML, in quotes where it needs or had them."""
    if style == "'" and "'" not in value:
        return f"'{value}'"
    plain = not style and PLAIN.fullmatch(value) and value.lower() not in WORDS
    return value if plain else json.dumps(value, ensure_ascii=False)
