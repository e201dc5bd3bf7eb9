"""
The connected parts of a fabric.

A few lines instead of networkx, whose import takes as long as the plan of a thousand nodes, in every command; tests
hold them against it.
"""

from __future__ import annotations

from collections.abc import Iterable


def connected(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a representative of the part that each name belongs to, where pairs of names are joined."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for one, other in pairs:
        parent[root(one)] = root(other)
    return {name: root(name) for name in list(parent)}
