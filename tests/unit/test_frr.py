"""Configurations of switches: complete, of the plan's values only, and refused for a switch that does not route."""

from __future__ import annotations

from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.frr import switch_config, switch_ports

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the simulated site."""
    return open_site(ROOT / "inventory" / "sim").plan


def test_a_leaf_speaks_to_each_spine_and_announces_its_nodes(plan: SitePlan) -> None:
    """A leaf has a session to both spines, its nodes' links and its loopback as networks, and equal paths."""
    lines = [line.strip() for line in switch_config(plan, "compute", "leaf01").splitlines()]
    assert "router bgp 65101" in lines
    assert [line for line in lines if "remote-as" in line] == [
        "neighbor 198.18.143.255 remote-as 65100",
        "neighbor 198.18.143.253 remote-as 65100",
    ]
    assert [line for line in lines if line.startswith("network")] == [
        "network 198.18.64.1/32",
        "network 198.18.128.0/31",
        "network 198.18.128.4/31",
        "network 198.18.128.8/31",
        "network 198.18.128.12/31",
    ]
    assert "maximum-paths 128" in lines
    assert not any("bfd" in line for line in lines)


def test_a_spine_announces_no_links(plan: SitePlan) -> None:
    """A spine announces its loopback only: every path to a node's link goes through the node's leaf."""
    config = switch_config(plan, "compute", "spine02")
    assert [line.strip() for line in config.splitlines() if line.strip().startswith("network")] == [
        "network 198.18.64.253/32"
    ]


def test_sessions_are_watched_when_asked(plan: SitePlan) -> None:
    """BFD is written for each session when asked for."""
    assert switch_config(plan, "compute", "leaf02", bfd=True).count(" bfd\n") == 2


def test_ports_are_seen_from_the_switch(plan: SitePlan) -> None:
    """A port says its own and its peer's end, whichever end of the cable the switch is, and the switch's MTU."""
    ports = {port.name: port for port in switch_ports(plan, "compute", "leaf02")}
    assert (ports["swp3"].peer, ports["swp3"].peer_port, ports["swp3"].peer_address) == (
        "r02-n01",
        "rail1",
        "198.18.128.11/31",
    )
    assert (ports["swp17"].peer, ports["swp17"].peer_is_switch, ports["swp17"].mtu_bytes) == ("spine01", True, 9216)


@pytest.mark.parametrize(
    ("fabric", "switch", "message"),
    [
        ("storage", "leaf01", "there is no fabric storage; known: compute, oob"),
        ("compute", "leaf09", "fabric compute has no switch leaf09"),
        ("oob", "oob01", "oob01 does not route"),
    ],
)
def test_what_does_not_route_has_no_configuration(plan: SitePlan, fabric: str, switch: str, message: str) -> None:
    """A switch that is not there or does not route is refused in words."""
    with pytest.raises(LookupError, match=message):
        switch_config(plan, fabric, switch)
