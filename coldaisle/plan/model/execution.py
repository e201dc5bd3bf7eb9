"""Execution nodes: who runs playbooks for which hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExecutionNodePlan:
    """One execution node: how it is logged in to (`key_file` is a path), its pinned key, its Python, and its halls."""

    name: str
    address: str
    port: int
    user: str
    host_key: str
    key_file: str
    python: str
    halls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """
    Which execution nodes work on which hosts.

    `through` has, by node and switch, its execution nodes in order: the first works on it, the others stand in. A host
    that is not there is the runner's own. `runner_stands_in` says that the runner takes hosts whose nodes are all lost.
    """

    nodes: tuple[ExecutionNodePlan, ...]
    through: Mapping[str, tuple[str, ...]]
    runner_stands_in: bool
