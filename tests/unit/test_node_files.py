"""What a node's runtime and kubelet are told: the pods' network, the sandbox, and the certificate to answer with."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils.node import UNACCEPTED

from coldaisle.check import open_site
from coldaisle.plan.acceptance import UNACCEPTED_TAINT
from coldaisle.plan.model import ClusterPlan, NodePlan
from coldaisle.plan.plays import host_facts
from coldaisle.render.host_files import kubernetes_files

SIM = Path(__file__).parents[2] / "inventory" / "sim"
GO_ACTIONS = {
    "{{range $i, $range := .PodCIDRRanges}}": "",
    "{{if $i}}, {{end}}": "",
    "{{$range}}": "10.0.3.0/24",
    "{{end}}": "",
}
CRI = "io.containerd.grpc.v1.cri"


@pytest.fixture(scope="module")
def cluster() -> ClusterPlan:
    """Return the simulated site's cluster."""
    found = open_site(SIM).plan.cluster
    assert found is not None
    return found


@pytest.fixture(scope="module")
def node() -> NodePlan:
    """Return a node of the simulated site."""
    return open_site(SIM).plan.nodes[0]


def files(node: NodePlan, cluster: ClusterPlan) -> dict[str, str]:
    """Return the texts of a node's files by their paths."""
    return {file.path: file.content or "" for file in kubernetes_files(node, cluster)}


def runtime(written: dict[str, str]) -> dict[str, Any]:
    """Return what containerd's settings say of Kubernetes."""
    settings: dict[str, Any] = tomllib.loads(written["/etc/containerd/config.toml"])["plugins"][CRI]
    return settings


def test_a_cluster_with_its_own_network_is_left_alone(node: NodePlan, cluster: ClusterPlan) -> None:
    """Nothing says where plugins are or which image holds a sandbox: whoever owns the network decides."""
    found = runtime(files(node, cluster))
    assert "cni" not in found
    assert "sandbox_image" not in found


def test_a_bridge_is_made_for_the_range_of_the_node(node: NodePlan, cluster: ClusterPlan) -> None:
    """The settings point at the template, and the template, once filled in, is a network with that range."""
    written = files(node, replace(cluster, pod_network="bridge"))
    filled = written[runtime(written)["cni"]["conf_template"]]
    # As Go's templates do it for a node with one range.
    for action, text in GO_ACTIONS.items():
        assert action in filled
        filled = filled.replace(action, text)
    (bridge,) = json.loads(filled)["plugins"]
    assert bridge["type"] == "bridge"
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.0.3.0/24"}]]


def test_a_sandbox_can_come_from_the_site(node: NodePlan, cluster: ClusterPlan) -> None:
    """A site without the public registry names its own image."""
    written = files(node, replace(cluster, sandbox_image="registry.example/pause:3.10"))
    assert runtime(written)["sandbox_image"] == "registry.example/pause:3.10"


@pytest.mark.parametrize("serving", ["self-signed", "signed"])
def test_a_signed_certificate_is_asked_for_and_looked_at(node: NodePlan, cluster: ClusterPlan, serving: str) -> None:
    """The kubelet asks for one, and drift looks at what it answers with, only where the spec says so."""
    plan = open_site(SIM).plan
    chosen = replace(cluster, kubelet_serving=serving)
    config = yaml.safe_load(files(node, chosen)["/var/lib/kubelet/config.yaml"])
    assert config["serverTLSBootstrap"] is (serving == "signed")
    facts = host_facts(replace(plan, cluster=chosen), node)["kubernetes"]
    assert ("kubelet_serving" in facts) is (serving == "signed")


def test_a_node_that_has_to_be_accepted_registers_with_a_taint(node: NodePlan, cluster: ClusterPlan) -> None:
    """Beside its own ones, so that no pod comes between its join and its acceptance; others register as before."""
    path = "/etc/systemd/system/kubelet.service"
    texts = [
        {file.path: file.content or "" for file in kubernetes_files(node, cluster, unaccepted=wanted)}[path]
        for wanted in (False, True)
    ]
    assert [f"{UNACCEPTED}:NoSchedule" in text for text in texts] == [False, True]
    assert UNACCEPTED_TAINT == UNACCEPTED
