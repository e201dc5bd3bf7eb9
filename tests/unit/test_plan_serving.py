"""Endpoints, their scaling and the GPU stack, as manifests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

from coldaisle.plan import plan_site
from coldaisle.plan.autoscaling import plan_autoscaler
from coldaisle.plan.cluster import plan_cluster
from coldaisle.plan.engines import right_metric, version_numbers
from coldaisle.plan.gpu_stack import plan_gpu_stack
from coldaisle.plan.serving import plan_endpoints, startup_seconds
from coldaisle.render.ansible import host_vars
from coldaisle.spec import load_site
from coldaisle.spec.cluster import ClusterSpec, GpuStackSpec
from coldaisle.spec.host_settings import RdmaSpec
from coldaisle.spec.serving import AutoscalingSpec, EndpointSpec, ServingSpec

if TYPE_CHECKING:
    from coldaisle.spec import SiteSpec

SITE = Path(__file__).parents[2] / "inventory" / "sim"


def section(file: str, name: str) -> dict[str, Any]:
    """Return a section of the simulated site as plain data."""
    found: dict[str, Any] = yaml.safe_load((SITE / file).read_text(encoding="utf-8"))[name]
    return found


def site(
    *,
    endpoint: dict[str, Any] | None = None,
    scaled: bool = True,
    rdma: RdmaSpec | None = None,
    gpu: dict[str, Any] | None = None,
) -> SiteSpec:
    """Return the sections that the planners read, as the simulated site has them but for the changes given."""
    serving = section("serving.yaml", "serving")
    serving["endpoints"][0] |= endpoint or {}
    autoscaling = AutoscalingSpec(**section("serving.yaml", "autoscaling")) if scaled else None
    sections = SimpleNamespace(
        cluster=ClusterSpec(**section("cluster.yaml", "cluster")),
        gpu=GpuStackSpec(**(gpu or section("cluster.yaml", "gpu"))),
        serving=ServingSpec(**serving),
        autoscaling=autoscaling,
        node_pools={"guests": SimpleNamespace(rdma=rdma)},
    )
    return cast("SiteSpec", sections)


def deployment(spec: SiteSpec) -> dict[str, Any]:
    """Return the Deployment's spec of the only endpoint."""
    (endpoint,) = plan_endpoints(spec)
    found: dict[str, Any] = dict(endpoint.manifests["Deployment"]["spec"])
    return found


def container(spec: SiteSpec) -> dict[str, Any]:
    """Return the engine's container."""
    found: dict[str, Any] = deployment(spec)["template"]["spec"]["containers"][0]
    return found


def test_startup_waits_for_the_weights_twice_and_for_the_warm_up() -> None:
    """16 GB at 0.5 GB/s is 33 s of reading; two replicas at once take 66, and warming up 120 more (C32)."""
    endpoint = ServingSpec(**section("serving.yaml", "serving")).endpoints[0]
    assert startup_seconds(endpoint) == 2 * 33 + 120


