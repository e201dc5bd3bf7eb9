"""What programs print, as a twin reads it; and what it makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from coldaisle.check import open_site
from coldaisle.plan.model import CablePlan, End, FabricPlan, SwitchPlan
from coldaisle.verify import Neighbour, Told, wanted
from coldaisle.verify.seen import Answer
from sim.errors import SimError
from sim.twin.cables import Mistakes, joints
from sim.twin.drills import Ground, _Pending, _settle, _Task, verdicts
from sim.twin.infiniband import Subnet, netlist_of, subnet_checks
from sim.twin.lldp import as_planned
from sim.twin.paths import Failure
from sim.twin.place import Place
from sim.twin.records import Drill, TwinReport, check, not_run
from sim.twin.report import as_json, print_reports
from sim.twin.run import Request, _names
from sim.twin.switches import parse_routes, parse_sessions
from sim.twin.topology import Twin, twin_of

SIM = Path(__file__).parents[2] / "inventory" / "sim"


def test_sessions_of_all_address_families_are_read() -> None:
    """FRR's summary has a family a key; a switch whose daemon does not answer has no sessions."""
    said = {
        "ipv4Unicast": {
            "routerId": "1.1.1.1",
            "peers": {"10.0.0.1": {"state": "Established"}, "swp1": {"state": "Idle"}},
        },
        "ipv6Unicast": {"peers": {"fd00::1": {"state": "Active"}}},
    }
    assert parse_sessions(json.dumps(said)) == {"10.0.0.1": "Established", "swp1": "Idle", "fd00::1": "Active"}
    assert parse_sessions("") == {}
    assert parse_sessions("Exiting: failed to connect to any daemons.") == {}


def test_live_next_hops_of_a_route_are_counted() -> None:
    """One next hop stands in the route itself; dead ones are none; a route of IPv6 may be in several entries."""
    said = [
        {"dst": "10.0.0.2", "gateway": "10.1.0.1", "dev": "swp1", "flags": []},
        {
            "dst": "10.0.1.0/31",
            "nexthops": [{"dev": "swp1", "flags": []}, {"dev": "swp2", "flags": ["dead", "linkdown"]}],
        },
        {"dst": "fd00::2", "gateway": "fe80::1", "dev": "swp1", "flags": []},
        {"dst": "fd00::2", "gateway": "fe80::2", "dev": "swp2", "flags": []},
    ]
    assert parse_routes(json.dumps(said)) == {"10.0.0.2/32": 1, "10.0.1.0/31": 1, "fd00::2/128": 2}
    assert parse_routes("") == {}


def test_neighbours_have_the_names_of_the_plan() -> None:
    """What the kernel calls Ethernet1.1 is compared as Ethernet1/1, at both ends of a link."""
    names = {End(device="leaf01", port="Ethernet1.1"): End(device="leaf01", port="Ethernet1/1")}
    seen = Neighbour(Told("leaf01", ("Ethernet1.1",)), Told("n01", ("rail0",)))
    (found,) = as_planned(Answer("leaf01", "lldp", (Told("leaf01"),), (seen,)), names).neighbours
    assert (found.local.ports[0], found.remote.ports) == ("Ethernet1/1", ("rail0",))


# -- InfiniBand -------------------------------------------------------------------------------------------------
DISCOVERED = """
Switch	4 "S-0000000000200000"		# "leaf01" base port 0 lid 1 lmc 0
[1]	"H-0000000000100000"[1](100001) 		# "n01 ib0" lid 2 4xSDR

Ca	1 "H-0000000000100000"		# "n01 ib0"
[1](100001) 	"S-0000000000200000"[1]		# lid {lid} lmc 0 "leaf01" lid 1 4xSDR
"""


def subnet_fabric() -> FabricPlan:
    """Return a fabric of one leaf and one adapter."""
    cable = CablePlan(
        a=End(device="n01", port="ib0"), b=End(device="leaf01", port="1"), rate_gbps=400, kind="node-leaf"
    )
    leaf = SwitchPlan(name="leaf01", role="leaf", model="m", rack=None, ports=4, ports_used=1)
    return FabricPlan(
        name="ib", kind="infiniband", topology="leaf-spine", rails=1, tiers=2, switches=(leaf,), cables=(cable,),
        oversubscription=None, mtu_bytes=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("log", "lid", "failed"),
    [
        ("x -> ftree tables configured on all switches\nx -> SUBNET UP\n", 2, []),
        ("x -> ftree tables configured on all switches\nx -> Errors during initialization\n", 2, ["subnet-up"]),
        ("x -> minhop tables configured on all switches\nx -> SUBNET UP\n", 0, ["routing", "lids"]),
        ("", 2, ["subnet-up", "routing"]),
    ],
)
def test_a_subnet_is_up_with_fat_tree_routes_and_addresses(log: str, lid: int, failed: list[str]) -> None:
    """What opensm says decides, and a port without a LID is no part of the subnet."""
    site = open_site(SIM)
    none = wanted(site.spec, site.plan)
    checks, _ = subnet_checks(subnet_fabric(), none, Subnet(log, DISCOVERED.format(lid=lid), 1.0))
    assert [each.name for each in checks if each.status == "failed"] == failed


