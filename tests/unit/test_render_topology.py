"""The cabling plan, the bill of materials and the drawing of a fabric."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan
from coldaisle.render.topology import bill_of_materials, cabling_csv, topology_dot

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the simulated site."""
    return open_site(ROOT / "inventory" / "sim").plan


def test_every_cable_is_a_line_with_both_places(plan: SitePlan) -> None:
    """A line says device, port, rack and rack unit of both ends."""
    rows = list(csv.DictReader(io.StringIO(cabling_csv(plan))))
    assert len(rows) == sum(len(fabric.cables) for fabric in plan.fabrics.values())
    assert list(rows[0].values()) == [
        "compute", "node-leaf", "r01-n01", "rail0", "r01", "10", "leaf01", "swp1", "r01", "40", "10", "3",
    ]  # fmt: skip
    assert all(row["from_rack"] and row["to_rack"] for row in rows)


def test_one_fabric_can_be_asked_for(plan: SitePlan) -> None:
    """The cabling of one fabric holds its cables only, and an unknown fabric is refused in words."""
    assert {row.split(",")[0] for row in cabling_csv(plan, "oob").splitlines()[1:]} == {"oob"}
    with pytest.raises(LookupError, match="there is no fabric storage; known: compute, oob"):
        cabling_csv(plan, "storage")


def test_what_to_order_counts_everything(plan: SitePlan) -> None:
    """Systems, switches and cables are counted, cables by rate and length."""
    bill = {(kind, item): count for kind, item, count in bill_of_materials(plan)}
    assert bill["switch", "frr-switch"] == 5
    assert (bill["system", "sim-guest"], bill["system", "sim-light"]) == (2, 2)
    assert sum(count for (kind, _), count in bill.items() if kind == "cable") == 25


def test_the_drawing_shows_tiers_and_links(plan: SitePlan) -> None:
    """Each tier is a rank, and each pair of switches a line with its count of links."""
    assert topology_dot(plan, "compute").splitlines() == [
        'graph "compute" {',
        "  rankdir=BT;",
        '  { rank=same; "leaf01"; "leaf02"; }',
        '  { rank=same; "spine01"; "spine02"; }',
        '  "leaf01" -- "spine01" [label="1"];',
        '  "leaf01" -- "spine02" [label="1"];',
        '  "leaf02" -- "spine01" [label="1"];',
        '  "leaf02" -- "spine02" [label="1"];',
        "}",
    ]
