"""What a twin is made of and what it promises, without running it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import CablePlan, End, FabricPlan, SitePlan, SwitchPlan
from sim.errors import SimError
from sim.kernel_room import NEIGHBOURS, QUEUE, require_room
from sim.twin.cables import Joint, Mistakes, joints
from sim.twin.ethernet import need_of
from sim.twin.features import feature_checks
from sim.twin.paths import Failure, Graph, failures, survives, touched, watched
from sim.twin.reach import asks, compare_mtus, reach_checks
from sim.twin.routing import (
    overlay_check,
    paths_check,
    planned_overlay_sessions,
    planned_paths,
    planned_sessions,
    sessions_check,
)
from sim.twin.switches import configurations
from sim.twin.topology import Endpoint, Twin, kernel_name, twin_of
from sim.twin.wires import host_commands, mtus, wiring_of
from tests import twin_sites


@pytest.fixture(scope="module")
def twin() -> Twin:
    """Return the twin of the simulated site's fabric: two spines, two leaves of a rail each, two of four hosts."""
    return twin_of(open_site(Path(__file__).parents[2] / "inventory/sim").plan, "compute", 1)


ROLES: tuple[Literal["leaf", "spine", "core"], ...] = ("leaf", "spine", "core")


def end(text: str) -> End:
    """Return an end from `device:port`."""
    device, _, port = text.partition(":")
    return End(device=device, port=port)


def fabric(links: Iterable[str]) -> FabricPlan:
    """Return a fabric of links such as `leaf01-spine01`, lower end first; roles are the names' beginnings."""
    pairs = [link.split("-") for link in links]
    cables = [
        CablePlan(a=end(f"{low}:up{at}"), b=end(f"{high}:down{at}"), rate_gbps=1, kind="leaf-spine")
        for at, (low, high) in enumerate(pairs)
    ]
    names = sorted({name for pair in pairs for name in pair})
    switches = [
        SwitchPlan(
            name=name,
            role=next(role for role in ROLES if name.startswith(role)),
            model="m",
            rack=None,
            ports=9,
            ports_used=9,
        )
        for name in names
    ]
    return FabricPlan(
        name="f", kind="roce", topology="leaf-spine", rails=1, tiers=2, switches=tuple(switches),
        cables=tuple(cables), oversubscription=None, mtu_bytes=9216,
    )  # fmt: skip


PODS = ("leaf01-spine01", "leaf01-spine02", "leaf02-spine01", "leaf02-spine02", "leaf03-spine03", "leaf03-spine04",
        "spine01-core01", "spine01-core02", "spine03-core01", "spine03-core02",
        "spine02-core03", "spine02-core03", "spine04-core03", "spine04-core03")  # fmt: skip
"""Two pods, and two planes of cores: of two cores, and of one with two links to each spine."""


def endpoint(device: str, leaf: str, rail: int | None = 0, mtu: int = 9000) -> Endpoint:
    """Return an address of a device at a leaf."""
    address = f"10.0.{int(leaf[-2:])}.{int(device[-2:])}"
    return Endpoint(device, address, f"{address}/32", leaf, rail, mtu)


# -- what runs --------------------------------------------------------------------------------------------------
def test_whole_hosts_run_and_at_least_two(twin: Twin) -> None:
    """One host a leaf would leave nobody to talk to, so two run, with both rails each, of four that are planned."""
    assert (twin.hosts, twin.hosts_planned) == (("r01-n01", "r01-n02"), 4)
    assert [(each.device, each.leaf, each.rail, each.mtu_bytes) for each in twin.endpoints] == [
        ("r01-n01", "leaf01", 0, 9000), ("r01-n01", "leaf02", 1, 9000),
        ("r01-n02", "leaf01", 0, 9000), ("r01-n02", "leaf02", 1, 9000),
    ]  # fmt: skip


def test_configurations_are_those_of_all_planned_hosts(twin: Twin) -> None:
    """A switch runs what it would be given, with the networks of hosts that do not run here."""
    text = configurations(twin)["leaf01"]
    assert "neighbor 198.18.143.255 remote-as 65100" in text
    assert text.count("  network ") == 5


def test_what_does_not_route_is_refused() -> None:
    """The out-of-band network has no routes to run."""
    plan = open_site(Path(__file__).parents[2] / "inventory/sim").plan
    with pytest.raises(SimError, match="its switches do not route"):
        twin_of(plan, "oob", 1)


