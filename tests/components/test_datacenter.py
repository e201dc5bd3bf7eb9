"""The components of whole sites, as an engine would see them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from components.datacenter import Datacenter
from components.layers import BUILD, Site
from tests.components.recorder import Recorder, run
from tests.components.sites import opened

if TYPE_CHECKING:
    from coldaisle.check import CheckedSite

PLAY = "coldaisle:ansible:Play"
RELEASE = "kubernetes:helm.sh/v3:Release"
FLOOR = ("facility", "fabric", "metal")


def build(checked: CheckedSite, layers: tuple[str, ...] = tuple(BUILD)) -> Recorder:
    """Return what the components of a site register."""
    site = Site.of(checked.plan, Path("inventory") / checked.plan.name)
    return run(lambda: Datacenter(checked.plan.name, site, layers))


@pytest.fixture(scope="module")
def built() -> Recorder:
    """Return the simulated site, all layers."""
    return build(opened("sim"))


def test_every_resource_has_a_parent(built: Recorder) -> None:
    """No child hangs on the stack itself, so that the tree of a preview is the tree of the site."""
    loose = [found.name for found in built.by_urn.values() if not found.parent and "Datacenter" not in found.type]
    assert loose == []


def test_every_component_registers_outputs(built: Recorder) -> None:
    """A component without outputs would show nothing to who reads the stack."""
    components = [
        found for found in built.by_urn.values() if found.type.startswith("coldaisle:") and found.type != PLAY
    ]
    assert components
    assert [found.name for found in components if not found.outputs] == []


def test_types_and_counts_of_the_simulated_site(built: Recorder, sim: CheckedSite) -> None:
    """Each record of the plan is one resource, under its documented type token."""
    plan = sim.plan
    counts = {type_: len(built.of(type_)) for type_ in sorted({found.type for found in built.by_urn.values()})}
    assert counts == {
        "coldaisle:ansible:Play": len(plan.plays),
        "coldaisle:autoscaling:Autoscaler": 1,
        "coldaisle:cluster:Cluster": 1,
        "coldaisle:fabric:Fabric": 2,
        "coldaisle:fabric:Tier": 3,
        "coldaisle:facility:CoolingLoop": 1,
        "coldaisle:facility:PowerFeed": 3,
        "coldaisle:facility:Rack": 2,
        "coldaisle:metal:BringUp": 1,
        "coldaisle:metal:NodePool": 2,
        "coldaisle:platform:GpuStack": 1,
        "coldaisle:serving:ModelEndpoint": 1,
        "coldaisle:site:Datacenter": 1,
        "kubernetes:apps/v1:Deployment": 1,
        "kubernetes:core/v1:Namespace": 4,
        "kubernetes:core/v1:Service": 1,
        "kubernetes:helm.sh/v3:Release": 3,
        "kubernetes:keda.sh/v1alpha1:ScaledObject": 1,
        "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy": 1,
        "kubernetes:policy/v1:PodDisruptionBudget": 1,
        "pulumi:providers:kubernetes": 1,
    }


def test_plays_run_in_the_order_of_the_plan(built: Recorder, sim: CheckedSite) -> None:
    """Each play waits for those that the plan puts before it, and for no other."""
    for play in sim.plan.plays:
        waits = {built.by_urn[urn].name for urn in built.one(PLAY, play.name).after if built.by_urn[urn].type == PLAY}
        assert waits == set(play.after), play.name


def test_a_play_names_facts_and_a_digest_for_each_host(built: Recorder, sim: CheckedSite) -> None:
    """What a preview compares is there host by host, with what is written as one fact; the rest is in the digest."""
    planned = next(play for play in sim.plan.plays if play.name == "os-guests")
    hosts = built.one(PLAY, "os-guests").inputs["hosts"]
    rendered = {"varsDigest", "files.os"}
    assert all(rendered <= set(facts) for facts in hosts.values())
    assert {host: {k: v for k, v in facts.items() if k not in rendered} for host, facts in hosts.items()} == {
        host: dict(facts) for host, facts in planned.facts.items()
    }
    assert len({facts["varsDigest"] for facts in hosts.values()}) == len(hosts)


def test_the_kubeconfig_is_a_path_and_never_a_content(built: Recorder) -> None:
    """The state may be read by many; the key to the cluster stays in its file."""
    inputs = built.one("pulumi:providers:kubernetes", "sim").inputs
    assert inputs["kubeconfig"] == "~/.local/state/coldaisle/sim/secrets/admin.kubeconfig"


def test_everything_in_the_cluster_uses_the_sites_own_provider(built: Recorder) -> None:
    """The default provider would reach whatever cluster the user's shell points at."""
    provider = built.urn("pulumi:providers:kubernetes", "sim")
    in_cluster = [found for found in built.by_urn.values() if found.type.startswith("kubernetes:")]
    assert [found.name for found in in_cluster if not found.provider.startswith(provider)] == []


