"""What the facility costs: its ledgers and their checks, of 2,048 nodes and of 10,000 racks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.bench import large_site, meter
from tests.bench.meter import NotMeasuredError

IN_PROCESS = """
import json, sys, time
from pathlib import Path
from coldaisle.collector import collector_paused
from coldaisle.check.climate import CLIMATE_CHECKS
from coldaisle.check.cooling import COOLING_CHECKS
from coldaisle.check.power import POWER_CHECKS
from coldaisle.check.space import SPACE_CHECKS
from coldaisle.plan import plan_site
from coldaisle.plan.facility import plan_facility
from coldaisle.spec import load_site
spec = load_site(Path(sys.argv[1]))
plan = plan_site(spec)
checks = (*POWER_CHECKS, *SPACE_CHECKS, *COOLING_CHECKS, *CLIMATE_CHECKS)
with collector_paused():
    started = time.process_time()
    plan_facility(spec, plan.fabrics)
    found = [finding for check in checks for finding in check(spec, plan)]
    used = time.process_time() - started
print(json.dumps([used, len(plan.facility.racks), sum(finding.severity == "error" for finding in found)]))
"""
"""
Plans the facility of a site and checks it in a fresh process; loading, fabrics and imports are not in the figure. The
collector is paused, as every command does while it plans and checks.
"""

RACKS_A_PANEL = 20


def figures() -> dict[str, float]:
    """Return CPU seconds of plan and checks: 2,048 nodes in 1,112 racks, and 1,000 and 10,000 racks of four nodes."""
    with tempfile.TemporaryDirectory() as folder:
        large_site.write(Path(folder))
        nodes = _measured(folder, 8 * large_site.UNITS + large_site.SWITCH_RACKS)
    return {
        "facility_2048_cpu_s": nodes,
        "facility_1000_racks_cpu_s": _racks(1_000),
        "facility_10000_racks_cpu_s": _racks(10_000),
    }


def _racks(count: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        write_racks(Path(folder), count)
        return _measured(folder, count)


def write_racks(folder: Path, count: int) -> None:
    """
    Write a site of many racks into a folder.

    Each rack has four nodes and three feeds, of panels that serve twenty racks each; each ten panels hang on a UPS, and
    a catcher takes over for any UPS.
    """
    sections: dict[str, Any] = {}
    for path in sorted((large_site.ROOT / "inventory" / "h100-pod").glob("*.yaml")):
        sections |= yaml.safe_load(path.read_text())
    like = {"rack": sections["facility"]["halls"][0]["rows"][0]["racks"][0], "pool": sections["node_pools"]["su1"]}
    cooling = {"name": "crah", "kind": "air", "units": count, "capacity_w_each": 110_000, "redundant": count // 8}
    facility = {
        "halls": [{"name": "hall1", "rows": [_row(like["rack"], at, count) for at in range(count // RACKS_A_PANEL)]}],
        "power": {
            "derating": 0.8,
            "draw_rules": {"typical": 0.7, "transient": 1.2, "startup": 1.1},
            "upstream": list(_chain(count)),
        },
        "cooling": [cooling],
    }
    last = f"r[00001-{count:05}]"
    nodes = {f"{last}-n[1-4]": {"rack": last, "rack_unit": [3, 13, 23, 33]}}
    pool = {key: value for key, value in like["pool"].items() if key not in {"rdma", "nodes"}} | {"nodes": nodes}
    kept = {"site": {**sections["site"], "name": "racks"}, "facility": facility, "node_pools": {"all": pool}}
    kept["addressing"] = {
        "bmc": {"subnet": "10.32.0.0/14", "first": "10.32.0.11"},
        "management": {"subnet": "10.40.0.0/14", "first": "10.40.1.1", "gateway": "10.40.0.1"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(yaml.safe_dump(kept))


def _row(like: dict[str, Any], at: int, count: int) -> dict[str, Any]:
    first = 1 + at * RACKS_A_PANEL
    feeds = [{**feed, "upstream": f"panel-{feed['name']}-{at:04}"} for feed in like["power_feeds"]]
    name = f"r[{first:05}-{min(count, first + RACKS_A_PANEL - 1):05}]"
    return {"name": f"row{at}", "offset_m": 3 * at, "racks": [{**like, "name": name, "power_feeds": feeds}]}


def _chain(count: int) -> list[dict[str, Any]]:
    panels = count // RACKS_A_PANEL
    blocks = range((panels + 9) // 10)
    names = [f"ups-{feed}-{block:03}" for feed in "abc" for block in blocks]
    parts: list[dict[str, Any]] = [{"name": "utility", "kind": "utility", "capacity_w": 1e9}]
    parts.append({"name": "gen", "kind": "generator", "capacity_w": 1e9, "catcher_for": ["utility"]})
    parts += [{"name": n, "kind": "ups", "capacity_w": 9e6, "fed_by": "utility", "efficiency": 0.96} for n in names]
    parts.append({"name": "catcher", "kind": "ups", "capacity_w": 9e6, "fed_by": "utility", "catcher_for": names})
    parts += [
        {"name": f"panel-{feed}-{at:04}", "kind": "panel", "capacity_w": 9e5, "fed_by": f"ups-{feed}-{at // 10:03}"}
        for feed in "abc"
        for at in range(panels)
    ]
    return parts


def _measured(folder: str, racks: int) -> float:
    answer = meter.answer_of(IN_PROCESS, folder)
    used, counted, errors = answer
    if counted != racks or errors:
        raise NotMeasuredError(f"{counted} racks of {racks}, and {errors} errors")
    return float(used)
