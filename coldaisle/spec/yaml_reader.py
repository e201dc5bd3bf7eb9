"""
One YAML file as plain data with its parsed nodes.

PyYAML's C parser reads 2,048 delivery-list lines in 0.1 CPU s where a round-trip parser takes 1.9. Scalars follow the
YAML 1.2 core schema: `no` is a word, and a MAC address of digits is not a number to the base 60.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.resolver import BaseResolver

from coldaisle.spec.problem import Problem

_PREFIX = "tag:yaml.org,2002:"
_MAX_DEPTH = 40
_SHOWN = 40
"""Characters of a wrong number that a message shows."""
_LARGEST, _SMALLEST = 1e15, 1e-9
"""Beyond these no number is a figure of a site, and sums and quotients of it would be none either."""


class _Loader(CParser, yaml.constructor.SafeConstructor, BaseResolver):
    """The C parser with the core schema's scalars."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        yaml.constructor.SafeConstructor.__init__(self)
        BaseResolver.__init__(self)


def _resolver(kind: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"{_PREFIX}{kind}", re.compile(pattern), list(first))


_resolver("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF")
_resolver("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789")
_resolver("float", r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$", "-+.0123456789")
_resolver("null", r"^(?:~|null|Null|NULL)$", "~nN")
_Loader.add_implicit_resolver(f"{_PREFIX}null", re.compile(r"^$"), [""])
_resolver("merge", r"^(?:<<)$", "<")


class Reader:
    """Turns the nodes of one file into plain data, and keeps what is wrong with them."""

    def __init__(self, file: str) -> None:
        """Take the file's name as problems print it."""
        self.file = file
        self.problems: list[Problem] = []
        self._done: dict[int, Any] = {}
        self._open: set[int] = set()

    def data(self, node: yaml.Node) -> Any:  # noqa: ANN401 - YAML holds anything
        """Return a node as dict, list or scalar. An anchor is read once; one that holds itself is a problem."""
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._done:
            return self._done[id(node)]
        if id(node) in self._open or len(self._open) > _MAX_DEPTH:
            self._report(node, "yaml-syntax", "an anchor holds itself, or the nesting has no end", "remove the alias")
            return None
        self._open.add(id(node))
        value = self._mapping(node) if isinstance(node, yaml.MappingNode) else [self.data(item) for item in node.value]
        self._open.discard(id(node))
        self._done[id(node)] = value
        return value

    def _scalar(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401
        kind, text = node.tag.removeprefix(_PREFIX), node.value
        if kind in ("str", "merge") or node.style in ("'", '"'):
            return text
        try:
            value = _SCALARS[kind](text)
        except (KeyError, ValueError):
            if kind in ("int", "float") and node.value.strip("+-").isdecimal():
                return self._no_figure(node)
            self._report(node, "yaml-tag", f"the tag {node.tag} has no meaning here", "remove the tag")
            return text
        return value if kind not in ("int", "float") or _is_figure(value) else self._no_figure(node)

    def _no_figure(self, node: yaml.ScalarNode) -> int:
        """Tell of a number that no site has, and return one that brings no further problem."""
        shown = node.value if len(node.value) <= _SHOWN else f"{node.value[:_SHOWN]}…"
        fix = "give a number of at most 1e15 that is 0 or at least 1e-9, or put an identifier in quotes"
        self._report(node, "bad-value", f"the number {shown} is beyond all figures of a site", fix)
        return 1

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        first: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._report(key, "yaml-syntax", "a key is a list or a map", "write a plain name as the key")
            elif key.tag == f"{_PREFIX}merge":
                self._merge(merged, value)
            elif key.value in first:
                self._duplicate(key, first[key.value])
            else:
                first[key.value] = key
                own[key.value] = self.data(value)
        return {**merged, **own}

    def _merge(self, merged: dict[str, Any], node: yaml.Node) -> None:
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            data = self.data(source)
            if isinstance(data, dict):
                merged.update({key: value for key, value in data.items() if key not in merged})
            else:
                self._report(source, "yaml-syntax", "<< takes a map", "give the alias of a map")

    def _duplicate(self, key: yaml.Node, first: yaml.Node) -> None:
        have = f"it stands at line {first.start_mark.line + 1} already"
        self._report(key, "duplicate-key", f"the key {key.value} stands twice", "remove one of the two", have)

    def _report(self, node: yaml.Node, check: str, what: str, fix: str, have: str = "") -> None:
        where = f"{self.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        self.problems.append(Problem(check=check, where=where, path="", what=what, have=have, fix=fix))


def _is_figure(value: float) -> bool:
    return value == 0 or _SMALLEST <= abs(value) <= _LARGEST


def _integer(text: str) -> int:
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)


_SCALARS: dict[str, Any] = {
    "int": _integer,
    "float": float,
    "bool": lambda text: text.lower() == "true",
    "null": lambda _: None,
}


def compose(path: Path, file: str) -> tuple[yaml.Node | None, tuple[Problem, ...]]:
    """
    Parse one file into nodes.

    Args:
        path: The file.
        file: Its name as problems print it.

    Returns:
        The root node (None for an empty or broken file) and what is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, (_unreadable(file, error),)
    try:
        return parse_text(text), ()
    except yaml.YAMLError as error:
        return None, (_broken(file, text, error),)


def parse_text(text: str) -> yaml.Node | None:
    """Return the root node of a file's text; yaml.YAMLError where it is none."""
    root: yaml.Node | None = _Loader(text).get_single_node()
    return root


def _unreadable(file: str, error: Exception) -> Problem:
    what, fix = "the file is not UTF-8 text", "save it as UTF-8"
    if isinstance(error, OSError):
        what, fix = f"the file cannot be read: {error.strerror}", "make it readable for this user, or remove it"
    return Problem(check="unreadable-file", where=f"{file}:1:1", path="", what=what, have="", fix=fix)


def _broken(file: str, text: str, error: yaml.YAMLError) -> Problem:
    line, column = _position(text, error)
    lines = text.splitlines()
    source = lines[line] if line < len(lines) else ""
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "this is not YAML"
    tabs = "indent with spaces, never with tabs"
    return Problem(
        check="yaml-syntax",
        where=f"{file}:{line + 1}:{column + 1}",
        path="",
        what=f"broken YAML: {what}",
        have=_context(error) or source.strip(),
        fix=tabs if "\t" in source else "correct the line; brackets, quotes and indentation must match",
    )


def _position(text: str, error: yaml.YAMLError) -> tuple[int, int]:
    """Return line and column of a YAML error, from 0."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return mark.line, mark.column
    before = text[: getattr(error, "position", 0)]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def _context(error: yaml.YAMLError) -> str:
    """Return where what is broken begins, such as `while parsing a flow sequence, which begins in line 3`."""
    mark, context = getattr(error, "context_mark", None), getattr(error, "context", None)
    return f"{context}, which begins in line {mark.line + 1}" if mark is not None and context else ""
