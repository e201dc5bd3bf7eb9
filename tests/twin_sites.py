"""Sites with one fabric each, made from the simulated one: what a twin is run of in tests and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

SIM = Path(__file__).parents[1] / "inventory" / "sim"
RAILS = 2


def write(folder: Path, spines: int, leaves: int, **fabric: object) -> Path:
    """
    Write a site of two rails, two hosts a leaf, and return its folder.

    Args:
        folder: Where it goes; its name is the site's.
        spines: Spines, each with one link to each leaf.
        leaves: Leaves, an even number.
        fabric: What else the fabric's section says.
    """
    names = ("site", "catalog", "facility", "fabrics", "node_pools", "addressing")
    sections: dict[str, Any] = {}
    for name in names:
        sections |= yaml.safe_load((SIM / f"{name}.yaml").read_text(encoding="utf-8"))
    count = leaves // RAILS
    sections["site"]["name"] = folder.name
    racks = [f"r{number:02}" for number in range(1, max(count, spines, 2) + 1)]
    _facility(sections["facility"], racks)
    light = sections["node_pools"]["light"]
    light["nodes"] = {
        f"{rack}-n{at:02}": {"rack": rack, "rack_unit": 10 + 2 * at} for rack in racks[:count] for at in (1, 2)
    }
    sections["node_pools"] = {"light": light}
    compute = sections["fabrics"]["compute"]
    compute["leaf"] |= {"racks": racks[:count], "rack_units": [38, 40]}
    compute["spine"] |= {"count": spines, "racks": racks[:spines], "rack_units": [42]}
    sections["fabrics"] = {"compute": compute | {"nodes_per_leaf_group": 2} | fabric}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    return folder


def _facility(facility: dict[str, Any], racks: list[str]) -> None:
    """Give a facility as many racks like its first as are asked for, and power and air for them."""
    row = facility["halls"][0]["rows"][0]
    like = row["racks"][0]
    row["racks"] = [{**like, "name": name, "position_m": 0.6 * at} for at, name in enumerate(racks)]
    facility["devices"] = []
    for each in facility["power"]["upstream"]:
        each["capacity_w"] *= 10
    for each in facility["cooling"]:
        each["units"] *= 10