@pytest.mark.parametrize(
    ("port", "name"),
    [("swp1s0", "swp1s0"), ("Ethernet1/1", "Ethernet1.1"), ("Ethernet48/1/1:2", "Ethernet48~f7cd")],
)
def test_a_port_has_a_name_that_the_kernel_takes(port: str, name: str) -> None:
    """No slash, no colon, and at most 15 characters, which stay different from each other's."""
    assert kernel_name(port) == name


def test_a_host_sends_by_the_port_whose_address_it_uses(twin: Twin) -> None:
    """Each port has its MTU and a table of its own, as the plan's files for hosts say."""
    joined = joints(twin.fabric.cables, Mistakes())
    assert host_commands(twin.host_ports, joined)["r01-n01"] == [
        "link set rail0 mtu 9000",
        "rule add from 198.18.128.1 lookup 101 priority 101",
        "route add default via 198.18.128.0 dev rail0 table 101",
        "link set rail1 mtu 9000",
        "rule add from 198.18.128.3 lookup 102 priority 102",
        "route add default via 198.18.128.2 dev rail1 table 102",
    ]


def test_every_cable_is_a_link_with_the_switch_mtu(twin: Twin) -> None:
    """Links are the plan's cables of what runs; hosts have their addresses, switches get theirs from FRR."""
    wires = wiring_of(twin, joints(twin.fabric.cables, Mistakes()))
    assert {(link.a.device, link.a.name, link.b.device, link.b.name) for link in wires.links} >= {
        ("r01-n01", "rail0", "leaf01", "swp1"), ("leaf02", "swp18", "spine02", "swp2")
    }  # fmt: skip
    assert len(wires.links) == 8
    assert {link.mtu_bytes for link in wires.links} == {9216}
    assert [link.a.addresses for link in wires.links if link.a.device == "r01-n01"] == [
        ("198.18.128.1/31",), ("198.18.128.3/31",)
    ]  # fmt: skip
    assert mtus(twin)[end("r01-n01:rail0")] == 9000


def test_a_table_of_neighbours_that_is_too_small_is_told(twin: Twin) -> None:
    """What is needed and the setting that gives it are in the message."""
    with pytest.raises(SimError, match=r"gc_thresh3 is 10, and 20 are needed\n.*gc_thresh3=40"):
        require_room(need_of(twin), "run fewer hosts a leaf", dict.fromkeys((*NEIGHBOURS, QUEUE), 10))


# -- mistakes ---------------------------------------------------------------------------------------------------
def test_pulled_and_swapped_cables(twin: Twin) -> None:
    """A pulled cable is not there; of two swapped ones, the upper plugs are exchanged. Either end names a cable."""
    joined = joints(twin.fabric.cables, Mistakes(("spine01:swp1",), (("leaf01:swp18", "leaf02:swp17"),)))
    assert len(joined) == 7
    assert {Joint(end("leaf01:swp18"), end("spine01:swp2")), Joint(end("leaf02:swp17"), end("spine02:swp1"))} <= set(
        joined
    )


@pytest.mark.parametrize(
    ("mistakes", "message"),
    [
        (Mistakes(("leaf01:swp9",)), "leaf01 has leaf01:swp1, leaf01:swp2, leaf01:swp17, leaf01:swp18"),
        (Mistakes(("r02-n01:rail0",)), "an absent host has none"),
        (Mistakes(("leaf01:swp17",), (("spine01:swp1", "leaf02:swp17"),)), "one cable is named twice"),
    ],
)
def test_a_cable_that_cannot_be_meant_is_told(twin: Twin, mistakes: Mistakes, message: str) -> None:
    """A name that fits nothing, a host that does not run, and one cable under two names."""
    with pytest.raises(SimError, match=message):
        joints(twin.fabric.cables, mistakes)


# -- paths ------------------------------------------------------------------------------------------------------
def test_equal_paths_in_two_tiers(tmp_path: Path) -> None:
    """Four spines give a leaf four paths to every other leaf, and each spine has the one straight down."""
    site: SitePlan = open_site(twin_sites.write(tmp_path / "twin", 4, 16)).plan
    paths = planned_paths(twin_of(site, "compute", 2))
    counts = {(switch.rstrip("0123456789"), count) for (switch, _), count in paths.items()}
    assert counts == {("leaf", 4), ("spine", 1)}
    assert len(paths) == 16 * (1 + 2) * (15 + 4)


