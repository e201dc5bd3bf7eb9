"""Sites for tests of the floor: built from plain data, with the catalog that comes with the package."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from coldaisle.spec.catalog import Catalog
from coldaisle.spec.load import load_catalog
from coldaisle.spec.marks import Marks
from coldaisle.spec.sections import Sections, SiteSpec

FEED = {"voltage_v": 415, "voltage_reference": "line-to-line", "phases": 3, "breaker_a": 63}
QM9700 = {"model": "qm9700"}

SUPERPOD_FABRIC: dict[str, Any] = {
    "kind": "infiniband",
    "topology": "leaf-spine",
    "connects": ["compute"],
    "rail_optimized": True,
    "rails": 8,
    "nodes_per_leaf_group": 32,
    "leaf": QM9700,
    "spine": QM9700,
}
"""Compute fabric of the DGX SuperPOD H100 reference architecture, without its fabric managers."""


@cache
def catalog() -> Catalog:
    """Return the catalog that comes with the package."""
    return load_catalog()[0]


def feeds(names: str, **overrides: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - YAML holds anything
    """Return one three-phase feed for each letter."""
    return [{"name": name, **FEED, **overrides} for name in names]


def facility(racks: list[dict[str, Any]], **sections: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a facility of one row."""
    rows = [{"name": "row1", "racks": [{"height_u": 48, "power_feeds": feeds("ab"), **rack} for rack in racks]}]
    return {"halls": [{"name": "hall1", "rows": rows}], "power": {"derating": 0.8}, **sections}


def site(**sections: Any) -> SiteSpec:  # noqa: ANN401
    """Return a site of some sections; what is left out is as small as it can be."""
    data = {
        "site": {"name": "t", "domain": "t.example.net", "admin_key_file": "k", "bmc_credentials": "env:BMC"},
        "facility": facility([{"name": "r01"}]),
        "addressing": {"management": {"subnet": "10.0.0.0/16"}},
        "node_pools": {},
        **sections,
    }
    allocations = data.pop("allocations", {})
    return SiteSpec(Path("t"), Sections.model_validate(data), catalog(), Marks("t"), (), allocations=allocations)


def pool(nodes: str, rack: str = "r01", system: str = "dgx-h100", **place: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a pool of the nodes that a pattern stands for."""
    where = {"rack": rack, "rack_unit": 1, **place}
    return {"system": system, "role": "training", "nodes": {nodes: where}}


def superpod(nodes: int, *, managers: bool, **fabric: Any) -> SiteSpec:  # noqa: ANN401
    """Return a SuperPOD of some nodes; where they stand does not matter here."""
    ufm = {"managers": {"name": "ufm[01-02]", "ports_each": 2}} if managers else {}
    return site(
        fabrics={"compute": {**SUPERPOD_FABRIC, **ufm, **fabric}},
        node_pools={"su": pool(f"n[0001-{nodes:04d}]")},
    )
