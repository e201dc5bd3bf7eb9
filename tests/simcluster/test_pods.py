"""What the agent does with pods: which get a process, how they are probed, and which names they see."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from sim.cluster.addresses import ANNOTATION, Pool, given
from sim.cluster.kubelets import is_marked
from sim.cluster.kwok import REAL_IMAGES, stages
from sim.cluster.load import LoadReport, pod_urls
from sim.cluster.names import hosts_text, ready_addresses
from sim.cluster.operators import desired_state, status
from sim.cluster.runner import has_process, pod_status, probe_url
from sim.cluster.volumes import environment, field
from sim.cluster.workloads import program

POD: dict[str, Any] = {
    "metadata": {"name": "llama-1", "namespace": "serving", "uid": "u"},
    "spec": {
        "nodeName": "n1",
        "containers": [
            {
                "name": "engine",
                "image": "vllm/vllm-openai:v0.32.0",
                "ports": [{"name": "http", "containerPort": 8000}],
                "env": [
                    {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                    {"name": "PLAIN", "value": "x"},
                ],
            }
        ],
    },
    "status": {"phase": "Running", "podIP": "198.19.0.7"},
}


@pytest.mark.parametrize(
    ("image", "real"),
    [
        ("vllm/vllm-openai:v0.32.0", True),
        ("mirror.example.net/vllm/vllm-openai@sha256:0", True),
        ("ghcr.io/kedacore/keda:2.21.0", True),
        ("ghcr.io/kedacore/keda-metrics-apiserver:2.21.0", True),
        ("ghcr.io/kedacore/keda-admission-webhooks:2.21.0", False),
        ("nvcr.io/nvidia/gpu-operator:v26.7.0", False),
    ],
)
def test_images_with_a_real_process(image: str, real: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Engines and KEDA's two programs are real processes; all other images are played by KWOK."""
    assert (re.search(REAL_IMAGES, image) is not None) is real


def test_a_pod_without_address_has_no_process_yet() -> None:
    """Nothing is started before KWOK has given the pod its address."""
    assert has_process(POD)
    assert not has_process({**POD, "status": {"phase": "Pending"}})


def test_probe_of_a_named_port() -> None:
    """A probe's port may be given by its name in the container."""
    assert probe_url(POD, {"path": "/health", "port": "http"}) == "http://198.19.0.7:8000/health"
    assert probe_url(POD, {"path": "/x", "port": 6443, "scheme": "HTTPS"}) == "https://198.19.0.7:6443/x"


def test_readiness_in_a_pods_status() -> None:
    """Conditions and container agree on whether the pod is ready, and restarts are counted."""
    made = pod_status(POD, 2, ready=False)
    assert {condition["status"] for condition in made["conditions"]} == {"False"}
    assert (made["containerStatuses"][0]["ready"], made["containerStatuses"][0]["restartCount"]) == (False, 2)


@pytest.mark.parametrize(
    ("containers", "pod", "phase", "marked"),
    [
        (True, False, "Running", True),
        (True, True, "Running", False),
        (False, False, "Running", False),
        (True, False, "Succeeded", False),
    ],
)
def test_the_mark_of_a_lost_node(containers: bool, pod: bool, phase: str, marked: bool) -> None:  # noqa: FBT001
    """Only a running pod whose containers are all ready, and which is not, was marked by the controllers."""
    conditions = [{"type": "ContainersReady", "status": str(containers)}, {"type": "Ready", "status": str(pod)}]
    state = {"phase": phase, "conditions": conditions, "containerStatuses": [{"ready": containers}]}
    assert is_marked({"metadata": {}, "status": state}) is marked


def test_environment_of_a_container() -> None:
    """Fields of the pod are filled in, and the API server's address is given as in any pod."""
    made = environment(POD, POD["spec"]["containers"][0], "198.18.1.10", 6443)
    assert made["POD_NAMESPACE"] == "serving"
    assert (made["PLAIN"], made["KUBERNETES_SERVICE_HOST"]) == ("x", "198.18.1.10")
    assert field(POD, "status.hostIP") == ""


