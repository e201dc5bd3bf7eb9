"""`coldaisle place`: what it prints can be pasted, what does not fit is explained, and what is unknown is said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.cli import main
from coldaisle.proposal import propose, wanted
from coldaisle.proposal.records import NewNode
from coldaisle.proposal.snippet import node_lines

Edit = Callable[[str, str, str], None]
Run = Callable[..., tuple[int, str, str]]
LIGHT = "    boot: image-installed\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command, and returns its exit code and what it printed."""

    def runs(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coldaisle", "place", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        said = capsys.readouterr()
        return int(done.value.code or 0), said.out, said.err

    return runs


def paste(site: Path, snippet: str) -> None:
    """Paste the lines of a proposal into the node pools of a site, as a person would."""
    file = site / "node_pools.yaml"
    data: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    for pool, new in yaml.safe_load(snippet)["node_pools"].items():
        data["node_pools"][pool].setdefault("nodes", {}).update(new["nodes"])
    file.write_text(yaml.safe_dump(data), encoding="utf-8")


def without_fabric(site: Path, edit: Edit) -> None:
    """Take the fabric out that accepts few nodes a leaf, so that the floor alone decides."""
    edit("fabrics.yaml", "    oversubscription: 2\n", "    oversubscription: 99\n")
    (site / "allocations.yaml").unlink()
    edit("hardware.yaml", "hardware:", "# none\nhardware: {}\nunused:")
    text = (site / "hardware.yaml").read_text(encoding="utf-8")
    (site / "hardware.yaml").write_text(text.partition("unused:")[0], encoding="utf-8")
    edit("node_pools.yaml", "    image: debian-12-netboot\n    boot: network\n", "")


def test_what_is_printed_can_be_pasted(site: Path, edit: Edit, run: Run) -> None:
    """A pool that wants three nodes more gets places, and with them pasted every check passes."""
    without_fabric(site, edit)
    edit("node_pools.yaml", LIGHT, f"{LIGHT}    count: 5\n")
    assert [found.check for found in open_site(site).findings] == ["pool-incomplete"]
    code, snippet, told = run("case")
    assert (code, told) == (0, "")
    assert "stops" not in snippet, "both racks have room for more"
    paste(site, snippet)
    after = open_site(site)
    assert [node.name for node in after.plan.nodes if node.pool == "light"] == [
        "r01-n02", "r02-n02", "r02-n03", "r02-n04", "r02-n05",
    ]  # fmt: skip
    assert after.findings == ()


def test_a_pool_that_is_not_there_yet_gets_places(site: Path, edit: Edit, run: Run) -> None:
    """A pool with a count and no nodes at all is planned as empty, and then placed."""
    without_fabric(site, edit)
    edit("node_pools.yaml", "  light:\n", "  later: {system: sim-light, role: serving, count: 2}\n  light:\n")
    assert {pool.name: pool.nodes for pool in open_site(site).plan.pools}["later"] == ()
    code, snippet, _ = run("case", "--pool", "later")
    assert code == 0
    paste(site, snippet)
    assert open_site(site).findings == ()


def test_what_stops_the_next_one_is_told_with_its_fix(site: Path, edit: Edit, run: Run) -> None:
    """A pool that does not fit ends with 4, says how many would, what stops the next, and what alone would help."""
    without_fabric(site, edit)
    edit("facility.yaml", "{name: ups-a, kind: ups, capacity_w: 40000", "{name: ups-a, kind: ups, capacity_w: 2000")
    code, said, _ = run("case", "--pool", "light", "--count", "9")
    assert code == 4
    assert said.splitlines() == [
        "# 2 of 9 nodes of pool light (sim-light) fit",
        "# what stops the next one:",
        "#   2 racks (r01 … r02): ups-a would carry 2.1 kW of 2.0 kW if ups-b fails [upstream-loss-overload]",
        "#     fix: raise what ups-a can carry, or use racks that hang elsewhere",
        "# any one of these alone would make room:",
        "#   for 9: the limit of ups-a [upstream-over-budget]",
    ]


def test_an_unknown_figure_is_said_and_never_counts_as_zero(edit: Edit, run: Run) -> None:
    """A system whose draw nobody knows fits nowhere: the answer is 3, could not tell, and names the figure."""
    edit("catalog.yaml", "      max_power_w: 200\n", "")
    code, said, _ = run("case", "--pool", "light", "--count", "1")
    assert code == 3
    assert "the catalog has no max_power_w of sim-light" in said


def test_an_unknown_weight_is_told_of_a_place(site: Path, edit: Edit, run: Run) -> None:
    """A weight that is not known stops nothing, as in the checks, and is told beside the proposal."""
    without_fabric(site, edit)
    edit("catalog.yaml", "      max_power_w: 200\n      weight_kg: 20\n", "      max_power_w: 200\n")
    code, said, _ = run("case", "--pool", "light", "--count", "1")
    assert code == 0
    assert "# not judged: weight: the catalog has no weight_kg of sim-light" in said.splitlines()
    assert run("case", "--pool", "light", "--count", "1", "--strict")[0] != 0


def test_a_place_can_be_named(site: Path, edit: Edit, run: Run) -> None:
    """Nodes stand within the rack that is named, and a place that is not there is told."""
    without_fabric(site, edit)
    code, said, _ = run("case", "--pool", "light", "--count", "2", "--within", "r02")
    assert code == 0
    assert set(yaml.safe_load(said)["node_pools"]["light"]["nodes"]) == {"r02-n[03-04]"}
    assert run("case", "--within", "r09") == (2, "", "no rack, row or hall is named r09\n")


@pytest.mark.usefixtures("site")
def test_names_and_numbers_that_mean_nothing_are_told(run: Run) -> None:
    """A pool that is not there, and one that says no number, end with 2."""
    assert run("case", "--pool", "lihgt")[0] == 2
    code, _, told = run("case", "--pool", "light")
    assert code == 2
    assert "give --count" in told
    assert run("case", "--count", "1")[0] == 2
    assert run("case") == (0, "case: every node has a place. `--pool POOL --count N` asks for more.\n", "")


def test_what_a_check_finds_with_the_nodes_is_told(site: Path, run: Run) -> None:
    """Nodes that fit the floor and not their fabric are proposed, with the error that a check finds then, and 4."""
    assert site.is_dir()
    code, said, told = run("case", "--pool", "light", "--count", "6")
    assert code == 4
    assert "node_pools:" in said
    assert "[oversubscription]" in told


@pytest.mark.usefixtures("site")
def test_the_room_of_a_hall(run: Run) -> None:
    """For each system it is told how many more fit and what stops the next one, as a table and as JSON."""
    code, said, _ = run("case", "--room", "--json")
    rooms = {each["system"]: each for each in json.loads(said)["systems"]}
    assert code == 0
    assert rooms["sim-light"]["more"] == 34
    assert {limit["check"] for limit in rooms["sim-light"]["limits"]} == {"no-space"}
    code, table, _ = run("case", "--room", "--system", "sim-light")
    assert code == 0
    assert "sim-light" in table
    assert "sim-guest" not in table
    assert run("case", "--room", "--system", "sim-lihgt")[0] == 2


def test_a_proposal_reserves_the_switches_that_come_with_it(site: Path, edit: Edit) -> None:
    """A leaf that more nodes need has its rack unit and its draw before the nodes have theirs."""
    without_fabric(site, edit)
    edit("fabrics.yaml", "rack_units: [40]}", "rack_units: [40, 2]}")
    edit("fabrics.yaml", "    oversubscription: 99\n", "    oversubscription: 99\n    nodes_per_leaf_group: 4\n")
    before = open_site(site)
    leaves = [switch for switch in before.plan.fabrics["compute"].switches if switch.role == "leaf"]
    assert {(leaf.rack, leaf.rack_unit) for leaf in leaves} == {("r01", 40), ("r01", 2)}
    found = propose(before, wanted(before.spec, "light", 1))
    # A second pair of leaves goes to units 40 and 2 of r02, so the node does not stand on 1 and 2.
    assert [(node.rack, node.rack_unit) for node in found.nodes] == [("r02", 3)]


def _node(name: str, rack: str, unit: int) -> NewNode:
    return NewNode(name=name, pool="p", rack=rack, rack_unit=unit)


@pytest.mark.parametrize(
    ("nodes", "lines"),
    [
        ([_node("r1-n1", "r1", 3)], {"r1-n1": {"rack": "r1", "rack_unit": 3}}),
        (
            [_node(f"r{rack}-n{at}", f"r{rack}", 8 * at) for rack in (1, 2, 3) for at in (1, 2)],
            {"r[1-3]-n[1-2]": {"rack": "r[1-3]", "rack_unit": [8, 16]}},
        ),
        (
            # A range of nodes with the same numbers as the racks' would follow the racks.
            [_node(f"r{rack}-n{at}", f"r{rack}", 8 * at) for rack in (1, 2) for at in (1, 2)],
            {f"r{rack}-n[1-2]": {"rack": f"r{rack}", "rack_unit": [8, 16]} for rack in (1, 2)},
        ),
        (
            [_node("x", "r1", 3), _node("y", "r1", 5)],
            {"x": {"rack": "r1", "rack_unit": 3}, "y": {"rack": "r1", "rack_unit": 5}},
        ),
    ],
)  # fmt: skip
def test_lines_stand_for_exactly_their_nodes(nodes: list[NewNode], lines: dict[str, Any]) -> None:
    """Racks that are filled alike make one line, and what no range says is written out."""
    assert node_lines(nodes) == lines
