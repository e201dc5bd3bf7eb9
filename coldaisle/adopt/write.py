"""
A spec as files that people read: a section a file, each value with its source behind it, each gap as a comment.

The comments are for who takes the site over; nothing reads them. Values are written by the YAML library, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from coldaisle.adopt.told import Gap, Told, Unknown, plain

FILES: Mapping[str, tuple[str, ...]] = {
    "site": ("site",),
    "facility": ("facility",),
    "fabrics": ("fabrics",),
    "addressing": ("addressing",),
    "node_pools": ("node_pools",),
    "hardware": ("hardware", "switch_hardware"),
    "cluster": ("cluster", "gpu"),
    "provisioning": ("provisioning",),
    "serving": ("serving", "autoscaling"),
}
"""The sections of each file, by its name."""
ALLOCATIONS_HEAD = """\
# Addresses and ports that were in use when the site was adopted: the plan keeps every one of them.
# `coldaisle plan SITE --allocate` adds to this file and never changes a line.
"""
_WIDE = 10_000
"""Values are written on one line each, however long."""


def files(sections: Mapping[str, Any], allocations: Mapping[str, Any], sources: Iterable[str]) -> dict[str, str]:
    """Return the texts of a spec's files by name; a file without any section is not made."""
    head = f"# Adopted from {', '.join(sources)}. Behind each value is where it is from; `unknown` is nobody's.\n"
    texts = {}
    for name, members in FILES.items():
        data = {section: sections[section] for section in members if section in sections}
        if any(not isinstance(value, Gap) for value in data.values()):
            texts[f"{name}.yaml"] = head + "".join(f"{line}\n" for line in _map(data, 0))
    texts["allocations.yaml"] = ALLOCATIONS_HEAD + yaml.safe_dump(plain(dict(allocations)), sort_keys=True)
    return texts


def unknown_text(unknowns: Iterable[Unknown]) -> str:
    """Return the list of what could not be known, as Markdown: what the spec needs first."""
    found = sorted(unknowns, key=lambda each: not each.gap.required)
    lines = ["# What could not be known", ""]
    for required, title in ((True, "The spec cannot be used without"), (False, "Left out, until somebody adds it")):
        rows = [each for each in found if each.gap.required is required]
        if rows:
            lines += [f"## {title}", "", "| where | what | look | write |", "|---|---|---|---|"]
            lines += [f"| `{each.path}` | {each.gap.what} | {each.gap.look} | `{each.gap.write}` |" for each in rows]
            lines.append("")
    return "\n".join(lines)


# -- YAML ---------------------------------------------------------------------------------------------------------
def _map(data: Mapping[str, Any], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for key, value in data.items():
        yield from _entry(f"{pad}{_scalar(key)}:", value, depth)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - a part of a spec
    if isinstance(value, Gap):
        pad = "  " * depth
        yield f"{pad}# unknown: {head.strip()} {value.write}{' (needed)' if value.required else ''}"
        yield f"{pad}#   {value.what}; look at {value.look}"
    elif isinstance(value, Told) and isinstance(value.value, dict) and not value.flow:
        yield head + _comment(value.note)
        yield from _map(value.value, depth + 1)
    elif isinstance(value, Told):
        yield f"{head} {_flow(value.value)}{_comment(value.note)}"
    elif isinstance(value, dict):
        yield head if value else f"{head} {{}}"
        yield from _map(value, depth + 1)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        yield head
        yield from _items(value, depth + 1)
    else:
        yield f"{head} {_flow(value)}"


def _items(values: Iterable[Any], depth: int) -> Iterator[str]:
    pad = "  " * depth
    for value in values:
        # The dash takes the place of the indentation of the item's first line.
        lines = list(_map(value, depth + 1))
        yield f"{pad}- {lines[0].strip()}"
        yield from lines[1:]


def _comment(note: str) -> str:
    return f"  # {' '.join(note.split())}" if note else ""


def _flow(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, dict | list):
        return yaml.safe_dump(plain(value), default_flow_style=True, width=_WIDE, sort_keys=False).strip()
    return _scalar(value)


def _scalar(value: Any) -> str:  # noqa: ANN401
    return yaml.safe_dump(value, width=_WIDE, default_flow_style=True).strip().removesuffix("\n...").strip()
