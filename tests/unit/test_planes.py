"""Fabrics of several planes: each rail in every plane, no link between planes, and growth that moves nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from coldaisle.check.fabric.shape import check_paths, check_planes
from coldaisle.plan import plan_site
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.host_side import HostSide
from coldaisle.plan.model import FabricPlan
from coldaisle.render.host_files import os_files
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import pool, site

SN5600_OF_400G: dict[str, Any] = {"model": "sn5600", "breakout": 2, "breakout_ports": 64}
"""A switch of 128 ports of 400G: all of its 64 ports broken out into two."""


def dual_plane(nodes: int, **fabric: Any) -> SiteSpec:  # noqa: ANN401 - YAML holds anything
    """Return a site of B300 nodes whose ports are two of 400G, as the reference architecture has them."""
    compute = {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["compute"],
        "rail_optimized": True,
        "rails": 8,
        "planes": 2,
        "nodes_per_leaf_group": 64,
        "leaf": SN5600_OF_400G,
        "spine": SN5600_OF_400G,
        **fabric,
    }
    return site(
        fabrics={"compute": compute}, node_pools={"p": pool(f"n[001-{nodes:03d}]", system="dgx-b300-dual-plane")}
    )


def compute(spec: SiteSpec) -> FabricPlan:
    """Return the compute fabric's plan."""
    return plan_fabrics(spec)["compute"]


# Nodes, leaves, spines, cables of 400G from nodes and to spines. DGX SuperPOD B300: 64 nodes a unit, 16 leaves and 8
# spines over both planes; it prints cables as twin ports of 800G, of which a cable here is half.
@pytest.mark.parametrize(("nodes", "leaves", "spines", "twins"), [(64, 16, 8, 512), (128, 32, 16, 1024)])
def test_a_superpod_b300_is_what_its_table_prints(nodes: int, leaves: int, spines: int, twins: int) -> None:
    """16 leaves and 8 spines a scalable unit over both planes, and as many links up as down."""
    plan = compute(dual_plane(nodes))
    roles, kinds = Counter(s.role for s in plan.switches), Counter(cable.kind for cable in plan.cables)
    assert (roles["leaf"], roles["spine"], roles["core"]) == (leaves, spines, 0)
    assert kinds == {"node-leaf": 2 * twins, "leaf-spine": 2 * twins}
    assert {cable.rate_gbps for cable in plan.cables} == {400}
    assert plan.planes == 2


def test_no_link_joins_two_planes() -> None:
    """Every link between switches stays in its plane, and each plane has half of everything."""
    plan = compute(dual_plane(64))
    planes = {switch.name: switch.plane for switch in plan.switches}
    links = Counter((planes[c.a.device], planes[c.b.device]) for c in plan.cables if c.kind == "leaf-spine")
    assert links == {(0, 0): 512, (1, 1): 512}
    assert Counter(planes.values()) == {0: 12, 1: 12}


def test_each_rail_of_a_node_is_in_both_planes() -> None:
    """The two ports of a GPU go to two leaves, of one rail and of two planes."""
    plan = compute(dual_plane(64))
    leaves = {switch.name: (switch.rail, switch.plane) for switch in plan.switches}
    ends = {cable.a.port: leaves[cable.b.device] for cable in plan.cables if cable.a.device == "n064"}
    assert ends == {f"rail{rail}p{plane}": (rail, plane) for rail in range(8) for plane in (0, 1)}


def test_a_plane_grows_and_moves_nothing() -> None:
    """With a scalable unit more, every node's cable, and every switch with its plane and rail, is what it was."""
    before, after = compute(dual_plane(64)), compute(dual_plane(65))
    nodes = {(cable.a, cable.b) for cable in before.cables if cable.kind == "node-leaf"}
    assert nodes <= {(cable.a, cable.b) for cable in after.cables}
    assert {(s.name, s.plane, s.rail) for s in before.switches} <= {(s.name, s.plane, s.rail) for s in after.switches}


def test_three_tiers_have_planes_too() -> None:
    """With switches of few ports, spines and cores keep to their plane, and no port holds two cables."""
    small = {"model": "sn3700"}
    spec = dual_plane(160, leaf=small, spine=small, nodes_per_leaf_group=16)
    plan = compute(spec)
    planes = {switch.name: switch.plane for switch in plan.switches}
    assert plan.tiers == 3
    assert all(planes[c.a.device] == planes[c.b.device] for c in plan.cables if c.kind != "node-leaf")
    ends = Counter(end for cable in plan.cables for end in (cable.a, cable.b))
    assert max(ends.values()) == 1
    assert all(switch.ports_used <= switch.ports for switch in plan.switches)


def test_planes_that_nodes_lack_are_told() -> None:
    """A fabric of three planes is told that its nodes have ports in two."""
    spec = dual_plane(64, planes=3)
    found = list(check_planes(spec, plan_site(spec)))
    assert [finding.what for finding in found] == [
        "dgx-b300-dual-plane has ports in 2 planes, and fabric compute has 3"
    ]


def test_the_planes_of_a_rail_route_by_tables_of_their_own() -> None:
    """Two routed ports of one rail have two routing tables, or one default route would replace the other."""
    macs = {f"rail0p{plane}": f"52:54:00:00:00:0{plane}" for plane in (0, 1)}
    spec = dual_plane(1, kind="roce", mtu_bytes=9216)
    sections = spec.sections.model_dump(exclude_unset=True) | {"hardware": {"n001": {"macs": macs}}}
    sections["addressing"]["fabric_links"] = {"subnet": "10.128.0.0/20"}
    plan = plan_site(site(**sections))
    texts = [
        file.content or ""
        for file in os_files(plan.nodes[0], plan.pools[0], HostSide())
        if file.path.endswith(".network")
    ]
    tables = [line for text in texts for line in text.splitlines() if line.startswith("Table=")]
    assert sorted(set(tables)) == ["Table=100", "Table=132"]


def test_leaves_of_two_planes_need_no_path_between_them() -> None:
    """A plane by itself is whole: nothing is said of the other plane's leaves."""
    spec = dual_plane(64)
    assert list(check_paths(spec, plan_site(spec))) == []