def test_names_lead_to_ready_pods() -> None:
    """A Service's name leads to a ready pod; one without ready pods has no name."""
    text = hosts_text([_slice("keda-operator", ready=True), _slice("other", ready=False)])
    assert "198.19.0.7 keda-operator.keda.svc.cluster.local keda-operator.keda.svc keda-operator.keda\n" in text
    assert "other" not in text


def test_load_goes_to_ready_pods_only() -> None:
    """Only addresses that the endpoint slice calls ready get requests."""
    assert pod_urls([_slice("a", ready=True), _slice("b", ready=False)]) == ["http://198.19.0.7:8000"]
    assert ready_addresses({"endpoints": None}) == []


def test_programs_bind_the_pods_address() -> None:
    """Both of KEDA's programs listen at their own pod's address, since pods share a network namespace."""
    assert program("ghcr.io/kedacore/keda-metrics-apiserver:2.21.0", "198.19.0.9") == (
        "keda-adapter",
        ["--bind-address=198.19.0.9", "--port=18080"],
    )
    name, arguments = program("ghcr.io/kedacore/keda:2.21.0", "198.19.0.9")
    assert name == "keda-operator"
    assert all("198.19.0.9:" in argument for argument in arguments)


def test_an_operator_is_ready_with_its_deployment() -> None:
    """A custom resource is ready only while its operator's Deployment is available."""
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    failing = {"status": {"conditions": [{"type": "Available", "status": "False"}]}}
    assert desired_state([failing, available]) == "ready"
    assert {desired_state([]), desired_state([{}]), desired_state([failing])} == {"notReady"}
    assert status("ready", {"metadata": {"generation": 3}})["conditions"][0]["observedGeneration"] == 3


def test_kwok_has_no_heartbeat() -> None:
    """KWOK plays pods; a node's conditions and lease are its own host's work."""
    nodes = [stage for stage in stages() if stage["spec"]["resourceRef"]["kind"] == "Node"]
    assert [stage["metadata"]["name"] for stage in nodes] == ["node-none"]
    assert all("statusTemplate" not in stage["spec"]["next"] for stage in nodes)


def _slice(service: str, *, ready: bool) -> dict[str, Any]:
    metadata = {"namespace": "keda", "name": f"{service}-x", "labels": {"kubernetes.io/service-name": service}}
    endpoints = [{"addresses": ["198.19.0.7"], "conditions": {"ready": ready}}]
    return {"metadata": metadata, "endpoints": endpoints, "ports": [{"port": 8000}]}


def test_a_pod_keeps_its_address() -> None:
    """A pod has one address, two pods have two, and a network that is full says so."""
    pool = Pool("198.19.0.0/30")
    assert (pool.take("a"), pool.take("b"), pool.take("a")) == ("198.19.0.1", "198.19.0.2", "198.19.0.1")
    with pytest.raises(LookupError, match=r"all 2 addresses of 198\.19\.0\.0/30 are taken"):
        pool.take("c")
    pool.release("a")
    assert pool.take("c") == "198.19.0.1"


def test_addresses_of_an_earlier_run_are_taken() -> None:
    """After a restart no new pod gets the address of one that is there."""
    pool = Pool("198.19.0.0/29")
    pool.restore(given([{"metadata": {"uid": "a", "annotations": {ANNOTATION: "198.19.0.1"}}}, POD]))
    assert (pool.take("b"), pool.take("a")) == ("198.19.0.2", "198.19.0.1")


def test_a_load_report_counts_every_request_once() -> None:
    """Each request is answered well, failed, or not answered; percentiles are of the good answers."""
    report = LoadReport(
        sent=10, statuses=Counter({"200": 6, "503": 1, "TimeoutError": 1}), latencies_s=[1, 2, 3, 4, 5, 9]
    )
    made = report.summary()
    assert (made["succeeded"], made["failed"], made["unanswered"]) == (6, 2, 2)
    assert (made["latency_p50_s"], made["latency_p95_s"]) == (4, 9)
    assert LoadReport().summary()["latency_p50_s"] is None
