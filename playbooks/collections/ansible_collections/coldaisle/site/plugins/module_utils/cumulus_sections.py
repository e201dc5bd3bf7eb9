"""
A configuration of Cumulus Linux as sections of NVUE's tree, so that a planned and a running one can be compared.

No module of ours: the plan's side loads the same file. It runs on the deploy host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

EACH = ("interface", "vrf", "service")
"""Branches of which every child is a section of its own."""

WHOLE = ("bridge", "evpn", "nve", "qos", "router")
"""Branches that are a section each."""

SERVICES = frozenset({"lldp", "dhcp-relay"})
MANAGEMENT_VRF = "mgmt"
"""What else is in the tree belongs to the installation: users, time, logs, the API, and the management network."""

ALIKE = re.compile(r"([a-z]*)(\d[\d,-]*[,-][\d,-]*\d)$")
"""A name of several ports or VLANs that are alike, as `nv config show` writes them: `swp51-52`, `vlan10,20`."""

Tree = Mapping[str, Any]
Path = tuple[str, ...]


def tree_of(text: str) -> dict[str, Any]:
    """Return the tree of a startup.yaml: what its `set` has."""
    return dict(yaml.safe_load(text)[0]["set"])


def sections(text: str) -> dict[str, str]:
    """Return the sections of a startup.yaml, as `sections_of` does of its tree."""
    return sections_of(tree_of(text))


def sections_of(tree: Tree) -> dict[str, str]:
    """
    Return the fabric's sections of a tree: every setting of each, sorted, one a line, as words of `nv set`.

    A section without settings has its name.
    """
    found: dict[str, str] = {}
    for path, branch in parts(tree).items():
        name = " ".join(path)
        found[name] = "\n".join(sorted(_flat(branch, ()))) or name
    return found


def listed(found: Iterable[str]) -> list[str]:
    """Return the names of sections: all of them are the fabric's alone."""
    return sorted(found)


def parts(tree: Tree) -> dict[Path, Any]:
    """Return the parts of a tree that are the fabric's, by their paths."""
    found: dict[Path, Any] = {(name,): tree[name] for name in WHOLE if tree.get(name)}
    for kind in EACH:
        for key, branch in (tree.get(kind) or {}).items():
            found |= {(kind, name): branch for name in _names(key) if _is_fabrics(kind, name)}
    hostname = (tree.get("system") or {}).get("hostname")
    return found | ({("system", "hostname"): hostname} if hostname else {})


def _is_fabrics(kind: str, name: str) -> bool:
    return (kind, name) != ("vrf", MANAGEMENT_VRF) and (kind != "service" or name in SERVICES)


def _names(key: str) -> Iterator[str]:
    alike = ALIKE.match(key)
    if alike is None:
        yield key
        return
    for part in alike[2].split(","):
        first, _, last = part.partition("-")
        yield from (f"{alike[1]}{number}" for number in range(int(first), int(last or first) + 1))


def _flat(branch: Any, path: Path) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Yield the words of each setting; an empty branch is a setting, and null is none."""
    if isinstance(branch, Mapping) and branch:
        for key, value in branch.items():
            for name in _names(str(key)):
                yield from _flat(value, (*path, name))
    elif isinstance(branch, list):
        for value in branch:
            yield from _flat(value, path)
    elif branch is not None:
        words = path if isinstance(branch, Mapping) else (*path, str(branch))
        if words:
            yield " ".join(words)
