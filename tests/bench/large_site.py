"""A site of 2,048 DGX H100 and three tiers of InfiniBand, made from the pod of 127: sixteen times as much of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
UNITS = 64
"""Scalable units of 32 nodes in eight racks."""


def write(folder: Path) -> None:
    """Write the site's spec into a folder."""
    sections: dict[str, Any] = {}
    for path in sorted((ROOT / "inventory" / "h100-pod").glob("*.yaml")):
        sections |= yaml.safe_load(path.read_text())
    for unused in ("serving", "autoscaling", "allocations"):
        sections.pop(unused, None)
    sections["site"]["name"] = "large"
    sections["node_pools"] = _pools(sections["node_pools"]["su1"])
    _grow_facility(sections["facility"])
    _grow_fabrics(sections["fabrics"])
    sections["addressing"] = {
        "bmc": {"subnet": "10.32.0.0/19", "first": "10.32.0.11"},
        "switches": {"subnet": "10.33.0.0/19", "first": "10.33.0.11"},
        "management": {"subnet": "10.34.0.0/19", "first": "10.34.1.1", "gateway": "10.34.0.1"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections))


def _pools(like: dict[str, Any]) -> dict[str, Any]:
    units = [1 + 8 * unit for unit in range(UNITS)]
    return {f"su{first // 8 + 1}": {**like, "nodes": _nodes(f"r[{first:03}-{first + 7:03}]")} for first in units}


def _nodes(racks: str) -> dict[str, Any]:
    return {f"{racks}-n[1-4]": {"rack": racks, "rack_unit": [3, 13, 23, 33]}}


def _grow_facility(facility: dict[str, Any]) -> None:
    rows = facility["halls"][0]["rows"]
    compute, network = rows[0]["racks"][0], rows[2]["racks"][0]
    grown = [
        {"name": f"row{unit + 1}", "offset_m": 3 * unit, "racks": [{**compute, "name": _racks(unit)}]}
        for unit in range(UNITS)
    ]
    # Other switches stand in these racks: their supplies go to the breakers in turn, and no breaker is for rack units.
    for feed in network["power_feeds"]:
        del feed["pdu"]
        feed["banks"] = [{**bank, "rack_units": [], "breaker_a": 32} for bank in feed["banks"]]
    grown.append({"name": "network", "offset_m": 3 * UNITS, "racks": [{**network, "name": "n[001-300]"}]})
    facility["halls"][0]["rows"] = grown
    for each in facility["power"]["upstream"]:
        each["capacity_w"] *= 20
    for each in facility["cooling"]:
        each["units"] *= 20
    for each in facility["devices"]:
        each["rack"] = f"n{290 + int(each['rack'][1:])}"


def _racks(unit: int) -> str:
    return f"r[{1 + 8 * unit:03}-{8 + 8 * unit:03}]"


def _grow_fabrics(fabrics: dict[str, Any]) -> None:
    """Give each fabric switches' places enough, and the compute fabric a third tier."""
    compute = fabrics["compute"]
    compute["leaf"]["racks"], compute["spine"]["racks"] = ["n[001-064]"], ["n[065-128]"]
    compute["core"] = {**compute["spine"], "racks": ["n[129-192]"]}
    for position, name in enumerate(("storage", "inband", "oob")):
        fabric, first = fabrics[name], 193 + 32 * position
        fabric["leaf"]["racks"], fabric["leaf"]["rack_units"] = (
            [f"n[{first:03}-{first + 15:03}]"],
            list(range(2, 26, 2)),
        )
        fabric["spine"]["racks"], fabric["spine"]["rack_units"] = (
            [f"n[{first + 16:03}-{first + 31:03}]"],
            [26, 28, 30, 32],
        )
        fabric["core"] = {**fabric["spine"], "name": f"{name}-core", "rack_units": [34, 36, 38, 40]}
        first_asn = 4200010000 + 10000 * position
        fabric["asn"] = {"core": first_asn, "spine_first": first_asn + 1, "leaf_first": first_asn + 2000}
        fabric["core"].pop("count", None)
        fabric["spine"].pop("count", None)
        fabric["links"]["subnet"] = f"10.{120 + position}.0.0/17"
        fabric["loopbacks"]["subnet"] = f"10.{120 + position}.128.0/17"
