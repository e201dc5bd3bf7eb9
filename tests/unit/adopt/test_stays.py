"""Addresses and ports of a site that grew and shrank are kept as they are, in no order that a planner would choose."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from coldaisle.adopt.outcome import estate_of, existing_spec
from coldaisle.adopt.readers import READERS
from coldaisle.adopt.site import adopted
from coldaisle.plan import plan_site
from coldaisle.spec import load_site
from tests.unit.adopt.adopting import SITES, filled
from tests.unit.adopt.netbox_export import NetBox

GROWN = {
    "management": {"r01-n01": "198.18.1.140", "r01-n02": "198.18.1.101", "r02-n01": "198.18.1.139",
                   "r02-n02": "198.18.1.102"},
    "bmc": {"r01-n01": "198.18.0.177", "r01-n02": "198.18.0.104", "r02-n01": "198.18.0.102", "r02-n02": "198.18.0.101"},
    "switches": {"leaf01": "198.18.0.15", "leaf02": "198.18.0.14", "oob01": "198.18.0.31", "spine01": "198.18.0.12",
                 "spine02": "198.18.0.11"},
    "fabric_compute": {"r01-n01": "7", "r01-n02": "0", "r02-n01": "4", "r02-n02": "2"},
    "fabric_oob": {"r01-n01": "3", "r01-n02": "5", "r02-n01": "0", "r02-n02": "1"},
    "fabric_oob_extra": {"leaf01:eth0": "4", "leaf02:eth0": "0", "prov01:mgmt0": "9", "spine01:eth0": "2",
                         "spine02:eth0": "1"},
}  # fmt: skip


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """Return the simulated site with addresses and ports as years of changes leave them."""
    folder = Path(shutil.copytree(SITES / "sim", tmp_path / "grown"))
    (folder / "allocations.yaml").write_text(yaml.safe_dump(GROWN), encoding="utf-8")
    fabrics = (folder / "fabrics.yaml").read_text(encoding="utf-8")
    (folder / "fabrics.yaml").write_text(f"{fabrics}    access_vlan: 42\n", encoding="utf-8")
    return folder


def test_nobody_moves(grown: Path, tmp_path: Path) -> None:
    """Every number that was handed out is in allocations.yaml, and the plan is the same record."""
    spec = load_site(grown)
    before = plan_site(spec)
    estate = estate_of([READERS["netbox"](NetBox(spec, before).files())], [], spec.catalog)
    found = adopted(estate, "grown")
    assert found.allocations == GROWN
    plan = plan_site(filled(found, "sim", tmp_path / "new"))
    assert plan.nodes[0].management_address == "198.18.1.140"
    for name, fabric in before.fabrics.items():
        assert plan.fabrics[name].cables == fabric.cables
        assert plan.fabrics[name].switches == fabric.switches
        assert plan.fabrics[name].access_vlan == fabric.access_vlan
    assert plan.fabrics["oob"].access_vlan == 42


def test_a_site_that_planned_anew_would_differ(grown: Path) -> None:
    """Without its allocations the same spec moves addresses and cables, and each move is told."""
    spec = load_site(grown)
    estate = estate_of([READERS["netbox"](NetBox(spec, plan_site(spec)).files())], [], spec.catalog)
    (grown / "allocations.yaml").unlink()
    found = existing_spec(estate, load_site(grown)).differences
    texts = [each.text for each in found]
    assert "node r01-n01 management_address: planned 198.18.1.101, netbox says 198.18.1.140" in texts
    assert "switch leaf01 management_address: planned 198.18.0.11, netbox says 198.18.0.15" in texts
    assert {each.thing for each in found if each.field == "cable"} >= {"port leaf01:swp1", "port leaf01:swp8"}