def test_no_probe_can_kill_a_replica_that_still_loads() -> None:
    """The start-up probe covers the whole start, and liveness begins after it (C32)."""
    engine = container(site(endpoint={"weights_bytes": 400_000_000_000}))
    probe = engine["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] >= 2 * 800 + 120
    assert "initialDelaySeconds" not in engine["livenessProbe"]


def test_replicas_have_one_owner() -> None:
    """A scaled endpoint does not say how many; one that nobody scales does (A8, C45)."""
    assert "replicas" not in deployment(site())
    assert deployment(site(scaled=False))["replicas"] == 1


def test_rdma_is_given_only_to_who_asks_for_it() -> None:
    """IPC_LOCK, the device and NCCL's setting come together, or not at all (C30)."""
    plain, with_rdma = container(site()), container(site(endpoint={"rdma": True}, rdma=RdmaSpec(mode="roce")))
    assert "add" not in plain["securityContext"]["capabilities"]
    assert not any(name.startswith(("rdma/", "nvidia.com/rdma")) for name in plain["resources"]["limits"])
    assert with_rdma["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    assert with_rdma["resources"]["limits"]["rdma/rdma_shared"] == "2"
    assert {"name": "NCCL_NET", "value": "IB"} in with_rdma["env"]


def test_f15_the_gid_index_is_left_to_nccl() -> None:
    """One index for all pods is wrong for most of them (C28, F15)."""
    engine = container(site(endpoint={"rdma": True}, rdma=RdmaSpec(mode="roce")))
    assert not [variable for variable in engine["env"] if "GID_INDEX" in variable["name"]]


def test_a_namespace_is_no_more_privileged_than_its_pods() -> None:
    """An engine without RDMA runs under `restricted`; IPC_LOCK is forbidden below `privileged`."""
    levels = [
        {namespace.name: namespace.pod_security for namespace in plan.namespaces}["serving"]
        for plan in (plan_cluster(spec, (object(),)) for spec in (site(), site(endpoint={"rdma": True})))  # type: ignore[arg-type]
        if plan
    ]
    assert levels == ["restricted", "privileged"]


def test_a_pod_meets_the_restricted_profile() -> None:
    """Every field that Pod Security Standards ask of `restricted` is there."""
    pod = deployment(site())["template"]["spec"]
    engine = pod["containers"][0]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert engine["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_a_whole_replica_is_asked_for_in_integers() -> None:
    """Limits equal requests, so that the kubelet pins cores beside the GPUs."""
    resources = container(site(endpoint={"cpu": 8.0}))["resources"]
    assert resources["requests"] == resources["limits"]
    assert resources["limits"]["cpu"] == "8"


def test_shared_memory_is_a_bounded_volume() -> None:
    """Tensor parallel workers talk through /dev/shm, whose default of 64 MiB is too small for them."""
    volumes = deployment(site(endpoint={"shared_memory_bytes": 8 << 30}))["template"]["spec"]["volumes"]
    assert {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": str(8 << 30)}} in volumes


def test_a_digest_pins_the_image() -> None:
    """A tag may be moved; a digest cannot."""
    engine = {"version": "v0.32.0", "digest": "sha256:" + "a" * 64}
    assert container(site(endpoint={"engine": engine}))["image"].endswith(":v0.32.0@sha256:" + "a" * 64)


def test_a_drain_is_never_blocked_for_ever() -> None:
    """The budget lets one replica go even when there is only one (C50)."""
    (endpoint,) = plan_endpoints(site())
    assert endpoint.manifests["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1


def scaled_object() -> dict[str, Any]:
    """Return the spec of the only ScaledObject."""
    spec = site()
    plan = plan_autoscaler(spec, plan_endpoints(spec))
    assert plan is not None
    found: dict[str, Any] = dict(plan.scaled_objects["llama"]["spec"])
    return found


def test_a_missing_series_is_a_fault_and_keeps_what_runs() -> None:
    """Nulls are not zeros, and the fallback never takes replicas away (A1, A2, C35)."""
    spec = scaled_object()
    assert spec["triggers"][0]["metadata"]["ignoreNullValues"] == "false"
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"
    assert spec["fallback"]["replicas"] >= 1


def test_a_trigger_has_the_address_under_the_name_that_keda_reads() -> None:
    """Any other key is accepted, and the trigger stays Unknown (A7)."""
    assert scaled_object()["triggers"][0]["metadata"]["serverAddress"] == "http://198.18.1.10:9090"


def test_the_query_asks_for_this_models_queue() -> None:
    """The name has a colon, and another model's queue does not scale this one (A4)."""
    query = scaled_object()["triggers"][0]["metadata"]["query"]
    assert query == 'sum(vllm:num_requests_waiting{model_name="meta-llama/Llama-3.1-8B-Instruct"})'


@pytest.mark.parametrize(
    ("metric", "version", "right"),
    [
        ("vllm:num_requests_waiting", "v0.32.0", None),
        ("vllm_num_requests_waiting", "v0.32.0", "vllm:num_requests_waiting"),
        ("vllm:gpu_cache_usage_perc", "v0.24.1", None),
        ("vllm:gpu_cache_usage_perc", "v0.25.0", "vllm:kv_cache_usage_perc"),
        ("vllm_gpu_cache_usage_perc", "v0.32.0", "vllm:kv_cache_usage_perc"),
    ],
)
def test_metric_names_follow_the_engines_release(metric: str, version: str, right: str | None) -> None:
    """Old names are right for old engines and silent on new ones (A4, C37)."""
    assert right_metric(metric, version) == right


def test_versions_compare_as_numbers() -> None:
    """0.9 is older than 0.10."""
    assert version_numbers("v0.9.0") < version_numbers("0.10.0-rc1")


def values(spec: SiteSpec, name: str) -> dict[str, Any]:
    """Return the values of a release."""
    stack = plan_gpu_stack(spec)
    assert stack is not None
    (release,) = (release for release in stack.releases if release.name == name)
    return dict(release.values)


def test_node_feature_discovery_is_installed_once() -> None:
    """Two of them would fight over the nodes' labels."""
    assert values(site(), "gpu-operator")["nfd"]["enabled"]
    assert not values(site(), "network-operator")["nfd"]["enabled"]


def test_a_driver_has_one_owner() -> None:
    """Where the host's image brings the driver, the operator leaves it alone (G6)."""
    assert values(site(), "gpu-operator")["driver"] == {"enabled": False}
    operator = {"gpu_operator": {"version": "v26.7.0", "driver": "operator", "driver_version": "595.91.07"}}
    driver = values(site(gpu=operator, rdma=RdmaSpec(mode="roce")), "gpu-operator")["driver"]
    assert (driver["version"], driver["rdma"]["enabled"]) == ("595.91.07", True)


def test_no_values_that_the_chart_does_not_read() -> None:
    """`driver.maxParallelUpgrades` and `useOpenKernelModules` are dead keys, known from published values."""
    driver = values(site(gpu={"gpu_operator": {"version": "v26.7.0", "driver": "operator"}}), "gpu-operator")["driver"]
    assert not {"maxParallelUpgrades", "useOpenKernelModules"} & set(driver)


def test_nic_drivers_stay_on_the_host() -> None:
    """A reload of the NIC driver would cut the node off its management path (G12)."""
    stack = plan_gpu_stack(site(rdma=RdmaSpec(mode="roce", vfs_per_port=2)))
    assert stack is not None
    assert "ofedDriver" not in stack.resources[0]["spec"]


def test_rdma_devices_follow_the_pools() -> None:
    """Virtual functions are handed out one by one, whole ports are shared, and no RDMA means no policy."""
    kinds = []
    for rdma in (RdmaSpec(mode="roce", vfs_per_port=2), RdmaSpec(mode="infiniband"), None):
        stack = plan_gpu_stack(site(rdma=rdma))
        assert stack is not None
        kinds.append(
            [
                sorted(set(policy["spec"]) & {"sriovDevicePlugin", "rdmaSharedDevicePlugin"})
                for policy in stack.resources
            ]
        )
    assert kinds == [[["sriovDevicePlugin"]], [["rdmaSharedDevicePlugin"]], []]


def test_an_endpoint_spec_refuses_an_unpinned_engine() -> None:
    """`latest` would change under a running site."""
    data = section("serving.yaml", "serving")["endpoints"][0] | {"engine": {"version": "latest"}}
    with pytest.raises(ValueError, match="version"):
        EndpointSpec(**data)


@pytest.mark.parametrize(
    ("strategy", "gpus"), [("none", {"nvidia.com/gpu": 8}), ("mixed", {})], ids=["whole", "g1-some-are-divided"]
)
def test_what_a_node_has_to_offer_is_known_by_whoever_gives_it_back(strategy: str, gpus: dict[str, int]) -> None:
    """Whole GPUs are counted where none is divided; of RDMA devices there has to be one, where a pool has any."""
    spec = load_site(SITE)
    assert spec.gpu is not None
    gpu = spec.gpu.model_copy(
        update={"gpu_operator": spec.gpu.gpu_operator.model_copy(update={"mig_strategy": strategy})}
    )
    plan = plan_site(replace(spec, sections=spec.sections.model_copy(update={"gpu": gpu})))
    given = {node: host_vars(plan, node)["drain_node"].get("offers", {}) for node in ("r01-n01", "r01-n02")}
    assert given == {"r01-n01": gpus | {"nvidia.com/rdma_vf": 1}, "r01-n02": gpus}
