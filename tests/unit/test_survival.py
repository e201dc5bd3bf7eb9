"""What survives the loss of any one part: against fabrics worked out by hand, and against trying every part."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.cli import main
from coldaisle.plan import plan_site
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import FabricPlan, LossKind, LossPlan
from coldaisle.plan.survival.net import Loss, net_of
from coldaisle.plan.survival.outcome import Losses, Outcome
from coldaisle.spec.sections import SiteSpec
from tests.unit.floor_sites import facility, feeds, pool, site, superpod
from tests.unit.test_planes import dual_plane

ROOT = Path(__file__).parents[2]
Told = tuple[int, int, float | None]


def told(spec: SiteSpec, fabric: str = "compute") -> dict[str, Told]:
    """Return nodes cut off, ports lost and bandwidth left, by kind of part."""
    losses = (loss for loss in plan_site(spec).survival if loss.fabric == fabric)
    return {loss.kind: (loss.hosts_cut_off, loss.rails_lost, loss.bisection_left) for loss in losses}


def single_homed(nodes: str = "n[01-08]", **fabric: Any) -> SiteSpec:  # noqa: ANN401 - YAML holds anything
    """Return a site of eight nodes with one port each, on two leaves."""
    inband = {
        "kind": "ethernet", "topology": "leaf-spine", "connects": ["management"], "nodes_per_leaf_group": 4,
        "leaf": {"model": "sn4600c"}, "spine": {"model": "sn4600c", "count": 2}, **fabric,
    }  # fmt: skip
    return site(fabrics={"inband": inband}, node_pools={"p": pool(nodes)})


def test_a_superpod_loses_little_by_any_one_part() -> None:
    """32 leaves and 16 spines: a leaf costs each of its nodes a rail and a sixteenth of a half, a spine a sixteenth."""
    found = told(superpod(127, managers=True))
    assert found["leaf"] == (0, 1, round(1 - 1 / 16, 6))
    assert found["spine"] == (0, 0, round(15 / 16, 6))
    # A half of the leaves has 512 uplinks; a transceiver of a QM9700 holds two.
    assert found["uplink"] == (0, 0, round(511 / 512, 6))
    assert found["link"] == (0, 1, 1.0)
    assert found["optic"] == (0, 1, 1.0)
    assert "core" not in found


def test_three_tiers_lose_little_by_a_core() -> None:
    """A core of 64 takes one uplink of 32 of each spine that meets it: a thirty-second of a thirty-second, twice."""
    found = told(superpod(512, managers=False))
    assert found["core"] == (0, 0, round(1 - 1 / 64, 6))
    assert found["spine"] == (0, 0, round(1 - 1 / 64, 6))


def test_a_plane_that_loses_a_spine_leaves_the_other_whole() -> None:
    """Of eight spines in two planes one is an eighth of what both carry, a quarter of its own plane's."""
    found = told(dual_plane(64))
    assert found["spine"] == (0, 0, round(1 - 1 / 4, 6))
    assert found["leaf"] == (0, 1, round(1 - 1 / 8, 6))


def test_nodes_with_one_port_are_cut_off_with_their_leaf() -> None:
    """A leaf takes its four nodes, a link its one; the spines leave both leaves joined."""
    found = told(single_homed(), "inband")
    assert {kind: cut for kind, (cut, _, _) in found.items()} == {
        "link": 1, "uplink": 0, "optic": 1, "leaf": 4, "spine": 0, "feed": 0
    }  # fmt: skip


def test_one_spine_for_all_is_a_single_point() -> None:
    """Without the only spine the leaves are islands: the nodes of all but one are cut off."""
    found = told(single_homed(spine={"model": "sn4600c", "count": 1}), "inband")
    assert found["spine"] == (4, 1, 0.0)


def test_a_leaf_with_one_supply_goes_dark_with_its_feed() -> None:
    """A leaf in a rack of one feed is lost with it, and so are the nodes that hang on it alone."""
    racks: list[dict[str, Any]] = [{"name": "r01"}, {"name": "r02", "power_feeds": feeds("a")}]
    spec = single_homed(leaf={"model": "sn4600c", "racks": ["r02"], "rack_units": [1, 4]})
    lost = site(**{**spec.sections.model_dump(exclude_unset=True), "facility": facility(racks)})
    found = [loss for loss in plan_site(lost).survival if loss.kind == "feed"]
    assert [(loss.part, loss.hosts_cut_off) for loss in found] == [("feed a of r02", 8)]


def test_what_no_document_says_is_counted() -> None:
    """A B200 that keeps four of six supplies after a loss may go on or not: it is not taken for dark."""
    racks = [{"name": "r01", "power_feeds": feeds("abc")}]
    spec = site(
        facility=facility(racks),
        fabrics={"oob": {"kind": "ethernet", "topology": "single", "connects": ["bmc"], "switch": {"model": "sn2201"}}},
        node_pools={"p": pool("n[01-02]", system="dgx-b200")},
    )
    found = next(loss for loss in plan_site(spec).survival if loss.kind == "feed")
    assert (found.part, found.hosts_cut_off, found.unknown_devices) == ("", 0, 2)


@pytest.mark.parametrize(
    ("asked", "promised"),
    [
        (None, {"uplink", "spine", "feed"}),
        ({"loss_of": ["leaf"]}, {"leaf"}),
    ],
)
def test_a_fabric_promises_what_it_says_or_what_its_shape_allows(asked: Any, promised: set[str]) -> None:  # noqa: ANN401
    """Nodes with one port cannot outlive their leaf, so that is promised only where the site asks for it."""
    spec = single_homed(**({"survives": asked} if asked else {}))
    assert {loss.kind for loss in plan_site(spec).survival if loss.promised} == promised


