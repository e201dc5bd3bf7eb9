"""What is written before the control plane starts: addresses, certificates, kubeconfigs, command lines."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from coldaisle.check import open_site
from sim.cluster import bootstrap, prometheus
from sim.cluster.api import resource_path
from sim.cluster.identity import certificates, ensure_identities, new_token
from sim.cluster.layout import Layout
from sim.cluster.processes import processes
from sim.cluster.site import process_status
from sim.endpoints import endpoints
from sim.state import State


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return a layout in a temporary state folder."""
    return Layout(
        site="test",
        state=tmp_path,
        namespace="ca-test-cp",
        api_address="198.18.1.10",
        api_port=6443,
        pod_cidr="198.19.0.0/17",
        service_cidr="198.19.128.0/20",
        prometheus_port=9090,
        mirror_port=8879,
        kubernetes_version="v1.37.2",
    )


def test_secrets_are_for_their_owner_only(layout: Layout) -> None:
    """Keys, kubeconfigs and the bootstrap token can be read by their owner alone."""
    ensure_identities(layout)
    paths = [layout.admin_kubeconfig, layout.bootstrap_token, *layout.kubeconfigs.iterdir(), *layout.pki.rglob("*.key")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}


def test_identities_stay(layout: Layout) -> None:
    """A second call keeps the authority and the token: hosts that joined stay joined."""
    ensure_identities(layout)
    before = [(layout.pki / "ca.crt").read_text(), layout.bootstrap_token.read_text()]
    ensure_identities(layout)
    assert [(layout.pki / "ca.crt").read_text(), layout.bootstrap_token.read_text()] == before


def test_the_api_server_answers_to_its_names(layout: Layout) -> None:
    """The certificate covers the address that hosts use and the first Service address."""
    ensure_identities(layout)
    certificate = x509.load_pem_x509_certificate((certificates(layout) / "apiserver.crt").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(address) for address in names.get_values_for_type(x509.IPAddress)}
    assert addresses == {"198.18.1.10", "198.19.128.1", "127.0.0.1"}
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


def test_the_kubeconfig_is_plain_json(layout: Layout) -> None:
    """A kubeconfig is JSON, which is YAML too: hosts without a YAML parser can read it."""
    ensure_identities(layout)
    assert json.loads(layout.admin_kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == layout.api_url


def test_nothing_listens_on_every_address(layout: Layout) -> None:
    """Every listener has an address: pods share the namespace with the control plane."""
    made = processes(layout, lambda name: f"/bin/{name}")
    words = [word for process in made for word in process.argv]
    assert not [word for word in words if "0.0.0.0" in word or "=:" in word]  # noqa: S104 - looked for, not bound


def test_no_secret_is_on_a_command_line(layout: Layout) -> None:
    """The token and the keys are handed over in files."""
    ensure_identities(layout)
    token = layout.bootstrap_token.read_text()
    words = [word for process in processes(layout, lambda name: name) for word in process.argv]
    assert not [word for word in words if token in word or "PRIVATE KEY" in word]


def test_order_of_start(layout: Layout) -> None:
    """Etcd is first, then the API server, and everything else needs the API server."""
    made = {process.name: process.needs for process in processes(layout, lambda name: name)}
    assert made.pop("etcd") == []
    assert made.pop("kube-apiserver") == ["etcd"]
    assert made.pop("prometheus") == ["agent"]
    assert set(map(tuple, made.values())) == {("kube-apiserver",)}


def test_pods_are_the_clusters_to_start(layout: Layout) -> None:
    """A site whose pods are just being started is up: they are not part of what always runs."""
    layout.run.mkdir(parents=True)
    (layout.folder / "processes.json").write_text("[]")
    (layout.run / "pod-keda.pid").write_text("0\n")
    plan = open_site(Path(__file__).parents[2] / "inventory" / "sim").plan
    found = {one.name: one.always_on for one in endpoints(plan, State("test", layout.state), process_status(layout))}
    assert (found["supervisor"], found["pod-keda"]) == (True, False)


def test_prometheus_asks_the_agent(layout: Layout) -> None:
    """Prometheus finds its targets at the chart mirror's own port, wherever that is."""
    made = prometheus.configuration(replace(layout, mirror_port=9000))
    assert made["scrape_configs"][0]["http_sd_configs"][0]["url"] == "http://198.18.1.10:9000/prometheus/targets"


def test_a_bootstrap_token_has_kubernetes_form() -> None:
    """Six characters, a dot, sixteen characters; and the secret is named after the first part."""
    token = new_token()
    assert [len(part) for part in token.split(".")] == [6, 16]
    secret = bootstrap.manifests(token)[0]
    assert secret["metadata"]["name"] == f"bootstrap-token-{token[:6]}"


def test_paths_of_objects() -> None:
    """An object's path follows from its manifest."""
    secret = bootstrap.manifests("abcdef.0123456789abcdef")[0]
    assert resource_path(secret) == "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef"
    policy = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "x"}}
    assert resource_path(policy) == "/apis/nvidia.com/v1/clusterpolicies/x"
