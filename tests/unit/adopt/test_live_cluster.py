"""A cluster asked live, of a small server that answers as the Kubernetes API does."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from lightkube import Client, KubeConfig
from lightkube.config.models import Cluster, User

from coldaisle.adopt.facts import Reading
from coldaisle.adopt.live import AskError
from coldaisle.adopt.live.cluster import ClusterLive
from coldaisle.adopt.readers import kubernetes
from tests.unit.adopt.adopting import exported

RELEASE = {
    "name": "gpu-operator",
    "namespace": "gpu-operator",
    "info": {"status": "deployed"},
    "chart": {"metadata": {"name": "gpu-operator", "version": "v25.10.0", "appVersion": "v25.10.0"}},
    "config": {"ngcApiKey": "hunter2"},
}
"""Form: Helm's Release (pkg/release), as its storage driver keeps it."""


NODE_INFO = ("bootID", "kubeProxyVersion", "machineID", "operatingSystem", "systemUUID")
"""What the API gives of every node too, and no fact is made of."""


def kept(release: dict[str, Any]) -> str:
    """Return a release as the API gives a secret's data: JSON, gzip, Helm's base64, the API's base64."""
    return base64.b64encode(base64.b64encode(gzip.compress(json.dumps(release).encode()))).decode()


def client_of(port: int) -> Client:
    """Return a client of an API server on the loopback."""
    config = KubeConfig.from_one(
        cluster=Cluster(server=f"http://127.0.0.1:{port}"), user=User(username="u"), context_name="c"
    )
    return Client(config=config, trust_env=False)


@contextmanager
def api(secrets: list[dict[str, str]] | None) -> Iterator[tuple[Client, list[str]]]:
    """Serve the simulated site's nodes, and secrets or the refusal of them; yield a client, and what was asked."""
    asked: list[str] = []
    nodes = json.loads(exported("sim", "kubernetes")["nodes.json"])["items"]
    for node in nodes:
        node["status"]["nodeInfo"] = {**dict.fromkeys(NODE_INFO, ""), **node["status"]["nodeInfo"]}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            asked.append(self.path)
            path = self.path.partition("?")[0]
            refused = path.endswith("/secrets") and secrets is None
            items = nodes if path.endswith("/nodes") else [{"metadata": {}, "data": data} for data in secrets or []]
            known = path in {"/api/v1/nodes", "/api/v1/secrets"}
            status = {"kind": "Status", "code": 403, "message": "secrets is forbidden", "reason": "Forbidden"}
            body = json.dumps(status if refused or not known else {"metadata": {}, "items": items}).encode()
            self.send_response(403 if refused or not known else 200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield client_of(server.server_address[1]), asked
    finally:
        server.shutdown()
        server.server_close()


def read(secrets: list[dict[str, str]] | None) -> tuple[Reading, str]:
    """Return what is read of a cluster live, with the texts that would be kept."""
    with api(secrets) as (client, _):
        taken = ClusterLive("env:K", client).take()
    files = taken.files["kubernetes"]
    return kubernetes.read(files), json.dumps([files, [each.why for each in taken.untold]])


def test_nodes_are_those_of_kubectl_and_releases_are_named_without_their_values() -> None:
    """Facts of nodes are those of `kubectl get nodes -o json`; the values of a chart, which hold keys, are nowhere."""
    reading, texts = read([{"release": kept(RELEASE)}, {"release": "bm9uZQ=="}])
    nodes = kubernetes.read(exported("sim", "kubernetes")).facts

    def values(facts: Any) -> set[tuple[object, ...]]:  # noqa: ANN401 - facts
        return {(fact.subject, fact.field, fact.value) for fact in facts}

    more = values(reading.facts) - values(nodes)
    assert values(nodes) <= values(reading.facts)
    assert {(field, value) for _, field, value in more} == {("operators", ("gpu-operator v25.10.0 in gpu-operator",))}
    assert "hunter2" not in texts


def test_secrets_that_may_not_be_read_are_told_and_nodes_count() -> None:
    """A user who may only read nodes is enough for all but the operators."""
    reading, texts = read(None)
    assert any(fact.field == "kubelet" for fact in reading.facts)
    assert "secrets is forbidden" in texts


def test_a_cluster_that_does_not_answer_is_told() -> None:
    """Nobody is at the server's address."""
    with pytest.raises(AskError, match="kubernetes env:K: "):
        ClusterLive("env:K", client_of(9)).take()