def test_a_netlist_has_every_cable_of_the_plan_twice() -> None:
    """Both ends of a cable say what is at the other; switch ports have their numbers of the catalog."""
    site = open_site(SIM.parent / "h100-pod")
    fabric = site.plan.fabrics["compute"]
    text = netlist_of(fabric, wanted(site.spec, site.plan), joints(fabric.cables, Mistakes()))
    assert text.count("\n[") == 2 * len(fabric.cables)
    assert text.count("Switch 64 ") == len(fabric.switches)


# -- single failures --------------------------------------------------------------------------------------------
def drill(name: str, *, outage: float | None = 12.5, restored: float | None = 900.0, flows: int = 16) -> Drill:
    """Return what a drill of a link found."""
    return Drill("link", name, flows, 2, outage, restored, 10.0, 40)


def test_every_failure_of_a_kind_has_to_be_survived_and_put_back() -> None:
    """Traffic that does not come back and routes that do not are failures, each by its name."""
    (good,) = verdicts([drill("a"), drill("b")], [])
    assert (good.name, good.status) == ("survives-link", "passed")
    (bad,) = verdicts([drill("a"), drill("b", outage=None), drill("c", restored=None)], [])
    assert (bad.status, bad.seen) == ("failed", "traffic survives 1 of 3, and each is put back")
    assert bad.details == (
        "b: 2 of 16 flows did not come back within 12 s",
        "c: routes were not as planned 30 s after it was put back",
    )


def test_a_failure_without_traffic_proves_nothing() -> None:
    """Where no probe crosses a link, or no two hosts are there, the check was not run."""
    (idle,) = verdicts([drill("a"), drill("b", flows=0)], [])
    assert (idle.status, idle.seen) == ("not run", "no traffic crosses 1 of 2: b")
    (alone,) = verdicts([], [Failure("spine", "spine01", "spine01", ())])
    assert (alone.name, alone.status) == ("survives-spine", "not run")


def test_routes_are_back_when_only_what_is_still_down_lacks_some() -> None:
    """A link is put back although routes of another one, which is still coming back, are not as planned."""
    twin: Twin = twin_of(open_site(SIM).plan, "compute", 1)
    lacking = [("spine01", "net of leaf01"), ("leaf02", "net of leaf01")]
    ground = Ground(
        twin,
        Place("s", "f"),
        2,
        lambda: lacking,
        lambda route: frozenset({route[1][-6:], route[0]} & {"leaf01", "leaf02"}),
    )
    pending = [
        _Pending(_Task(Failure("link", leaf, None, ()), (), frozenset({leaf})), drill(leaf, restored=None), 1e12)
        for leaf in ("leaf01", "leaf02")
    ]
    still, back = _settle(ground, pending)
    assert [each.drill.name for each in still] == ["leaf01"]
    assert [each.name for each in back] == ["leaf02"]
    assert back[0].restored_ms is not None


# -- reports ----------------------------------------------------------------------------------------------------
REPORT = TwinReport(
    site="s", fabric="f", kind="roce", plan="sha256:0", switches=4, hosts=2, hosts_planned=64, ends="ports of hosts",
    checks=(check("sessions", "8 of 8", "7 of 8", ("leaf01:swp1: Idle",)), not_run("evpn-vxlan", "on 2", "no vxlan")),
    drills=(drill("a"), drill("b", outage=40.0)), times_s={"converge": 3.25}, memory_mib=76.5,
    not_survived=("leaf leaf01",),
)  # fmt: skip


def test_json_has_every_check_and_counts_by_outcome() -> None:
    """Programs get all of it; a check that was not run is no passed one."""
    (found,) = as_json([REPORT])["fabrics"]
    assert found["counts"] == {"passed": 0, "failed": 1, "not_run": 1}
    assert found["checks"][0]["details"] == ("leaf01:swp1: Idle",)
    assert json.loads(json.dumps(found))["drills"][1]["outage_ms"] == 40.0


def test_the_text_says_what_differs_how_long_and_how_much_runs() -> None:
    """People see each check, what it found, the longest outage, the time to converge and the share of hosts."""
    console = Console(record=True, width=160, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_reports([REPORT], console)
    text = console.export_text()
    for words in (
        "sessions: leaf01:swp1: Idle",
        "0 checks passed, 1 failed, 1 not run; 4 switches, 2 of 64 planned hosts run",
        "converge 3.2 s",
        "40 ms",
        "not survived and not tried: leaf leaf01",
    ):
        assert words in text, text


def test_the_fabrics_that_run() -> None:
    """All with more than one tier; the one that is named; or the one whose cable is to be pulled."""
    plan = open_site(SIM.parent / "h100-pod").plan
    assert "oob" not in _names(open_site(SIM).plan, Request())
    assert _names(plan, Request(fabric="storage")) == ("storage",)
    with pytest.raises(SimError, match=r"no such fabric\n.*the plan has compute, "):
        _names(plan, Request(fabric="computer"))
    cable = plan.fabrics["storage"].cables[3].b
    assert _names(plan, Request(mistakes=Mistakes((f"{cable.device}:{cable.port}",)))) == ("storage",)
