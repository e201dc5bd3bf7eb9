"""The example sites b200-roce and gb200-nvl72: they pass, and their budgets are those of the documents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from coldaisle.check import CheckedSite, open_site

ROOT = Path(__file__).parents[2]


def site(name: str) -> CheckedSite:
    """Return a site of the repository."""
    return open_site(ROOT / "inventory" / name)


@pytest.mark.parametrize(
    ("name", "warnings"),
    [("b200-roce", {"rack-density", "psu-redundancy", "management-on-rdma-driver"}), ("gb200-nvl72", set())],
)
def test_only_what_its_comments_explain_is_told(name: str, warnings: set[str]) -> None:
    """A site has no error, and no warning but those that its facility.yaml explains."""
    checked = site(name)
    assert checked.errors == ()
    assert {finding.check for finding in checked.findings} == warnings
    text = (ROOT / "inventory" / name / "facility.yaml").read_text(encoding="utf-8")
    assert all(f"# - {check}: " in text for check in warnings)


def test_the_roce_fabric_does_not_block() -> None:
    """64 nodes of eight rails need eight leaves and four spines, each leaf with as much up as down."""
    plan = site("b200-roce").plan
    compute = plan.fabrics["compute"]
    assert (len(plan.nodes), sum(node.gpus for node in plan.nodes)) == (64, 512)
    assert Counter(switch.role for switch in compute.switches) == {"leaf": 8, "spine": 4}
    assert Counter(cable.kind for cable in compute.cables) == {"node-leaf": 512, "leaf-spine": 256}
    rails = {cable.a.port: cable.b.device for cable in compute.cables if cable.a.device == "r01-n1"}
    assert len(set(rails.values())) == 8


def test_a_rack_of_b200_stays_up_on_two_of_three_feeds() -> None:
    """57.2 kW over three feeds: with one of them lost, each of the others carries 28.6 of 34.4 kW."""
    rack = next(rack for rack in site("b200-roce").plan.facility.racks if rack.name == "r01")
    assert rack.power_w == 57_200
    assert [round(feed.load_after_loss_w or 0) for feed in rack.feeds] == [28_600] * 3
    assert all(feed.capacity_w == pytest.approx(34_416, abs=1) for feed in rack.feeds)


def test_a_rack_of_nvl72_draws_what_its_documents_say() -> None:
    """Trays, NVLink trays and what the shelves lose are 132 kW together: 115 into liquid, 17 into air."""
    rack = next(rack for rack in site("gb200-nvl72").plan.facility.racks if rack.name == "r01")
    switches_w = sum(device.max_power_w or 0 for device in rack.devices if device.kind == "switch")
    assert (rack.power_w or 0) - switches_w == 132_000
    assert (rack.heat_liquid_w or 0) == pytest.approx(115_000, abs=50)
    assert (rack.heat_air_w or 0) - switches_w == pytest.approx(17_000, abs=50)
    assert rack.weight_kg == pytest.approx(1_360 + 7.41, abs=1)


def test_one_coolant_unit_carries_eight_racks() -> None:
    """With one of two units out, the other takes the heat of all racks; so does a side of the power chain."""
    facility = site("gb200-nvl72").plan.facility
    cdu = next(each for each in facility.cooling if each.name == "cdu")
    assert len(cdu.racks) == 8
    assert (cdu.load_w or 0) < cdu.capacity_after_loss_w < cdu.capacity_w
    assert all((part.load_after_loss_w or 0) <= part.capacity_w for part in facility.upstream)


def test_trays_are_nodes_of_four_rails() -> None:
    """144 trays of four GPUs: each rail of a tray ends at a leaf of its own, and each tray has a BMC."""
    plan = site("gb200-nvl72").plan
    assert (len(plan.nodes), sum(node.gpus for node in plan.nodes)) == (144, 576)
    assert all(node.bmc is not None and node.architecture == "aarch64" for node in plan.nodes)
    compute = plan.fabrics["compute"]
    assert Counter(switch.role for switch in compute.switches) == {"leaf": 20, "spine": 16}
    assert len({cable.b.device for cable in compute.cables if cable.a.device == "r08-t18"}) == 4
