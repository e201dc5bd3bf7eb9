"""Small halls made at random, for properties that hold of every hall: racks, feeds, a power chain, air and liquid."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from coldaisle.check import CheckedSite, Finding, check_site
from coldaisle.plan import plan_site
from coldaisle.spec.catalog import Catalog, System
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, site

SYSTEM = "box"
Hall = dict[str, Any]
"""Figures of a hall and of the one system that goes there; None is not known."""


def halls(*, racks: int = 3) -> st.SearchStrategy[Hall]:
    """Return a strategy of halls: some can take nothing, some many, and some have figures missing."""
    rack = st.fixed_dictionaries(
        {
            "height_u": st.integers(2, 12),
            "feeds": st.sampled_from(("ab", "abc", "ba", "a")),
            "breaker_a": st.sampled_from((8, 16, 32, 63)),
            "max_weight_kg": st.sampled_from((None, 100, 250)),
            "placed": st.booleans(),
            "cooling": st.sampled_from(("crah", None)),
        }
    )
    return st.fixed_dictionaries({
        "racks": st.lists(rack, min_size=1, max_size=racks),
        "height_u": st.integers(1, 3),
        "max_power_w": st.integers(200, 3000),
        "weight_kg": st.sampled_from((None, 20, 60)),
        "air_share": st.sampled_from((1.0, 0.3)),
        "psus": st.sampled_from(((2, 1), (4, 2), (6, 3), (6, 4), (1, 1))),
        "upstream_w": st.tuples(*(st.sampled_from((2500, 6000, 30_000)) for _ in range(4))),
        "efficiency": st.sampled_from((None, 0.9)),
        "catcher": st.booleans(),
        "air_w": st.sampled_from((4000, 20_000)),
        "liquid_w": st.sampled_from((2000, 20_000)),
        "count": st.integers(1, 8),
    })  # fmt: skip


def _system(hall: Hall) -> System:
    count, needed = hall["psus"]
    return System.model_validate({
        "vendor": "any", "description": "a box", "architecture": "x86_64", "firmware": "uefi", "source": "made up",
        "psus": {"count": count, "needed": needed, "needed_to_boot": needed},
        **{key: hall[key] for key in ("height_u", "max_power_w", "weight_kg", "air_share") if hall[key] is not None},
    })  # fmt: skip


def _rack(at: int, rack: Hall) -> dict[str, Any]:
    feed = {"voltage_v": 230, "voltage_reference": "line-to-neutral", "phases": 1, "breaker_a": rack["breaker_a"]}
    given = {key: rack[key] for key in ("max_weight_kg", "cooling") if rack[key] is not None}
    feeds = [{"name": name, **feed, "upstream": f"ups-{name}"} for name in rack["feeds"]]
    loop = {"liquid_cooling": "cdu"} if rack["cooling"] else {}
    return {"name": f"r{at + 1}", "height_u": rack["height_u"], "power_feeds": feeds, **given, **loop}


def _facility(hall: Hall) -> dict[str, Any]:
    utility, *ups = hall["upstream_w"]
    losses = {"efficiency": hall["efficiency"]} if hall["efficiency"] else {}
    chain: list[dict[str, Any]] = [{"name": "utility", "kind": "utility", "capacity_w": 2 * utility}]
    for name, capacity_w in zip("abc", ups, strict=True):
        chain.append({"name": f"ups-{name}", "kind": "ups", "capacity_w": capacity_w, "fed_by": "utility", **losses})
    if hall["catcher"]:
        chain[-1]["catcher_for"] = ["ups-a"]
    cooling = [
        {"name": "crah", "kind": "air", "units": 2, "capacity_w_each": hall["air_w"], "redundant": 1},
        {"name": "cdu", "kind": "liquid", "units": 2, "capacity_w_each": hall["liquid_w"], "redundant": 1},
    ]
    racks = [_rack(at, rack) for at, rack in enumerate(hall["racks"])]
    return facility(racks, cooling=cooling, power={"derating": 0.8, "upstream": chain})


def placed(hall: Hall) -> dict[str, dict[str, Any]]:
    """Return the nodes that stand in a hall: one at the bottom of each rack that has one."""
    racks = enumerate(hall["racks"], start=1)
    return {f"r{at}-n1": {"rack": f"r{at}", "rack_unit": 1} for at, rack in racks if rack["placed"]}


def opened(hall: Hall, more: dict[str, dict[str, Any]] | None = None) -> CheckedSite:
    """Return a hall as a site that is planned and checked, with more nodes in its pool."""
    nodes = {**placed(hall), **(more or {})}
    pools = {"p": {"system": SYSTEM, "role": "training", "count": len(placed(hall)) + hall["count"], "nodes": nodes}}
    spec = site(facility=_facility(hall), node_pools=pools)
    return _checked(replace(spec, catalog=Catalog(systems={SYSTEM: _system(hall)})))


def _checked(spec: SiteSpec) -> CheckedSite:
    plan = plan_site(spec)
    return CheckedSite(spec, plan, check_site(spec, plan))


def new_findings(before: CheckedSite, after: CheckedSite) -> set[Finding]:
    """Return what the checks find in one site and not in another, but for how many nodes a pool shall have."""
    counts = ("pool-incomplete", "pool-count")
    return {found for found in after.findings if found not in before.findings and found.check not in counts}


def most_by_trying(hall: Hall, most_each: int) -> int:
    """Return how many nodes more a hall takes, by trying every number in every rack."""
    before, most = opened(hall), 0
    for counts in product(range(most_each + 1), repeat=len(hall["racks"])):
        if sum(counts) > most and _stands(hall, before, counts):
            most = sum(counts)
    return most


def _stands(hall: Hall, before: CheckedSite, counts: tuple[int, ...]) -> bool:
    """Return whether some nodes more in each rack, one on the other, break no rule."""
    new: dict[str, dict[str, Any]] = {}
    for at, (rack, count) in enumerate(zip(hall["racks"], counts, strict=True), start=1):
        first = 1 + (hall["height_u"] if rack["placed"] else 0)
        for more in range(count):
            unit = first + more * hall["height_u"]
            new[f"r{at}-x{more}"] = {"rack": f"r{at}", "rack_unit": unit}
    found = new_findings(before, opened(hall, new))
    return not any(each.severity == "error" for each in found)
