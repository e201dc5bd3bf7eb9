"""What hosts and switches of a planned site share."""

from __future__ import annotations

import shutil
from pathlib import Path

from coldaisle.plan import plan_site
from coldaisle.plan.rollout import shared_of
from coldaisle.spec import load_site
from coldaisle.waves import Change, Target, begin
from coldaisle.waves.policies import policy_json, policy_of
from tests.unit.waves.floors import policy

ROOT = Path(__file__).parents[3]
POD, CASES = ROOT / "inventory" / "h100-pod", ROOT / "tests" / "cases"


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


def test_every_play_of_a_pool_has_its_policy_but_the_one_that_changes_nothing(tmp_path: Path) -> None:
    """A policy comes through the engine's JSON as it is in the plan; pools without one have none."""
    shutil.copytree(CASES / "base", tmp_path / "site")
    shutil.copytree(CASES / "good" / "rollout", tmp_path / "site", dirs_exist_ok=True)
    plan = plan_site(load_site(tmp_path / "site"))
    asked = {play.playbook: play.rollout for play in plan.plays if play.name.endswith("-light")}
    assert asked.pop("verify") is None
    accept = asked.pop("accept")
    assert accept is not None
    assert (accept.canary, accept.canary_soak_s, accept.on_regression, accept.acceptance) == ("5%", 0, "stop", None)
    [policies] = {repr(each): each for each in asked.values()}.values()
    assert policies is not None
    assert (policies.canary, policies.timezone, policies.windows[0].days) == ("5%", "Etc/UTC", (5, 6))
    assert policies.acceptance is not None
    assert policies.telemetry[0].url == "http://198.18.1.10:9090"
    assert policy_of(policy_json(policies)) == policies
    assert {play.rollout for play in plan.plays if play.name.endswith("-guests")} == {None}
