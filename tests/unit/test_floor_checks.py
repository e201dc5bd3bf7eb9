"""Checks of a floor that no spec of ours brings about: a plan that was made or changed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.check.fabric import check_even_uplinks, check_paths, check_switch_ports
from coldaisle.check.finding import Finding
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import CablePlan, FabricPlan, FacilityPlan, SitePlan
from tests.unit.floor_sites import superpod

ROOT = Path(__file__).parents[2]


def _plan(fabric: FabricPlan) -> SitePlan:
    facility = FacilityPlan(racks=(), cooling=(), it_power_w=0)
    return SitePlan(
        name="t", domain="t", facility=facility, fabrics={"compute": fabric}, nodes=(), pools=(), provisioning=None,
        cluster=None, gpu_stack=None, endpoints=(), autoscaler=None, plays=(), admin_private_key_file="k",
    )  # fmt: skip


def _found(check: Callable[..., object], keep: Callable[[CablePlan], bool]) -> list[Finding]:
    spec = superpod(31, managers=True)
    fabric = plan_fabrics(spec)["compute"]
    changed = replace(fabric, cables=tuple(cable for cable in fabric.cables if keep(cable)))
    return list(check(spec, _plan(changed)))  # type: ignore[call-overload,no-any-return]


def test_a_missing_uplink_makes_pairs_uneven() -> None:
    """One cable less between a leaf and a spine is told with both counts."""
    found = _found(check_even_uplinks, lambda cable: (cable.a.device, cable.a.port) != ("leaf01", "17/1"))
    assert [finding.what for finding in found] == ["leaf-spine pairs of fabric compute have 7 or 8 links"]


def test_a_missing_pair_makes_pairs_uneven() -> None:
    """A leaf without any link to one spine is told, although every pair that is there has as many links."""
    found = _found(check_even_uplinks, lambda cable: (cable.a.device, cable.b.device) != ("leaf02", "spine04"))
    assert [finding.what for finding in found] == ["leaf02 has links to 3 spines, and another leaf to 4"]


def test_three_tiers_are_even_up_to_the_cores() -> None:
    """One cable less between a spine and a core is told too."""
    spec = superpod(512, managers=False)
    fabric = plan_fabrics(spec)["compute"]
    first = next(cable for cable in fabric.cables if cable.kind == "spine-core")
    changed = replace(fabric, cables=tuple(cable for cable in fabric.cables if cable is not first))
    found = list(check_even_uplinks(spec, _plan(changed)))
    assert [finding.what for finding in found] == ["spine-core pairs of fabric compute have 15 or 16 links"]
    assert list(check_even_uplinks(spec, _plan(fabric))) == []


@pytest.mark.parametrize("cut", ["leaf01", "leaf03"])
def test_a_leaf_without_uplinks_is_cut_off(cut: str) -> None:
    """A leaf whose uplinks are all gone has no path to the others."""
    found = _found(check_paths, lambda cable: cable.a.device != cut)
    assert [(finding.check, finding.what) for finding in found] == [
        ("no-path", f"no path leads from leaf {cut} to the other leaves")
    ]


def test_a_switch_with_more_cables_than_ports_is_told() -> None:
    """A switch that needs more ports than it has is told with both counts, once for its tier."""
    spec = superpod(31, managers=True)
    fabric = plan_fabrics(spec)["compute"]
    switches = tuple(replace(s, ports_used=70) if s.role == "spine" else s for s in fabric.switches)
    found = list(check_switch_ports(spec, _plan(replace(fabric, switches=switches))))
    assert [(finding.what, finding.have) for finding in found] == [
        ("spine01 needs 70 ports, and qm9700 has 64", "so do 3 more of the spine switches")
    ]


@pytest.mark.parametrize("site", ["sim", "h100-pod", "b200-roce", "gb200-nvl72"])
def test_the_sites_of_the_repository_have_no_errors(site: str) -> None:
    """Every site checks clean of errors."""
    assert open_site(ROOT / "inventory" / site).errors == ()


def test_the_pod_is_the_reference_architecture() -> None:
    """127 nodes, 32 leaves and 16 spines, and four nodes a rack on three feeds that carry them after a loss."""
    plan = open_site(ROOT / "inventory" / "h100-pod").plan
    compute = plan.fabrics["compute"]
    kinds = [cable.kind for cable in compute.cables]
    assert (len(plan.nodes), sum(node.gpus for node in plan.nodes)) == (127, 1016)
    assert (kinds.count("node-leaf"), kinds.count("leaf-spine")) == (1020, 1024)
    rack = next(rack for rack in plan.facility.racks if rack.name == "r01")
    assert rack.power_w == 40_800
    assert [round(feed.load_w or 0) for feed in rack.feeds] == [13_600] * 3
    assert all(20_400 == round(feed.load_after_loss_w or 0) < feed.capacity_w for feed in rack.feeds)