def test_equal_paths_in_three_tiers() -> None:
    """Inside a pod through its spines; to another pod by all links on shortest paths; parallel links count."""
    counts = Graph(fabric(PODS)).equal_paths("leaf03")
    asked = ("leaf01", "leaf02", "spine01", "spine02", "spine03", "core01", "core03")
    assert {name: counts[name] for name in asked} == {
        "leaf01": 2, "leaf02": 2, "spine01": 2, "spine02": 2, "spine03": 1, "core01": 1, "core03": 2
    }  # fmt: skip


def test_no_path_goes_down_and_up_again() -> None:
    """A leaf between two spines is no way from one to the other."""
    counts = Graph(fabric(["leaf01-spine01", "leaf02-spine01", "leaf02-spine02", "leaf03-spine02"])).equal_paths(
        "leaf03"
    )
    assert (counts["leaf02"], counts.get("leaf01", 0), counts["spine01"]) == (1, 0, 0)


def test_what_the_plan_survives() -> None:
    """Two links to one spine survive the loss of either, and not of the spine; with two spines both."""
    double = fabric(["leaf01-spine01", "leaf01-spine01", "leaf02-spine01", "leaf02-spine01"])
    assert [(one.kind, survives(double, one)) for one in failures(double, ())] == [("link", True)] * 4 + [
        ("spine", False)
    ]
    pods = fabric(PODS)
    assert {(one.kind, survives(pods, one)) for one in failures(pods, ())} == {
        ("link", True),
        ("spine", True),
        ("core", True),
    }


def test_a_failure_that_cuts_one_leaf_off_is_not_survived() -> None:
    """That the other leaves still reach each other is not enough."""
    one = fabric(["leaf01-spine01", "leaf02-spine01", "leaf03-spine01", "leaf01-spine02", "leaf02-spine02"])
    assert {each.name: survives(one, each) for each in failures(one, ()) if each.kind == "spine"} == {
        "spine01": False, "spine02": True
    }  # fmt: skip


def test_a_leaf_is_tried_where_its_hosts_have_another_one() -> None:
    """A host with one leaf loses everything with it, which no plan survives."""
    links = ("leaf01-spine01", "leaf02-spine01", "leaf03-spine01")
    ends = [endpoint("n01", "leaf01"), endpoint("n01", "leaf02", 1),
            endpoint("n02", "leaf02", 1), endpoint("n02", "leaf01"),
            endpoint("n03", "leaf03")]  # fmt: skip
    assert [one.name for one in failures(fabric(links), ends) if one.kind == "leaf"] == ["leaf01", "leaf02"]


def test_watched_traffic_crosses_what_fails_and_is_between_two_devices() -> None:
    """Of a link, its leaf and the next one; of a leaf, the other addresses of its hosts; never a host with itself."""
    one = fabric(["leaf01-spine01", "leaf02-spine01", "leaf01-spine02", "leaf02-spine02"])
    ends = [endpoint(host, leaf, rail) for host in ("n01", "n02") for rail, leaf in enumerate(("leaf01", "leaf02"))]
    every = {(each.kind, each.name): each for each in failures(one, ends)}
    pairs = {
        key: [(a.device, a.leaf, b.device, b.leaf) for a, b in watched(one, each, ends)] for key, each in every.items()
    }
    assert pairs["link", "leaf02:up1 - spine01:down1"] == [("n01", "leaf02", "n02", "leaf01")]
    assert pairs["spine", "spine02"] == [("n01", "leaf01", "n02", "leaf02")]
    assert pairs["leaf", "leaf01"] == [("n01", "leaf02", "n02", "leaf02")]
    assert watched(one, every["spine", "spine01"], ends[:2]) == ()


def test_only_leaves_below_a_link_are_touched_by_it() -> None:
    """So that links of leaves that have nothing to do with each other can be tried one right after the other."""
    pods = fabric(PODS)
    every = {each.name: each for each in failures(pods, ())}
    assert touched(pods, every["leaf01:up0 - spine01:down0"]) == {"leaf01"}
    assert touched(pods, every["spine01:up6 - core01:down6"]) == {"leaf01", "leaf02"}
    assert touched(pods, every["core01"]) == {"leaf01", "leaf02", "leaf03"}
    assert touched(pods, Failure("leaf", "leaf02", "leaf02", ())) == {"leaf02"}


