"""
A spec with gaps as the planner takes it, so that what is known can be held against the sources before the rest is.

What stands in for a required value that nobody knows is never written down, and what follows from it is never shown:
of such a plan only nodes, their ports and the fabrics are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from coldaisle.adopt.told import plain
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import FabricPlan
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.marks import Marks
from coldaisle.spec.names import names_of
from coldaisle.spec.sections import Sections, SiteSpec

Numbers = Mapping[str, Mapping[str, str]]


def draft(sections: Mapping[str, Any], catalog: Catalog, allocations: Numbers) -> SiteSpec:
    """
    Return a spec with stand-ins for what it needs and nobody knows; nodes without a model or a place are left out.

    Raises:
        pydantic.ValidationError: what is known makes no valid spec.
    """
    data = plain(dict(sections), stand_ins=True)
    pools = data.get("node_pools", {})  # none where nobody who was asked has answered
    data["node_pools"] = {name: pool for name, pool in pools.items() if "system" in pool and pool["nodes"]}
    known = {node for pool in data["node_pools"].values() for node in pool["nodes"]}
    data["hardware"] = {node: each for node, each in data.get("hardware", {}).items() if node in known}
    names = names_of(data, catalog, complete=True)
    checked = Sections.model_validate_json(json.dumps(data), context=names)
    numbers = {kind: dict(given) for kind, given in allocations.items()}
    return SiteSpec(Path(), checked, catalog, Marks(""), (), numbers)


def planner(
    sections: Mapping[str, Any], catalog: Catalog, addresses: Numbers
) -> Callable[[Mapping[str, Any], Numbers, str], FabricPlan | None]:
    """Return what plans one fabric of a spec that has no fabrics yet, beside those that are given with it."""

    def plan(fabrics: Mapping[str, Any], numbers: Numbers, name: str) -> FabricPlan | None:
        needed = fabrics if "switch" in fabrics[name]["connects"] else {name: fabrics[name]}
        try:
            spec = draft({**sections, "fabrics": needed}, catalog, {**addresses, **numbers})
            return plan_fabrics(spec)[name]
        except (ValidationError, LookupError):
            return None

    return plan
