"""What hosts and switches of a planned site share."""

from __future__ import annotations

from pathlib import Path

from coldaisle.plan import plan_site
from coldaisle.plan.rollout import shared_of
from coldaisle.spec import load_site
from coldaisle.waves import Change, Target, begin
from tests.unit.waves.floors import policy

POD = Path(__file__).parents[3] / "inventory" / "h100-pod"


def test_a_pod_of_h100_shares_racks_feeds_and_leaves() -> None:
    """A node has its rack, what feeds it, and its leaves; spines stand in for each other and never change together."""
    plan = plan_site(load_site(POD))
    shared = shared_of(plan)
    node = plan.nodes[0]
    own = shared[node.name]["domains"]
    assert (own["rack"], own["pool"], shared[node.name]["gpus"]) == ([node.rack], [node.pool], 8)
    assert own["feed"]
    cabled = {
        cable.b.device for fabric in plan.fabrics.values() for cable in fabric.cables if cable.a.device == node.name
    }
    assert set(own["leaf"]) <= cabled
    assert len(own["leaf"]) >= 8
    spines = [switch.name for switch in plan.fabrics["compute"].switches if switch.role == "spine"]
    everyone = [Target.of(name, each) for name, each in shared.items()]
    changes = [Change(target=target, kind="switch") for target in everyone if target.name in spines]
    waves = begin(changes, policy(canary=0, max_at_once=100, max_unavailable={}), everyone).waves
    assert len(spines) > 1
    assert [len(wave.hosts) for wave in waves] == [1] * len(spines)
