"""Counts of switches and links, against the tables that vendors print."""

from __future__ import annotations

from collections import Counter

import pytest

from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.topology import Demand, even_spread, leaf_spine_links, size, spine_core_links
from tests.unit.floor_sites import superpod

# Nodes, fabric managers, leaves, spines, cores, node-leaf cables, leaf-spine, spine-core.
# NVIDIA DGX SuperPOD reference architectures for H100 (up to 16 units) and B200 (32 units), table of larger counts.
PRINTED = [
    pytest.param(31, True, 8, 4, 0, 252, 256, 0, id="1su"),
    pytest.param(63, True, 16, 8, 0, 508, 512, 0, id="2su"),
    pytest.param(95, True, 24, 16, 0, 764, 768, 0, id="3su"),
    pytest.param(127, True, 32, 16, 0, 1020, 1024, 0, id="4su"),
    pytest.param(256, False, 64, 32, 0, 2048, 2048, 0, id="8su"),
    pytest.param(512, False, 128, 128, 64, 4096, 4096, 4096, id="16su"),
    pytest.param(1024, False, 256, 256, 128, 8192, 8192, 8192, id="32su"),
]


@pytest.mark.parametrize(
    ("nodes", "managers", "leaves", "spines", "cores", "node_leaf", "leaf_spine", "spine_core"), PRINTED
)
def test_a_superpod_is_what_its_table_prints(  # noqa: PLR0913, PLR0917 - a row of the table
    nodes: int,
    managers: bool,  # noqa: FBT001 - a cell of the row
    leaves: int,
    spines: int,
    cores: int,
    node_leaf: int,
    leaf_spine: int,
    spine_core: int,
) -> None:
    """Switches and cables of a SuperPOD equal the printed row, with its fabric managers in a node's place."""
    plan = plan_fabrics(superpod(nodes, managers=managers))["compute"]
    roles = Counter(switch.role for switch in plan.switches)
    kinds = Counter(cable.kind for cable in plan.cables)
    assert (roles["leaf"], roles["spine"], roles["core"]) == (leaves, spines, cores)
    assert (kinds["node-leaf"], kinds["leaf-spine"], kinds["spine-core"]) == (node_leaf, leaf_spine, spine_core)
    assert plan.tiers == (3 if cores else 2)


@pytest.mark.parametrize("nodes", [31, 127, 512])
def test_no_port_of_a_superpod_holds_two_cables(nodes: int) -> None:
    """Every cable end has a port of its own, and no switch has more cables than ports."""
    plan = plan_fabrics(superpod(nodes, managers=nodes < 256))["compute"]
    ends = Counter((end.device, end.port) for cable in plan.cables for end in (cable.a, cable.b))
    assert max(ends.values()) == 1
    assert all(switch.ports_used <= switch.ports == 64 for switch in plan.switches)


def test_managers_sit_where_the_last_node_would() -> None:
    """UFM's four ports take the last place of the last unit, one on each of the first rails."""
    plan = plan_fabrics(superpod(127, managers=True))["compute"]
    ufm = [(c.a.device, c.a.port, c.b.device, c.b.port) for c in plan.cables if c.a.device.startswith("ufm")]
    assert ufm == [
        ("ufm01", "ib0", "leaf25", "16/2"),
        ("ufm01", "ib1", "leaf26", "16/2"),
        ("ufm02", "ib0", "leaf27", "16/2"),
        ("ufm02", "ib1", "leaf28", "16/2"),
    ]


def test_spines_divide_the_uplinks_of_a_leaf() -> None:
    """Three units get 16 spines where a plain ceil() gives 12, which would leave pairs uneven."""
    assert even_spread(24 * 32, 64, 32) == 16
    assert even_spread(128 * 32, 64, 32) is None


def test_a_count_of_spines_that_was_bought_is_kept() -> None:
    """A given count of spines gets the uplinks dealt out evenly."""
    tiers = size(Demand(groups=1, rails=4, uplinks=8, spine_ports=64, core_ports=64, spines=2))
    assert (tiers.spines, tiers.links_leaf_spine) == (2, 4)


def test_adding_a_group_keeps_every_link() -> None:
    """A leaf more moves no link of the leaves that were there."""
    before, after = (
        size(Demand(groups=groups, rails=8, uplinks=32, spine_ports=64, core_ports=64, spines=16)) for groups in (3, 4)
    )
    assert set(leaf_spine_links(before)) <= set(leaf_spine_links(after))


def test_three_tiers_reach_every_core_evenly() -> None:
    """In three tiers each spine has as many links up as down, and each core is full."""
    tiers = size(Demand(groups=16, rails=8, uplinks=32, spine_ports=64, core_ports=64))
    links = spine_core_links(tiers)
    assert set(Counter(link.lower for link in links).values()) == {32}
    assert set(Counter(link.upper for link in links).values()) == {64}
