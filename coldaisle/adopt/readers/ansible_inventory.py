"""
Ansible inventories in their INI form, as Kayobe and DeepOps keep them: groups, hosts, variables.

Only what these files hold is read: no plugin, no template. A value with a template in it is not known.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coldaisle.adopt.facts import Collector

_SECTION = re.compile(r"\[([^\]:]+)(?::(children|vars))?\]")
_RANGE = re.compile(r"\[(\d+):(\d+)\]")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\[\]:-]*")
_MOST = 10_000
"""Hosts that one range may stand for: more is a slip of the pen."""


@dataclass
class Inventory:
    """Hosts with their variables, the hosts of each group by itself, and the groups within a group."""

    hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)

    def members(self, group: str, above: frozenset[str] = frozenset()) -> list[str]:
        """Return the hosts of a group and of the groups within it, each once and in order."""
        if group in above:
            return []
        inner = [host for child in self.children.get(group, ()) for host in self.members(child, above | {group})]
        return list(dict.fromkeys([*self.groups.get(group, ()), *inner]))


def parse(text: str, where: str, into: Collector, inventory: Inventory | None = None) -> Inventory:
    """Return an inventory, added to one that other files began; lines that are none of its form are told."""
    found = inventory or Inventory()
    group, kind = "ungrouped", ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        section = _SECTION.fullmatch(line)
        if section:
            group, kind = section[1], section[2] or ""
            (found.children if kind == "children" else found.groups).setdefault(group, [])
        elif line.startswith("["):
            into.unreadable(f"{where}:{number}", f"the line {line} is no group", "copy the inventory again", raw)
        elif kind == "children":
            found.children[group].append(line.split()[0])
        elif not kind:
            _host(line, f"{where}:{number}", group, found, into)
    return found


def _host(line: str, where: str, group: str, found: Inventory, into: Collector) -> None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        into.unreadable(where, f"a quote is open: {error}", "close it", line)
        return
    variables = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    if not _HOST.fullmatch(words[0]):
        into.unreadable(where, f"{words[0]} is no host's name", "give the inventory in its INI form", line)
        return
    for name in _names(words[0]):
        found.hosts.setdefault(name, {}).update(variables)
        found.groups.setdefault(group, []).append(name)


def _names(pattern: str) -> Iterator[str]:
    """Yield the hosts of a pattern: `gpu[01:16]` stands for sixteen."""
    match = _RANGE.search(pattern)
    if match is None:
        yield pattern
        return
    first, last = int(match[1]), int(match[2])
    for number in range(first, min(last, first + _MOST) + 1):
        digits = str(number).zfill(len(match[1]))
        yield from _names(pattern[: match.start()] + digits + pattern[match.end() :])


def plain(variables: Mapping[str, object], key: str) -> str | None:
    """Return a variable's text, None where it is absent or a template, whose value only a run would tell."""
    value = variables.get(key)
    if value is None or isinstance(value, bool | dict | list):
        return None
    text = str(value).strip()
    return None if "{{" in text or not text else text
