"""
Reads the configuration files that configuration management writes, on hosts that have no YAML library.

JSON, or block YAML as `yaml.safe_dump` and templates write it: nested mappings, lists, plain and quoted scalars, empty
collections. Anchors, tags, flow collections over several lines and block scalars are refused by their first line.
"""

from __future__ import annotations

import json
import re
from typing import Any

Lines = list[tuple[int, str]]
SCALARS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
KEY_IN_ITEM = re.compile(r"[\w./-]+:(\s|$)")


def parse_document(text: str) -> Any:  # noqa: ANN401 - a document may be anything
    """Return a configuration file as data. Raises ValueError with the line that is not understood."""
    if text.lstrip().startswith("{"):
        return json.loads(text)
    lines = [
        (len(raw) - len(raw.lstrip()), raw.strip())
        for raw in text.splitlines()
        if raw.strip() and not raw.strip().startswith("#") and raw.strip() != "---"
    ]
    if not lines:
        return {}
    value, rest = _block(lines)
    if rest:
        raise ValueError(f"line {rest[0][1]!r} does not belong to what stands before it")
    return value


def _block(lines: Lines) -> tuple[Any, Lines]:
    """Return the value of the block that starts at the first line, and the lines after it."""
    indent, first = lines[0]
    return _list(lines, indent) if first.startswith("-") else _mapping(lines, indent)


def _list(lines: Lines, indent: int) -> tuple[list[Any], Lines]:
    items: list[Any] = []
    while lines and lines[0][0] == indent and lines[0][1].startswith("-"):
        marked = lines[0][1]
        content = marked[1:].strip()
        if KEY_IN_ITEM.match(content):
            inner = indent + len(marked) - len(content)
            item, lines = _mapping([(inner, content), *lines[1:]], inner)
        elif content:
            item, lines = _scalar(content), lines[1:]
        else:
            item, lines = _block(lines[1:])
        items.append(item)
    return items, lines


def _mapping(lines: Lines, indent: int) -> tuple[dict[str, Any], Lines]:
    found: dict[str, Any] = {}
    while lines and lines[0][0] == indent and not lines[0][1].startswith("- "):
        name, colon, rest = lines[0][1].partition(":")
        if not colon or (rest and not rest.startswith(" ")):
            raise ValueError(f"line {lines[0][1]!r} is not `key: value`")
        key, rest, lines = str(_scalar(name.strip())), rest.strip(), lines[1:]
        if rest == "" and _is_nested(lines, indent):
            found[key], lines = _block(lines)
        else:
            found[key] = _scalar(rest)
    return found, lines


def _is_nested(lines: Lines, indent: int) -> bool:
    """Say whether the next line belongs to the key before it; a list may stand at the key's own indent."""
    return bool(lines) and (lines[0][0] > indent or (lines[0][0] == indent and lines[0][1].startswith("- ")))


def _scalar(text: str) -> Any:  # noqa: ANN401 - a scalar may be of several types
    if text.startswith(("&", "*", "!", "|", ">")):
        raise ValueError(f"{text!r} is YAML of a kind that is not read here")
    if text.startswith(('"', "[", "{")):
        return json.loads(text)
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    plain = text.split(" #", maxsplit=1)[0].rstrip()
    if plain in SCALARS:
        return SCALARS[plain]
    return int(plain) if re.fullmatch(r"-?\d+", plain) else plain
