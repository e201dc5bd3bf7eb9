"""
The tables that vendors print, row by row, beside what is planned.

SuperPOD H100, B200 and B300 are in test_topology and test_planes. Where a row leaves open what hangs on a switch, what
was taken for it stands in a comment, marked C: it is the least that gives the printed count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil
from typing import Any

import pytest

from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import FabricPlan
from coldaisle.spec.catalog import PortBlock, Switch, System
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import catalog, pool, site

UNIT_NODES = 4
"""Nodes of a scalable unit of NVIDIA's Enterprise reference architectures."""
TWO_OF_400G: dict[str, Any] = {"model": "sn5600", "breakout": 2, "breakout_ports": 64}


def with_hardware(spec: SiteSpec, system: System | None = None, switch: Switch | None = None) -> SiteSpec:
    """Return a site whose catalog has a system and a switch of a vendor's document."""
    known = catalog()
    systems = {**known.systems, **({"vendor-node": system} if system else {})}
    switches = {**known.switches, **({"vendor-switch": switch} if switch else {})}
    return replace(spec, catalog=known.model_copy(update={"systems": systems, "switches": switches}))


def node_of(nics: dict[str, dict[str, Any]]) -> System:
    """Return a system of some ports."""
    facts = {"vendor": "v", "description": "d", "architecture": "x86_64", "firmware": "uefi", "source": "P: the table"}
    return System.model_validate({**facts, "nics": nics})


def switches_of(plan: FabricPlan) -> Counter[str]:
    """Count the switches of each role."""
    return Counter(switch.role for switch in plan.switches)


# -- NVIDIA Enterprise reference architectures --------------------------------------------------------------------
# CPUs-GPUs-NICs-average Gb/s a GPU. East-west ports are single ports of 400G, the other adapter has two of 200G.
# C: each adapter has a management port of its own, as a BlueField-3 has, and the node its BMC; 2-4-3 takes two more.
ARCHITECTURES = {"2-4-3-200": (2, 3 + 1 + 2), "2-8-5-200": (4, 5 + 1), "2-8-9-400": (8, 9 + 1)}
"""East-west ports of 400G a node, and ports on the out-of-band network."""

ENTERPRISE = [
    ("2-4-3-200", range(1, 5), True, 2),
    ("2-4-3-200", range(5, 7), True, 3),
    ("2-4-3-200", range(7, 9), True, 4),
    ("2-8-5-200", range(1, 5), True, 2),
    ("2-8-5-200", range(5, 6), True, 3),
    ("2-8-5-200", range(6, 7), False, 3),
    ("2-8-5-200", range(7, 9), False, 4),
    ("2-8-9-400", range(1, 3), True, 2),
    ("2-8-9-400", range(3, 4), True, 3),
    ("2-8-9-400", range(4, 5), False, 4),
]
"""Architecture, scalable units, one collapsed core for both networks or a pair for each, and out-of-band switches."""