# -- comparisons ------------------------------------------------------------------------------------------------
def test_a_session_counts_at_both_ends_and_is_named_when_it_is_down(twin: Twin) -> None:
    """Eight ends of four sessions; one that is not there and one that is tried are told with their cables."""
    wanted = planned_sessions(twin)
    assert len(wanted) == 8
    assert sessions_check(wanted, dict.fromkeys(wanted, "Established")).status == "passed"
    seen = dict.fromkeys(wanted, "Established") | {("leaf01", "198.18.143.255"): "Active"}
    del seen["spine02", "198.18.143.220"]
    found = sessions_check(wanted, seen)
    assert (found.status, found.seen) == ("failed", "6 of 8 ends of BGP sessions are up")
    assert found.details == (
        "leaf01:swp17 to spine01:swp1 (198.18.143.255): Active",
        "spine02:swp2 to leaf02:swp18 (198.18.143.220): not configured",
    )


def test_an_overlay_has_sessions_and_tunnel_addresses_of_its_own() -> None:
    """Two leaves have an EVPN session to each of two spines; routes to their tunnel addresses are planned too."""
    overlay = twin_of(open_site(Path(__file__).parents[2] / "inventory/b200-roce").plan, "inband", 1)
    wanted = planned_overlay_sessions(overlay)
    assert len(wanted) == 8
    assert planned_paths(overlay)["inband-leaf01", "10.38.17.2/32"] == 10
    found = overlay_check(wanted, dict.fromkeys(wanted, "Established") | {("inband-leaf01", "10.38.16.254"): "Idle"})
    assert (found.seen, found.details) == (
        "7 of 8 ends of EVPN sessions are up",
        ("inband-leaf01 to inband-spine01 (10.38.16.254): Idle",),
    )


def test_more_paths_than_planned_are_as_wrong_as_fewer() -> None:
    """A route through a cable that should not be there is found, and one that is missing."""
    wanted = {("leaf01", "10.0.0.2/32"): 2, ("leaf01", "10.0.0.3/32"): 2, ("leaf02", "10.0.0.1/32"): 2}
    found = paths_check(wanted, {"leaf01": {"10.0.0.2/32": 3, "10.0.0.3/32": 2}, "leaf02": {}})
    assert found.seen == "1 of 3 routes have the planned number of equal paths"
    assert found.details == ("leaf01 has 3 of 2 paths to 10.0.0.2/32", "leaf02 has 0 of 2 paths to 10.0.0.1/32")


def test_who_is_asked_at_which_size() -> None:
    """Everybody but the own device, at the smaller of both MTUs; the bytes of a ping leave room for its headers."""
    ends = [endpoint("n01", "leaf01"), endpoint("n01", "leaf02", 1), endpoint("n02", "leaf01", mtu=1500)]
    assert [(ask.source.leaf, [each.device for each in ask.targets], ask.payload_bytes) for ask in asks(ends)] == [
        ("leaf01", ["n02"], 1472), ("leaf02", ["n02"], 1472), ("leaf01", ["n01", "n01"], 1472)
    ]  # fmt: skip


def test_rails_are_judged_apart() -> None:
    """A pair that does not reach each other fails the check of its kind alone."""
    ends = [endpoint(host, leaf, rail) for host in ("n01", "n02") for rail, leaf in enumerate(("leaf01", "leaf02"))]
    inside, across = reach_checks(ends, [(ends[0], ends[3])])
    assert (inside.name, inside.status, inside.seen) == (
        "reach-in-rail", "passed", "4 of 4 pairs reach each other at 9000 bytes"
    )  # fmt: skip
    assert (across.name, across.status) == ("reach-across-rails", "failed")
    assert across.details == ("n01 10.0.1.1 does not reach n02 10.0.2.2",)
    (alone,) = reach_checks(ends[:2], [])
    assert alone.status == "not run"


def test_a_port_with_another_mtu_is_named() -> None:
    """The kernel's MTU is compared with the plan's, port by port."""
    found = compare_mtus(
        {end("n01:rail0"): 9000, end("n01:rail1"): 9000}, {end("n01:rail0"): 1500, end("n01:rail1"): 9000}
    )
    assert found.details == ("n01:rail0 should have 9000 bytes and has 1500",)


def test_what_the_twin_does_not_make_is_never_passed() -> None:
    """A configuration with tenants' VRFs makes a check that was not run, with the reason; one without makes none."""
    (found,) = feature_checks({"leaf01": "vrf tenant1\n vni 10\nexit\n".replace(" vni 10\n", ""), "leaf02": "!"})
    assert (found.name, found.status) == ("tenant-vrfs", "not run")
    assert "vrf" in found.seen
    assert feature_checks({"leaf01": "router bgp 65101\nvrf default\n"}) == ()
