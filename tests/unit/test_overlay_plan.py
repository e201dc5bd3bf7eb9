"""Overlays: numbers that are nobody else's, that stay when a site grows, and that come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.check.overlay import OVERLAY_CHECKS
from coldaisle.plan import plan_site
from coldaisle.plan.fabric import fabric_numbers, plan_fabrics
from coldaisle.plan.model import OverlayPlan
from coldaisle.plan.overlay import KINDS, hand_out_numbers, kind_of
from coldaisle.render.fabric.addresses import COLUMNS, address_table
from coldaisle.spec.overlay import NumberRange
from coldaisle.spec.sections import SiteSpec
from tests.unit.overlay_sites import overlay_site

Wanted = Mapping[str, frozenset[str]]
"""Names of tenants, and of the networks of each."""

NAMES = st.text("abcdef", min_size=1, max_size=3)
WANTED = st.dictionaries(NAMES, st.frozensets(NAMES, min_size=1, max_size=3), min_size=1, max_size=4)


def tenants(wanted: Wanted) -> dict[str, Any]:
    """Return tenants as a spec writes them, each network on the ports of both pools."""
    network = {"tagged": {"pools": ["a", "b"]}}
    return {name: {"networks": dict.fromkeys(sorted(networks), network)} for name, networks in wanted.items()}


def planned(spec: SiteSpec) -> OverlayPlan:
    """Return the overlay of a site's plan."""
    overlay = plan_fabrics(spec)["f"].overlay
    assert overlay is not None
    return overlay


def numbers(overlay: OverlayPlan) -> dict[str, tuple[object, ...]]:
    """Return every number of an overlay by whose it is."""
    found: dict[str, tuple[object, ...]] = {t.name: (t.vni, t.transit_vlan, t.route_target) for t in overlay.tenants}
    for network in overlay.networks:
        found[f"{network.tenant}:{network.name}"] = (network.vlan, network.vni, network.route_target)
    distinguished = {
        (vtep.switch, one.vlan): one.route_distinguisher for vtep in overlay.vteps for one in vtep.networks
    }
    return found | {f"{switch} {vlan}": (text,) for (switch, vlan), text in distinguished.items()}


@settings(max_examples=40, deadline=None)
@given(first=WANTED, then=WANTED)
def test_adding_moves_nothing_and_removing_gives_back(first: Wanted, then: Wanted) -> None:
    """Whatever tenants and networks come, and go, and come again: who had a number has it again."""
    before = overlay_site(tenants=tenants(first))
    both = {name: first.get(name, frozenset()) | then.get(name, frozenset()) for name in {*first, *then}}
    kept = fabric_numbers(before)
    grown = overlay_site(tenants=tenants(both), allocations=kept)
    had, has = numbers(planned(before)), numbers(planned(grown))
    assert {name: has[name] for name in had} == had
    # Then only the new ones are there, and at last all of them again.
    less = overlay_site(tenants=tenants(then), allocations=fabric_numbers(grown))
    held = {kind: {**fabric_numbers(grown).get(kind, {}), **found} for kind, found in fabric_numbers(less).items()}
    assert numbers(planned(overlay_site(tenants=tenants(both), allocations=held))) == has


@settings(max_examples=40, deadline=None)
@given(wanted=WANTED)
def test_no_number_is_given_twice(wanted: Wanted) -> None:
    """VLANs, VNIs, tunnel addresses and distinguishers are one owner's each, and the checks find nothing."""
    spec = overlay_site(tenants=tenants(wanted))
    plan, overlay = plan_fabrics(spec), planned(spec)
    vlans = [n.vlan for n in overlay.networks] + [t.transit_vlan for t in overlay.tenants]
    vnis = [n.vni for n in overlay.networks] + [t.vni for t in overlay.tenants]
    marks = [one.route_distinguisher for vtep in overlay.vteps for one in (*vtep.networks, *vtep.tenants)]
    underlay = [switch.loopback for switch in plan["f"].switches]
    for each in (vlans, vnis, marks, [vtep.address for vtep in overlay.vteps] + underlay):
        assert None not in each
        assert len(each) == len(set(each))
    assert plan["f"].access_vlan not in vlans


