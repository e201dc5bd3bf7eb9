"""Inventories of Ansible as plain data: part of one, for a run that has some of its hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

Inventory = dict[str, Any]
"""Ansible's YAML form: `all`, with `hosts` and their variables, and `children` with their hosts."""


def part_of(
    whole: Mapping[str, Any],
    hosts: Iterable[str],
    extra: Mapping[str, Mapping[str, Any]] | None = None,
    groups: Mapping[str, Collection[str]] | None = None,
) -> Inventory:
    """
    Return the inventory of just these hosts, in the groups that they are in, with more variables a host and groups.

    Raises:
        KeyError: a host is not in the inventory.

    """
    known, wanted = whole["all"]["hosts"], dict.fromkeys(hosts)
    children = whole["all"].get("children", {})
    members = {group: child["hosts"] for group, child in children.items()} | dict(groups or {})
    return {
        "all": {
            "hosts": {host: {**known[host], **(extra or {}).get(host, {})} for host in wanted},
            "children": {
                group: {"hosts": {host: {} for host in sorted(wanted.keys() & set(its))}}
                for group, its in members.items()
            },
        }
    }
