"""Sites of 2,048 and more DGX H100 and three tiers of InfiniBand, made from the pod of 127: so many times as much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
UNITS = 64
"""Scalable units of 32 nodes in eight racks: 2,048 nodes with 16,384 GPUs."""
UNITS_OF_65536_GPUS = 256
"""A hall of that size needs optics that reach further than those of the catalog, as the checks tell."""
SWITCH_RACKS = 600
"""Racks of switches beside those of 2,048 nodes."""


def write(folder: Path, units: int = UNITS) -> None:
    """Write a site's spec into a folder; `units` is 64, or a multiple of it."""
    sections: dict[str, Any] = {}
    for path in sorted((ROOT / "inventory" / "h100-pod").glob("*.yaml")):
        sections |= yaml.safe_load(path.read_text())
    for unused in ("serving", "autoscaling", "allocations"):
        sections.pop(unused, None)
    sections["site"]["name"] = "large"
    sections["node_pools"] = _pools(sections["node_pools"]["su1"], units)
    _grow_facility(sections["facility"], units)
    _grow_fabrics(sections["fabrics"], units // UNITS)
    sections["addressing"] = {
        "bmc": {"subnet": "10.32.0.0/17", "first": "10.32.0.11"},
        "switches": {"subnet": "10.33.0.0/17", "first": "10.33.0.11"},
        "management": {"subnet": "10.34.0.0/17", "first": "10.34.1.1", "gateway": "10.34.0.1"},
    }
    sections["cluster"]["pod_cidr"] = "10.64.0.0/12"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections))


def _pools(like: dict[str, Any], units: int) -> dict[str, Any]:
    return {f"su{unit + 1}": {**like, "nodes": _nodes(_racks(unit))} for unit in range(units)}


def _nodes(racks: str) -> dict[str, Any]:
    return {f"{racks}-n[1-4]": {"rack": racks, "rack_unit": [3, 13, 23, 33]}}


def _grow_facility(facility: dict[str, Any], units: int) -> None:
    """Stand the racks in rows of 32 and 64, those of switches in the middle, so that 100 m reach everywhere."""
    scale, rows = units // UNITS, facility["halls"][0]["rows"]
    compute, network = rows[0]["racks"][0], rows[2]["racks"][0]
    # Other switches stand in these racks: their supplies go to the breakers in turn, and no breaker is for rack units.
    for feed in network["power_feeds"]:
        del feed["pdu"]
        feed["banks"] = [{**bank, "rack_units": [], "breaker_a": 32} for bank in feed["banks"]]
    nodes = _rows("r", compute, units * 8, 32 * scale)
    half = len(nodes) // 2
    together = [*nodes[:half], *_rows("n", network, SWITCH_RACKS * scale, 50 * scale), *nodes[half:]]
    facility["halls"][0]["rows"] = [{**row, "name": f"row{at}", "offset_m": 3 * at} for at, row in enumerate(together)]
    for each in facility["power"]["upstream"]:
        each["capacity_w"] *= 20 * scale
    for each in facility["cooling"]:
        each["units"] *= 20 * scale
    for each in facility["devices"]:
        each["rack"] = f"n{SWITCH_RACKS * scale - 10 + int(each['rack'][1:]):04}"


def _rows(letter: str, rack: dict[str, Any], count: int, length: int) -> list[dict[str, Any]]:
    firsts = range(1, count + 1, length)
    return [{"racks": [{**rack, "name": f"{letter}[{first:04}-{first + length - 1:04}]"}]} for first in firsts]


def _racks(unit: int) -> str:
    return f"r[{1 + 8 * unit:04}-{8 + 8 * unit:04}]"


def _switch_racks(first: int, last: int) -> str:
    return f"n[{first:04}-{last:04}]"


def _grow_fabrics(fabrics: dict[str, Any], scale: int) -> None:
    """Give each fabric switches' places enough, and a third tier."""
    compute = fabrics["compute"]
    compute["core"] = dict(compute["spine"])
    for position, tier in enumerate(("leaf", "spine", "core")):
        compute[tier]["racks"] = [_switch_racks(1 + 64 * scale * position, 64 * scale * (position + 1))]
    if scale > 1:
        # 65,536 ports are all that three tiers of 64 carry: none is left for UFM, and 32 would not do for storage.
        del compute["managers"]
        fabrics["storage"]["leaf"]["model"] = fabrics["storage"]["spine"]["model"] = "sn5600"
    for position, name in enumerate(("storage", "inband", "oob")):
        _grow_fabric(fabrics[name], name, position, scale)


def _grow_fabric(fabric: dict[str, Any], name: str, position: int, scale: int) -> None:
    """Put two leaves, two spines and a core into each rack of the fabric."""
    first = 1 + scale * (192 + 128 * position)
    racks = [_switch_racks(first, first + 128 * scale - 1)]
    fabric["leaf"] |= {"racks": racks, "rack_units": [21, 23]}
    fabric["spine"] |= {"racks": racks, "rack_units": [25, 27]}
    fabric["core"] = {**fabric["spine"], "name": f"{name}-core", "rack_units": [30]}
    fabric["core"].pop("count", None)
    fabric["spine"].pop("count", None)
    first_asn = 4200010000 + 10000 * position
    fabric["asn"] = {"core": first_asn, "spine_first": first_asn + 1, "leaf_first": first_asn + 2000}
    fabric["links"]["subnet"] = f"10.{128 + 8 * position}.0.0/13"
    fabric["loopbacks"]["subnet"] = f"10.{120 + position}.0.0/16"
