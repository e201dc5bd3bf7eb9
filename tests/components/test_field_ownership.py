"""Who owns which field of an object in the cluster: the plan, or an autoscaler. Against a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.components.control_plane import Api, running_api
from tests.components.engine import ROOT, Engine, engine, new_project

DEPLOYMENT = "/apis/apps/v1/namespaces/serving/deployments/llama"
PROGRAM = """
from dataclasses import replace
from pathlib import Path
from pulumi import ResourceOptions
from coldaisle.check import open_site
from components.cluster import Cluster
from components.kubernetes import NO_WAIT, Provider, manifest

plan = open_site(Path("{root}/inventory/sim")).plan
provider = Provider("sim", replace(plan.cluster, kubeconfig="file:{kubeconfig}"))
cluster = Cluster("sim", plan.cluster, ResourceOptions(providers=[provider]))
opts = ResourceOptions(provider=provider, depends_on=[cluster])
manifest("llama", plan.endpoints[0].manifests["Deployment"], opts, NO_WAIT)  # no node here would ever run it
"""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Api]]:
    """Return an engine and an API server, with the endpoint of the simulated site applied."""
    folder = tmp_path_factory.mktemp("ownership")
    pulumi = engine(folder)
    with running_api(folder, pulumi.env["PATH"]) as api:
        new_project(folder, PROGRAM.format(root=ROOT, kubeconfig=api.kubeconfig))
        for command in (("stack", "init", "test"), ("up", "--yes", "--skip-preview")):
            done = pulumi(*command)
            assert done.returncode == 0, done.stdout + done.stderr
        yield pulumi, api


def changes(pulumi: Engine) -> dict[str, Any]:
    """Return what a preview with refresh would change: by name, the operation's detailed diff."""
    shown = pulumi("preview", "--refresh", "--json")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    steps = json.loads(shown.stdout[shown.stdout.index("{") :])["steps"]
    looked = {"same", "refresh"}
    return {
        step["urn"].rpartition("::")[2]: step.get("detailedDiff") or {} for step in steps if step["op"] not in looked
    }


def test_replicas_that_somebody_else_scaled_are_not_drift(deployed: tuple[Engine, Api]) -> None:
    """Neither an autoscaler's scaling nor one by hand is a difference or a conflict, and `up` leaves it."""
    pulumi, api = deployed
    api.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 3}}, "kubectl")
    assert changes(pulumi) == {}
    assert pulumi("up", "--refresh", "--yes", "--skip-preview").returncode == 0
    assert api.get(DEPLOYMENT)["spec"]["replicas"] == 3


def test_a_field_of_the_plan_that_was_changed_by_hand_is_shown_and_repaired(deployed: tuple[Engine, Api]) -> None:
    """No conflict ends the preview: it names the fields, and `up` sets them back."""
    pulumi, api = deployed
    level = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}
    api.patch("/api/v1/namespaces/serving", level, "kubectl-label")
    api.patch(DEPLOYMENT, {"spec": {"progressDeadlineSeconds": 5}}, "kubectl-edit")
    found = changes(pulumi)
    assert set(found) == {"serving", "llama"}
    assert list(found["llama"]) == ["spec.progressDeadlineSeconds"]
    assert pulumi("up", "--refresh", "--yes", "--skip-preview").returncode == 0
    labels = api.get("/api/v1/namespaces/serving")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert changes(pulumi) == {}


def test_the_state_holds_the_path_of_the_kubeconfig_and_not_its_content(deployed: tuple[Engine, Api]) -> None:
    """Who can read the state cannot reach the cluster with it."""
    pulumi, api = deployed
    state = pulumi("stack", "export").stdout
    assert str(api.kubeconfig) in state
    assert "insecure-skip-tls-verify" not in state
    assert Path(api.kubeconfig).read_text(encoding="utf-8").strip() not in state