def enterprise(name: str, units: int, *, collapsed: bool) -> SiteSpec:
    """Return a site of an Enterprise architecture: pairs of switches without a link, half of the ports on each."""
    rails, oob_ports = ARCHITECTURES[name]
    nics: dict[str, dict[str, Any]] = {
        f"ew{at}": {"rate_gbps": 400, "role": "compute", "plane": at % 2} for at in range(rails)
    }
    nics |= {f"ns{at}": {"rate_gbps": 200, "role": "storage", "plane": at} for at in range(2)}
    nics |= {f"bmc{at}": {"rate_gbps": 1, "role": "bmc"} for at in range(oob_ports)}
    nodes = units * UNIT_NODES
    pair = {"kind": "ethernet", "topology": "single", "planes": 2, "switch": TWO_OF_400G}
    apart = {"east-west": {**pair, "connects": ["compute"]}, "north-south": {**pair, "connects": ["storage"]}}
    oob = {
        "kind": "ethernet",
        "topology": "single",
        "connects": ["bmc"],
        "switch": {"model": "sn2201"},
        # Two out-of-band switches at least, so that half of the nodes stays in reach.
        "nodes_per_leaf_group": min(48 // oob_ports, ceil(nodes / 2)),
    }
    fabrics = {"core": {**pair, "connects": ["compute", "storage"]}} if collapsed else apart
    spec = site(fabrics={**fabrics, "oob": oob}, node_pools={"p": pool(f"n[01-{nodes:02d}]", system="vendor-node")})
    return with_hardware(spec, node_of(nics))


@pytest.mark.parametrize(
    ("name", "units", "collapsed", "oob"),
    [
        pytest.param(name, count, collapsed, oob, id=f"{name} {count}su")
        for name, counts, collapsed, oob in ENTERPRISE
        for count in counts
    ],
)
def test_an_enterprise_architecture_is_what_its_table_prints(
    name: str,
    units: int,
    collapsed: bool,  # noqa: FBT001 - a cell of the row
    oob: int,
) -> None:
    """Two collapsed core switches, or two for each network and no spine, and the printed out-of-band switches."""
    plans = plan_fabrics(enterprise(name, units, collapsed=collapsed))
    assert len(plans["oob"].switches) == oob
    for plan in plans.values():
        assert plan.name == "oob" or len(plan.switches) == 2
        assert all(switch.ports_used <= switch.ports for switch in plan.switches)
        assert all(cable.kind == "oob" for cable in plan.cables)
    rails, _ = ARCHITECTURES[name]
    core = [plan for plan in plans.values() if plan.name != "oob"]
    assert sum(len(plan.cables) for plan in core) == units * UNIT_NODES * (rails + 2)


# -- Asterfusion --------------------------------------------------------------------------------------------------
def test_asterfusions_rails_are_what_its_guide_prints() -> None:
    """64 nodes of four GPUs at 400G: four leaves, one a rail, and two spines of 64 ports of 800G; nothing blocks."""
    cx864e = {"model": "asterfusion-cx864e-n"}
    fabric = {
        "kind": "roce", "topology": "leaf-spine", "connects": ["compute"], "rail_optimized": True, "rails": 4,
        "nodes_per_leaf_group": 64, "leaf": {**cx864e, "breakout": 2}, "spine": cx864e, "mtu_bytes": 9216,
    }  # fmt: skip
    nics = {f"rail{at}": {"rate_gbps": 400, "role": "compute", "rail": at} for at in range(4)}
    spec = site(fabrics={"compute": fabric}, node_pools={"p": pool("n[01-64]", system="vendor-node")})
    plan = plan_fabrics(with_hardware(spec, node_of(nics)))["compute"]
    assert switches_of(plan) == {"leaf": 4, "spine": 2}
    assert Counter(cable.kind for cable in plan.cables) == {"node-leaf": 256, "leaf-spine": 128}
    assert plan.oversubscription == 1
    assert all(switch.ports_used <= switch.ports for switch in plan.switches)


# -- Juniper ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("uplink_gbps", "servers", "ratio"),
    [(200, 4, 1), (200, 8, 2), (400, 4, 1 / 2), (400, 8, 1), (800, 4, 1 / 4), (800, 8, 1 / 2)],
)
def test_junipers_stripes_are_what_their_table_prints(uplink_gbps: int, servers: int, ratio: float) -> None:
    """Two stripes of eight leaves and four spines: with an uplink to each spine, the printed oversubscription."""
    spine = Switch(
        vendor="Juniper",
        kind="ethernet",
        height_u=2,
        ports=[PortBlock(count=64, rate_gbps=uplink_gbps)],
        source="P: JVD AI data center, GPU backend fabric: 64 ports, run at the rates of the table",
    )
    fabric = {
        "kind": "roce", "topology": "leaf-spine", "connects": ["compute"], "rail_optimized": True, "rails": 8,
        "nodes_per_leaf_group": servers // 2, "uplinks_per_spine": 1, "oversubscription": 2, "mtu_bytes": 9216,
        "leaf": {"model": "sn5600"}, "spine": {"model": "vendor-switch", "count": 4},
    }  # fmt: skip
    spec = site(fabrics={"compute": fabric}, node_pools={"p": pool(f"n[1-{servers}]")})
    plan = plan_fabrics(with_hardware(spec, switch=spine))["compute"]
    assert switches_of(plan) == {"leaf": 16, "spine": 4}
    assert plan.oversubscription == ratio
    up = sum(cable.rate_gbps for cable in plan.cables if cable.kind == "leaf-spine")
    down = sum(cable.rate_gbps for cable in plan.cables if cable.kind == "node-leaf")
    assert (up, down) == (16 * 4 * uplink_gbps, servers * 8 * 400)
