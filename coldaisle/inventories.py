"""Inventories of Ansible as plain data: the one that the environment names, and part of one for a run of some hosts."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from coldaisle.collector import collector_paused

INVENTORY_VARIABLE = "COLDAISLE_INVENTORY"
"""Names the file of an inventory that stands in place of the plan's: a hall's."""

Inventory = dict[str, Any]
"""Ansible's YAML form: `all`, with `hosts` and their variables, and `children` with their hosts."""


def given() -> Path | None:
    """Return the file of the inventory that the environment names; None where it names none."""
    own = os.environ.get(INVENTORY_VARIABLE)
    return Path(own) if own else None


def load(file: Path) -> Inventory:
    """Return the inventory of a file; the loader in C takes a tenth of the time of Python's own."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with collector_paused():
        found: Inventory = yaml.load(file.read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
    return found


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
