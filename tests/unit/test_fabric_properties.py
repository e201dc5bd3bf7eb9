"""Properties of every fabric that a spec can ask for: nothing is handed out twice, both ends fit, and nothing moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.check.fabric.ends import check_rates, check_uplink_rates
from coldaisle.check.fabric.optics import check_optics
from coldaisle.check.fabric.ports import check_ports_used_once
from coldaisle.check.fabric.shape import check_even_uplinks, check_paths, check_planes
from coldaisle.plan import plan_site
from coldaisle.plan.breakout import role_model
from coldaisle.plan.handed_out import handed_out
from coldaisle.plan.model import CablePlan, SitePlan
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, site

FEW = settings(max_examples=20, deadline=None)

INFINIBAND: dict[str, Any] = {"kind": "infiniband", "leaf": {"model": "qm9700"}, "spine": {"model": "qm9700"}}
ROCE: dict[str, Any] = {
    "kind": "roce",
    "leaf": {"model": "sn5600", "breakout": 2},
    "spine": {"model": "sn5600"},
    "mtu_bytes": 9216,
    "host_mtu_bytes": 9000,
}
# Switches of 32 ports, so that three tiers are reached with few nodes.
SMALL: dict[str, Any] = {"kind": "ethernet", "leaf": {"model": "sn4700"}, "spine": {"model": "sn4700"}}
HARDWARE: dict[str, tuple[str, int, dict[str, Any]]] = {
    "infiniband": ("dgx-h100", 1, INFINIBAND),
    "roce": ("dgx-h100", 1, ROCE),
}
HARDWARE |= {"three tiers": ("dgx-h100", 1, SMALL), "planes": ("dgx-b300-dual-plane", 2, ROCE)}


def site_of(
    hardware: str,
    names: list[str],
    group: int,
    allocations: dict[str, dict[str, str]] | None = None,
    **fabric: Any,  # noqa: ANN401 - YAML holds anything
) -> SiteSpec:
    """Return a site of some nodes, each in a rack of its own, with a compute and an out-of-band fabric."""
    system, planes, keys = HARDWARE[hardware]
    compute = {
        "topology": "leaf-spine", "connects": ["compute"], "rail_optimized": True, "rails": 8, "planes": planes,
        "nodes_per_leaf_group": group, "oversubscription": 4, **keys, **fabric,
    }  # fmt: skip
    oob = {
        "kind": "ethernet", "topology": "leaf-spine", "connects": ["bmc", "switch"], "nodes_per_leaf_group": 12,
        "leaf": {"model": "sn2201", "name": "oob-leaf"}, "spine": {"model": "sn4600c", "name": "oob-spine", "count": 2},
        "links": {"subnet": "10.140.0.0/20"}, "loopbacks": {"subnet": "10.141.0.0/20"},
        "asn": {"leaf_first": 4200100000, "spine_first": 4200200000},
    }  # fmt: skip
    racks = [{"name": f"r-{name}"} for name in names] or [{"name": "r-none"}]
    places: dict[str, Any] = {name: {"rack": f"r-{name}", "rack_unit": 1} for name in names}
    return site(
        facility=facility(racks),
        addressing={
            "management": {"subnet": "10.0.0.0/16"},
            "bmc": {"subnet": "10.1.0.0/16"},
            "switches": {"subnet": "10.2.0.0/16"},
            "fabric_links": {"subnet": "10.128.0.0/14"},
            "loopbacks": {"subnet": "10.127.0.0/20"},
            "asn": {"spine": 4200000000, "leaf_first": 4200000001},
        },
        fabrics={"compute": compute, "oob": oob},
        node_pools={"p": {"system": system, "role": "training", "nodes": places}} if names else {},
        allocations=allocations or {},
    )


SOME = st.fixed_dictionaries(
    {
        "hardware": st.sampled_from(sorted(HARDWARE)),
        "count": st.integers(1, 40),
        "group": st.sampled_from([4, 8, 16]),
    }
)


def drawn(asked: dict[str, Any]) -> SiteSpec:
    """Return the site that hypothesis asks for."""
    return site_of(asked["hardware"], [f"n{at:03d}" for at in range(asked["count"])], asked["group"])


def numbers(plan: SitePlan) -> Counter[str]:
    """Count every address that a plan hands out."""
    found: Counter[str] = Counter(node.management_address for node in plan.nodes)
    found.update(node.bmc.address for node in plan.nodes if node.bmc)
    for fabric in plan.fabrics.values():
        found.update(address for s in fabric.switches for address in (s.loopback, s.management_address) if address)
        ends = (address for cable in fabric.cables for address in (cable.a_address, cable.b_address) if address)
        found.update(address.partition("/")[0] for address in ends)
    return found


@FEW
@given(SOME)
def test_nothing_is_handed_out_twice(asked: dict[str, Any]) -> None:
    """No port, no address, no leaf's autonomous system and no cable is there twice, in the whole site."""
    plan = plan_site(drawn(asked))
    cables = [cable for fabric in plan.fabrics.values() for cable in fabric.cables]
    ends = Counter(end for cable in cables for end in (cable.a, cable.b))
    assert max(ends.values(), default=1) == 1
    assert max(numbers(plan).values()) == 1
    asns = [
        s.asn for fabric in plan.fabrics.values() for s in fabric.switches if s.role == "leaf" and s.asn is not None
    ]
    assert len(asns) == len(set(asns))
    names = [switch.name for fabric in plan.fabrics.values() for switch in fabric.switches]
    assert len(names) == len(set(names))


