"""
KEDA's own programs on a control plane: load makes replicas come, calm makes them go.

The chart is rendered here by a few lines, since Helm is not among the tools; `pulumi up` installs it as a release.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sim.cluster.charts import CHARTS
from sim.cluster.load import Load, send
from sim.cluster.tools import keda_definitions
from tests.simcluster.live_cluster import apply_engine, ready_pod, wait

if TYPE_CHECKING:
    from tests.simcluster.live_cluster import Cluster

pytestmark = pytest.mark.cluster

QUERY = 'sum(vllm:num_requests_waiting{model_name="m/llama"})'


def test_replicas_follow_the_queue(cluster: Cluster, node: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests that wait make replicas come; when nothing waits any more, they go again."""
    del node
    _install_keda(cluster)
    apply_engine(cluster)
    cluster.apply(_scaled_object())
    wait(lambda: _external_metrics_answer(cluster), seconds=90)
    wait(lambda: ready_pod(cluster, "llama"), seconds=90)
    load = Load(endpoint="llama", requests_per_s=25, seconds=45, drain_s=0)
    report = asyncio.run(send(cluster.layout.admin_kubeconfig, "serving", load, lambda _: None))
    # Counted by who answered: with so short a cooldown the replicas may be fewer again when the load ends.
    grown = len(report.by_pod)
    assert grown >= 2, (report.summary(), cluster.kubectl("describe", "hpa", "-n", "serving"))
    calm = time.monotonic()
    wait(lambda: _replicas(cluster) == 1, seconds=120)
    down_s = time.monotonic() - calm
    with capsys.disabled():
        sys.stdout.write(f"\nkeda: {grown} replicas answered under load, 1 was left {down_s:.0f} s after it\n")


def _install_keda(cluster: Cluster) -> None:
    definitions = keda_definitions()
    assert definitions is not None
    cluster.kubectl("apply", "--server-side", "-f", str(definitions))
    cluster.kubectl("create", "namespace", "keda")
    for path in sorted((CHARTS / "keda" / "templates").iterdir()):
        cluster.kubectl("apply", "-f", "-", stdin=_render(path.read_text()))
    for name in ("keda-operator", "keda-operator-metrics-apiserver"):
        cluster.kubectl("-n", "keda", "wait", "--for=condition=Available", f"deployment/{name}", "--timeout=120s")


def _render(template: str) -> str:
    """Render a template that only looks values up."""
    values = {
        ".Values": yaml.safe_load((CHARTS / "keda" / "values.yaml").read_text()),
        ".Chart": {"AppVersion": "2.21.0"},
        ".Release": {"Namespace": "keda", "Service": "Helm"},
    }

    def look_up(match: re.Match[str]) -> str:
        first, *steps = match[1].strip().lstrip(".").split(".")
        found: Any = values[f".{first}"]
        for step in steps:
            found = found[step]
        return str(found)

    return re.sub(r"\{\{ ([\w.]+) \}\}", look_up, template)


def _scaled_object() -> dict[str, Any]:
    down = {"stabilizationWindowSeconds": 10, "policies": [{"type": "Percent", "value": 100, "periodSeconds": 5}]}
    up = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Percent", "value": 100, "periodSeconds": 5}]}
    metadata = {
        "serverAddress": "http://198.18.201.10:9090",
        "query": QUERY,
        "threshold": "10",
        "ignoreNullValues": "false",
    }
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "llama", "namespace": "serving"},
        "spec": {
            "scaleTargetRef": {"name": "llama"},
            "minReplicaCount": 1,
            "maxReplicaCount": 4,
            "pollingInterval": 5,
            "cooldownPeriod": 10,
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": down, "scaleUp": up}}},
            "triggers": [{"type": "prometheus", "metricType": "AverageValue", "metadata": metadata}],
        },
    }


def _external_metrics_answer(cluster: Cluster) -> bool:
    scalers = cluster.get("hpa", "-n", "serving")["items"]
    conditions = [condition for scaler in scalers for condition in scaler["status"].get("conditions", [])]
    return any(each["type"] == "ScalingActive" and each["status"] == "True" for each in conditions)


def _replicas(cluster: Cluster) -> int:
    return int(cluster.get("deployment", "-n", "serving", "llama")["spec"]["replicas"])
