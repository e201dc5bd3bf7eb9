"""Ports that are broken out: their names, their rates, and what is left for uplinks."""

from __future__ import annotations

from typing import Any

import pytest

from coldaisle.plan.breakout import model_of
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.spec.fabrics import SwitchGroup
from tests.unit.floor_sites import catalog, pool, site


def _ports(**group: Any) -> tuple[str, ...]:  # noqa: ANN401 - fields of a group
    return model_of(catalog(), SwitchGroup(model="sn5600", **group)).port_names()


def test_a_port_is_broken_out_into_lanes() -> None:
    """Half of 64 ports in two each: 64 ports with their lanes from 0, then the 32 that stay whole."""
    names = _ports(breakout=2)
    assert names[:3] == ("swp1s0", "swp1s1", "swp2s0")
    assert names[63:66] == ("swp32s1", "swp33", "swp34")
    assert len(set(names)) == len(names) == 64 + 32


def test_eight_lanes_take_the_next_port_too() -> None:
    """When port 55 is broken out into eight, port 56 is disabled: it has no name."""
    names = _ports(breakout=8, breakout_ports=28)
    assert "swp55s7" in names
    assert not {name for name in names if name.startswith("swp56")}
    assert names[-8:] == tuple(f"swp{port}" for port in range(57, 65))


@pytest.mark.parametrize(("lanes", "rate_gbps"), [(2, 400), (4, 200)])
def test_f13_nodes_take_the_ports_that_are_broken_out(lanes: int, rate_gbps: int) -> None:
    """F13: nodes' cables end on lanes at the lower rate, and uplinks on whole ports at the full rate."""
    fabric = {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["compute"],
        "rail_optimized": True,
        "rails": 8,
        "leaf": {"model": "sn5600", "breakout": lanes},
        "spine": {"model": "sn5600", "count": 2},
    }
    plan = plan_fabrics(site(fabrics={"f": fabric}, node_pools={"p": pool("n[01-04]")}))["f"]
    ends = {(cable.kind, cable.rate_gbps, "s" in cable.b.port[3:], "s" in cable.a.port[3:]) for cable in plan.cables}
    assert ends == {("node-leaf", rate_gbps, True, False), ("leaf-spine", 800, False, False)}
    assert plan.switches[0].ports == 32 * lanes + 32


@pytest.mark.parametrize(("breakout", "uplinks"), [(None, 32), (2, 32)])
def test_no_uplink_lands_in_a_slow_port_behind_fast_ones(breakout: int | None, uplinks: int) -> None:
    """Arista's 64 ports of 800G have two of 25G behind them, which no link between switches takes, at either end."""
    fabric = {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["compute"],
        "nodes_per_leaf_group": 4 * (breakout or 1),
        "leaf": {"model": "arista-7060x6-64pe", "breakout": breakout},
        "spine": {"model": "arista-7060x6-64pe"},
        "oversubscription": 0.25,
    }
    plan = plan_fabrics(site(fabrics={"f": fabric}, node_pools={"p": pool("n[01-32]")}))["f"]
    links = [cable for cable in plan.cables if cable.kind == "leaf-spine"]
    assert {cable.rate_gbps for cable in links} == {800}
    leaves = {cable.a.device for cable in links}
    assert {sum(cable.a.device == leaf for cable in links) for leaf in leaves} == {uplinks}
    assert not {cable.b.port for cable in links} & {"Ethernet65", "Ethernet66"}


def test_no_link_to_a_core_lands_in_a_slow_port() -> None:
    """With three tiers, the upper half of a spine's fast ports goes up, and the slow ones behind them stay dark."""
    arista = {"model": "arista-7060x6-64pe"}
    fabric = {
        "kind": "ethernet",
        "topology": "leaf-spine",
        "connects": ["compute"],
        "nodes_per_leaf_group": 4,
        "leaf": arista,
        "spine": arista,
        "oversubscription": 2,
    }
    plan = plan_fabrics(site(fabrics={"f": fabric}, node_pools={"p": pool("n[001-272]")}))["f"]
    links = [cable for cable in plan.cables if cable.kind == "spine-core"]
    assert links
    assert {cable.rate_gbps for cable in links} == {800}