# -- against trying every part ------------------------------------------------------------------------------------
def every(fabric: FabricPlan) -> Iterator[tuple[LossKind, Loss]]:
    """Yield every single switch and cable of a fabric."""
    for switch in fabric.switches:
        kind: LossKind = "leaf" if switch.role == "oob" else switch.role
        yield kind, Loss(switch.name, frozenset({switch.name}))
    for cable in fabric.cables:
        yield ("link" if cable.kind == "node-leaf" else "uplink"), Loss("", cables=(cable,))


def tried(fabric: FabricPlan, nodes: frozenset[str], loss: Loss) -> Outcome:
    """Return what a loss does, worked out anew: components by networkx, and every half of the leaves."""
    cables = [
        cable
        for cable in fabric.cables
        if cable not in loss.cables and not loss.devices & {cable.a.device, cable.b.device}
    ]
    graph = nx.Graph((c.a.device, c.b.device) for c in cables if c.kind != "node-leaf")
    leaves = [switch.name for switch in fabric.switches if switch.role == "leaf"]
    graph.add_nodes_from(leaf for leaf in leaves if leaf not in loss.devices)
    hanging = [c for c in fabric.cables if c.kind == "node-leaf" and c.a.device in nodes]
    parts = list(nx.connected_components(graph)) or [set()]
    main = max(parts, key=lambda part: (sum(c.b.device in part for c in hanging), sorted(part)))
    gone = [c.a.device for c in hanging if c not in cables or c.b.device not in main]
    lost = {node: gone.count(node) for node in nodes}
    cut = sum(count == sum(c.a.device == node for c in hanging) for node, count in lost.items())
    up = {leaf: sum(c.rate_gbps for c in cables if c.a.device == leaf and leaf in main) for leaf in leaves}
    full = {leaf: sum(c.rate_gbps for c in fabric.cables if c.a.device == leaf) for leaf in leaves}
    share = min(sum(up[leaf] for leaf in half) for half in combinations(leaves, len(leaves) // 2)) / (
        min(sum(full[leaf] for leaf in half) for half in combinations(leaves, len(leaves) // 2)) or 1.0
    )
    return Outcome(cut, max(lost.values()), round(1 - share, 6) if len(leaves) > 1 else 0.0)


@settings(max_examples=12, deadline=None)
@given(
    nodes=st.integers(1, 7),
    group=st.integers(1, 4),
    spines=st.integers(1, 3),
    role=st.sampled_from(["storage", "management"]),
    links=st.integers(1, 2),
)
def test_the_worst_that_is_told_is_the_worst_of_all(nodes: int, group: int, spines: int, role: str, links: int) -> None:
    """What is told of each kind equals the worst of every single part of that kind."""
    spec = single_homed(
        f"n[1-{nodes}]",
        connects=[role],
        nodes_per_leaf_group=group,
        leaf={"model": "sn5600"},
        spine={"model": "sn5600", "count": spines},
        uplinks_per_spine=links,
        **({"rail_optimized": True, "rails": 2} if role == "storage" else {}),
    )
    fabric, names = plan_fabrics(spec)["inband"], frozenset(node.name for node in spec.nodes)
    worst: dict[LossKind, Outcome] = {}
    for kind, loss in every(fabric):
        worst[kind] = max(worst.get(kind, Outcome()), tried(fabric, names, loss))
    found = told(spec, "inband")
    for kind, expected in worst.items():
        cut, ports, left = found[kind]
        assert (cut, ports) == (expected.hosts_cut_off, expected.rails_lost), kind
        assert left is None or left == pytest.approx(1 - expected.bisection_lost, abs=1e-5), kind


def test_every_loss_of_a_pod_is_at_most_the_one_that_is_told() -> None:
    """No leaf and no spine of a pod does more than the one that stands in the plan."""
    spec = superpod(63, managers=True)
    fabric, found = plan_fabrics(spec)["compute"], told(spec)
    losses = Losses(net_of(fabric, frozenset(node.name for node in spec.nodes)))
    for switch in fabric.switches:
        one = losses.outcome(Loss(switch.name, frozenset({switch.name})))
        cut, ports, left = found[switch.role]
        assert (one.hosts_cut_off, one.rails_lost) <= (cut, ports)
        assert 1 - one.bisection_lost >= (left or 0) - 1e-6


# -- the command --------------------------------------------------------------------------------------------------
def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "fabric", "survive", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


def test_the_command_prints_every_loss(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`coldaisle fabric survive` prints a line a kind of part as JSON, and ends clean where promises are kept."""
    assert run(monkeypatch, str(ROOT / "inventory" / "sim"), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["site"] == "sim"
    assert {loss["kind"] for loss in said["losses"]} == {"link", "uplink", "optic", "leaf", "spine", "feed", "upstream"}
    keys = set(LossPlan.__dataclass_fields__)
    assert all(set(loss) == keys for loss in said["losses"])


def test_the_command_tells_of_a_broken_promise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A promise that is not kept ends with 4, and is told below the table."""
    cases = ROOT / "tests" / "cases"
    for folder in (cases / "base", cases / "bad" / "not_survived"):
        for file in folder.glob("*.yaml"):
            (tmp_path / file.name).write_text(file.read_text())
    assert run(monkeypatch, str(tmp_path)) == 4
    said = capsys.readouterr().out
    assert "broken" in said
    assert "[not-survived]" in said
