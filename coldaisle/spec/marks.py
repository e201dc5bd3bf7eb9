"""Where each value of a spec stands: file, line and column, by the value's path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from yaml import MappingNode, Node, SequenceNode

Loc = tuple[str | int, ...]
"""Path of a value: section, keys and list indexes, as pydantic gives it."""

_PLAIN_KEY = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Section:
    """A top-level key of a spec file."""

    file: str
    key: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Marks:
    """
    The parsed files of a site, to look places up in.

    Nothing is written down while loading: a place is looked up when a problem is told.
    """

    folder: str
    sections: Mapping[str, Section] = field(default_factory=dict)

    def where(self, loc: Loc, *, key: bool = False) -> str:
        """
        Return `file:line:column` of a value, or of its key; where it does not exist, of the nearest parent's key.

        Lines and columns count from 1.
        """
        section = self.sections.get(str(loc[0])) if loc else None
        if section is None:
            return self.folder
        key_node, value_node, complete = _walk(section, loc[1:])
        node = (
            value_node if complete and not key and value_node.start_mark.line >= key_node.start_mark.line else key_node
        )
        return f"{section.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def existing(self, loc: Loc) -> Loc:
        """Return the longest beginning of a path that stands in the files."""
        section = self.sections.get(str(loc[0])) if loc else None
        node = section.value if section else None
        for depth, part in enumerate(loc[1:], start=1):
            node = _child(node, part)[1]
            if node is None:
                return loc[:depth]
        return loc

    def path(self, loc: Loc) -> str:
        """Return the path of a value as people write it: `node_pools.guests.nodes[r01-n01].rack`."""
        section = self.sections.get(str(loc[0])) if loc else None
        text = str(loc[0]) if loc else ""
        node: Node | None = section.value if section else None
        for part in loc[1:]:
            text += _step_text(node, part)
            node = _child(node, part)[1] if node is not None else None
        return text


def _step_text(node: Node | None, part: str | int) -> str:
    if isinstance(part, int):
        return f"[{_name_of(_child(node, part)[1]) or part}]"
    return f".{part}" if _PLAIN_KEY.fullmatch(part) else f"[{part}]"


def _name_of(node: Node | None) -> str | None:
    named = _child(node, "name")[1]
    return str(named.value) if named is not None and isinstance(named.value, str) else None


def _child(node: Node | None, part: str | int) -> tuple[Node | None, Node | None]:
    """Return key node and value node of one step down, or two Nones."""
    if isinstance(node, MappingNode):
        return _mapping_child(node, str(part))
    if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None, None


def _mapping_child(node: MappingNode, part: str) -> tuple[Node | None, Node | None]:
    merged: Sequence[Node] = ()
    for key, value in node.value:
        if key.value == part:
            return key, value
        if key.value == "<<":
            merged = value.value if isinstance(value, SequenceNode) else (value,)
    for parent in merged:
        found = _child(parent, part)
        if found[1] is not None:
            return found
    return None, None


def _walk(section: Section, loc: Loc) -> tuple[Node, Node, bool]:
    """Return key node and value node of the deepest step that exists, and whether that is the whole path."""
    key_node, value_node = section.key, section.value
    for part in loc:
        next_key, next_value = _child(value_node, part)
        if next_key is None or next_value is None:
            return key_node, value_node, False
        key_node, value_node = next_key, next_value
    return key_node, value_node, True