def test_custom_resources_wait_for_the_releases_that_bring_their_kinds(built: Recorder) -> None:
    """A NicClusterPolicy before its CRD, or a ScaledObject before KEDA, would fail the first update (C44)."""
    policy = built.one("kubernetes:mellanox.com/v1alpha1:NicClusterPolicy", "nic-cluster-policy")
    scaled = built.one("kubernetes:keda.sh/v1alpha1:ScaledObject", "llama")
    assert {built.urn(RELEASE, "network-operator"), built.urn(RELEASE, "gpu-operator")} <= set(policy.after)
    assert built.urn(RELEASE, "keda") in scaled.after


def test_releases_come_from_the_sites_mirror(built: Recorder, sim: CheckedSite) -> None:
    """An air-gapped site reaches one repository, pinned versions, and no other."""
    stack = sim.plan.gpu_stack
    assert stack is not None
    for planned in stack.releases:
        inputs = built.one(RELEASE, planned.name).inputs
        assert (inputs["repositoryOpts"]["repo"], inputs["version"]) == (planned.repository, planned.version)


def test_operators_go_one_after_the_other(built: Recorder) -> None:
    """NIC drivers and GPU drivers must never change at once (C9)."""
    assert built.urn(RELEASE, "network-operator") in built.one(RELEASE, "gpu-operator").after


def test_a_scaled_deployment_has_no_replicas(built: Recorder) -> None:
    """The autoscaler owns that field; a second owner makes server-side apply refuse (A8, C45)."""
    assert "replicas" not in built.one("kubernetes:apps/v1:Deployment", "llama").inputs["spec"]


def test_namespaces_carry_their_pod_security(built: Recorder) -> None:
    """Operators get `privileged`; what serves models gets `restricted`."""
    levels = {
        found.name: found.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for found in built.of("kubernetes:core/v1:Namespace")
    }
    assert levels == {
        "gpu-operator": "privileged",
        "keda": "restricted",
        "network-operator": "privileged",
        "serving": "restricted",
    }


def test_a_stack_may_hold_some_layers_only(sim: CheckedSite) -> None:
    """Without layers in the cluster there is no provider either, so that a preview needs no kubeconfig."""
    some = build(sim, FLOOR)
    assert not [found for found in some.by_urn.values() if "kubernetes" in found.type]
    assert some.one("coldaisle:site:Datacenter", "sim").inputs["layers"] == list(FLOOR)


def test_a_rack_shows_its_budget(built: Recorder, sim: CheckedSite) -> None:
    """A preview answers what a circuit carries, and what it carries when the other one fails."""
    rack = next(rack for rack in sim.plan.facility.racks if rack.name == "r01")
    shown = built.one("coldaisle:facility:Rack", "r01").outputs
    assert shown is not None
    assert shown["powerW"] == rack.power_w
    assert shown["feeds"]["a"]["loadAfterLossW"] == rack.feeds[0].load_after_loss_w


def test_a_rack_shows_its_banks_phases_and_draws(h100_pod: CheckedSite) -> None:
    """Where a site names its banks and rules for draws, a preview shows them with the circuit that they are of."""
    pod = build(h100_pod, ("facility",))
    shown = pod.one("coldaisle:facility:Rack", "n01").outputs
    assert shown is not None
    assert shown["feeds"]["a"]["banks"]["A_1"] == "7.6 A of 16.0 A, 15.1 A after a loss"
    assert sorted(shown["feeds"]["a"]["phases"]) == ["L1", "L2", "L3"]
    assert shown["draws"]["typicalW"] < shown["powerW"] < shown["draws"]["transientW"]
    source = pod.one("coldaisle:facility:PowerFeed", "ups-a").outputs
    assert source is not None
    assert source["worstLoss"] == "busway-b"
    assert source["draws"]["typicalW"] < source["loadW"] < source["draws"]["transientW"]


def test_a_fabric_shows_switches_by_role_and_its_hash(built: Recorder) -> None:
    """Who reads a preview sees which switches there are, and that anything changed."""
    shown = built.one("coldaisle:fabric:Fabric", "compute").outputs
    assert shown is not None
    assert shown["switches"] == {"leaf": ["leaf01", "leaf02"], "spine": ["spine01", "spine02"]}
    assert len(shown["planHash"]) == 64


def test_the_pod_of_four_scalable_units_stays_small(h100_pod: CheckedSite) -> None:
    """Past 300 resources, an update's checkpoints cost more than its work (PULUMI's own figures)."""
    large = build(h100_pod, FLOOR)
    assert len(large.of("coldaisle:facility:Rack")) == len(h100_pod.plan.facility.racks)
    assert len(large.of("coldaisle:metal:NodePool")) == len(h100_pod.plan.pools)
    assert len(large.by_urn) < 300