@given(
    names=st.sets(NAMES, max_size=6),
    given_before=st.dictionaries(NAMES, st.integers(10, 20), max_size=6),
    fixed=st.dictionaries(NAMES, st.integers(10, 20), max_size=6),
)
def test_numbers_handed_out_are_free(names: set[str], given_before: dict[str, int], fixed: dict[str, int]) -> None:
    """A fixed number wins, then what was given; a new one is neither anybody's nor reserved, nor before the pool."""
    found = hand_out_numbers(NumberRange(first=10, last=20), names, given_before, fixed, [11])
    assert set(found) == names
    for name, number in found.items():
        wanted = fixed.get(name, given_before.get(name))
        assert number == wanted or (wanted is None and number >= 10)
    new = [found[name] for name in names if name not in fixed and name not in given_before]
    assert len(new) == len(set(new))
    assert not {11, *fixed.values(), *given_before.values()} & set(new)


def test_a_network_is_on_the_leaves_that_need_it() -> None:
    """The pool b has one node on the second leaf and two on the third, so that the first leaf knows nothing of red."""
    overlay = planned(overlay_site())
    vlans = {network.vlan for network in overlay.networks if network.tenant == "red"}
    assert [vtep.switch for vtep in overlay.vteps if vlans & {one.vlan for one in vtep.networks}] == [
        "leaf02",
        "leaf03",
    ]


def test_a_network_without_a_gateway_routes_nothing() -> None:
    """A tenant whose only network has no subnet has no VRF on any leaf."""
    overlay = planned(overlay_site(tenants=tenants({"flat": frozenset({"net"})})))
    assert all(vtep.networks and not vtep.tenants for vtep in overlay.vteps)


def test_allocations_keep_every_kind() -> None:
    """What `coldaisle plan --allocate` writes has each kind of number of the overlay."""
    kept = fabric_numbers(overlay_site())
    assert {kind for kind in kept if kind.startswith("fabric_f_")} >= {kind_of("f", kind) for kind in KINDS}
    assert kept["fabric_f_vlan"]["red:data"] == "300"


def test_room_for_vxlan_is_held_to_the_byte() -> None:
    """Nodes' 1500 bytes need links of 1550, and not one less."""
    (check,) = (check for check in OVERLAY_CHECKS if check.__name__ == "check_overlay_mtu")
    for mtu, wanted in ((1550, 0), (1549, 1)):
        spec = overlay_site(tenants=tenants({"t": frozenset({"n"})}), mtu_bytes=mtu)
        assert len(list(check(spec, plan_site(spec)))) == wanted


def test_the_address_table_has_tunnels_and_gateways() -> None:
    """Every tunnel address is its leaf's, and every gateway its network's, with the one MAC of all."""
    plan = plan_site(overlay_site())
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in address_table(plan, "f").rows]
    overlay = planned(overlay_site())
    tunnels = {row["device"]: row["address"] for row in rows if row["port"] == "vtep"}
    assert tunnels == {vtep.switch: vtep.address for vtep in overlay.vteps}
    gateways = {row["device"]: (row["port"], row["address"], row["mac"]) for row in rows if row["kind"] == "gateway"}
    routed = [network for network in overlay.networks if network.gateway]
    assert gateways == {f"{n.tenant}:{n.name}": (f"vlan{n.vlan}", n.gateway, overlay.gateway_mac) for n in routed}


def test_sessions_do_not_need_addresses_of_links() -> None:
    """Where links have none, sessions between loopbacks are the same."""
    assert planned(overlay_site(unnumbered=True)).sessions == planned(overlay_site()).sessions