@FEW
@given(SOME)
def test_both_ends_of_every_cable_fit(asked: dict[str, Any]) -> None:
    """Both ports of a cable exist and run at its rate, and something of the catalog joins them."""
    spec = drawn(asked)
    plan = plan_site(spec)
    for fabric in plan.fabrics.values():
        rates: dict[tuple[str, str], tuple[float, ...]] = {}
        for switch in fabric.switches:
            for block in role_model(spec.catalog, spec.fabrics[fabric.name], switch.role).ports:
                ports = (block.port_name(index) for index in range(block.count))
                rates |= {(switch.name, port): (block.rate_gbps, *block.also_gbps) for port in ports}
        nodes = {node.name: spec.catalog.systems[node.system].nics for node in spec.nodes}
        for cable in fabric.cables:
            assert cable.rate_gbps in rates[cable.b.device, cable.b.port]
            if cable.kind in {"leaf-spine", "spine-core"}:
                assert cable.rate_gbps in rates[cable.a.device, cable.a.port]
            elif cable.a.device in nodes:
                assert cable.rate_gbps == nodes[cable.a.device][cable.a.port].rate_gbps
    checks = (check_rates, check_uplink_rates, check_optics, check_ports_used_once, check_even_uplinks, check_paths)
    assert [finding for check in (*checks, check_planes) for finding in check(spec, plan)] == []


# -- nothing moves ------------------------------------------------------------------------------------------------
def given_out(plan: SitePlan) -> dict[object, object]:
    """Return everything that a plan hands out, by whom it is given to; lengths follow from places and are left out."""
    found: dict[object, object] = {}
    for node in plan.nodes:
        found["node", node.name] = (node.management_address, node.bmc and node.bmc.address)
    for fabric in plan.fabrics.values():
        for s in fabric.switches:
            found["switch", s.name] = (s.role, s.rail, s.plane, s.asn, s.loopback, s.management_address)
        found |= {("cable", cable.a): _kept(cable) for cable in fabric.cables}
    return found


def _kept(cable: CablePlan) -> tuple[object, ...]:
    return cable.b, cable.rate_gbps, cable.rail, cable.a_address, cable.b_address


NAMES = st.lists(st.integers(0, 99), min_size=1, max_size=24, unique=True)


@FEW
@given(st.sampled_from(sorted(set(HARDWARE) - {"three tiers"})), NAMES, NAMES)
def test_a_node_or_a_rack_more_moves_nothing(hardware: str, first: list[int], more: list[int]) -> None:
    """With numbers kept, nodes in new racks, whose names may come first, change nothing that was there."""
    names = [f"n{at:03d}" for at in sorted(first)]
    grown = [f"n{at:03d}" for at in sorted({*first, *more})]
    spine = {**HARDWARE[hardware][2]["spine"], "count": 8 * HARDWARE[hardware][1]}
    spec = site_of(hardware, names, 8, spine=spine)
    before = plan_site(spec)
    after = plan_site(site_of(hardware, grown, 8, handed_out(spec, before), spine=spine))
    assert given_out(before).items() <= given_out(after).items()


@FEW
@given(
    hardware=st.sampled_from(["infiniband", "roce", "planes"]),
    count=st.integers(1, 20),
    spines=st.integers(1, 3),
    more=st.integers(1, 3),
)
def test_a_spine_more_moves_nothing(hardware: str, count: int, spines: int, more: int) -> None:
    """With a fixed number of links to each spine, spines more change nothing that was there."""
    names, planes = [f"n{at:03d}" for at in range(count)], HARDWARE[hardware][1]

    def with_spines(number: int, kept: dict[str, dict[str, str]] | None = None) -> SiteSpec:
        spine = {**HARDWARE[hardware][2]["spine"], "count": number * planes}
        return site_of(hardware, names, 8, kept, spine=spine, uplinks_per_spine=2, oversubscription=32)

    spec = with_spines(spines)
    before = plan_site(spec)
    after = plan_site(with_spines(spines + more, handed_out(spec, before)))
    assert given_out(before).items() <= given_out(after).items()


@FEW
@given(st.sampled_from(sorted(HARDWARE)), NAMES, st.data())
def test_what_comes_back_gets_what_it_had(hardware: str, first: list[int], data: st.DataObject) -> None:
    """Nodes that are taken out and put back later have the same addresses and ports again."""
    names = [f"n{at:03d}" for at in sorted(first)]
    left = data.draw(st.lists(st.sampled_from(names), unique=True).map(sorted))
    spec = site_of(hardware, names, 8)
    before = plan_site(spec)
    kept = handed_out(spec, before)
    fewer = site_of(hardware, left, 8, kept)
    kept = handed_out(fewer, plan_site(fewer))
    after = plan_site(site_of(hardware, names, 8, kept))
    assert given_out(before) == given_out(after)
