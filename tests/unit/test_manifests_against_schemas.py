"""Every manifest of a plan against the schema of its kind, and no field that an API server would prune."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.plan.model import SitePlan

ROOT = Path(__file__).parents[2]
CRDS = ROOT.parent / "shared" / "crds"
needs_crds = pytest.mark.skipif(not CRDS.is_dir(), reason=f"no CRDs in {CRDS}; they are not part of the project")


@pytest.fixture(scope="module")
def plan() -> SitePlan:
    """Return the plan of the simulated site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return open_site(Path("inventory") / "sim").plan


def schema_of(file: str) -> dict[str, Any]:
    """Return the schema of the version that a CRD stores."""
    crd = yaml.safe_load((CRDS / file).read_text(encoding="utf-8"))
    (stored,) = (version for version in crd["spec"]["versions"] if version["storage"])
    found: dict[str, Any] = stored["schema"]["openAPIV3Schema"]
    return found


def pruned(value: Any, schema: dict[str, Any], path: str = "") -> list[str]:  # noqa: ANN401 - any part of a manifest
    """Return the paths of a value that an API server with this schema would drop without a word."""
    if isinstance(value, list):
        return [gone for item in value for gone in pruned(item, schema.get("items", {}), f"{path}[]")]
    if not isinstance(value, dict) or schema.get("x-kubernetes-preserve-unknown-fields"):
        return []
    known, free = schema.get("properties"), schema.get("additionalProperties")
    if known is None:
        return [] if free or path.endswith("metadata") else [f"{path}.{key}" for key in value]
    return [
        gone
        for key, item in value.items()
        for gone in (pruned(item, known[key], f"{path}.{key}") if key in known else [f"{path}.{key}"])
    ]


def refused(value: Any, schema: dict[str, Any]) -> list[str]:  # noqa: ANN401
    """Return what an API server would refuse, and what it would drop."""
    validator = jsonschema.Draft4Validator(schema)
    return [error.message for error in validator.iter_errors(value)] + pruned(value, schema)


def test_built_in_kinds_are_valid(plan: SitePlan) -> None:
    """Deployment, Service and PodDisruptionBudget hold to the API's own schemas, strictly."""
    manifests = [manifest for endpoint in plan.endpoints for manifest in endpoint.manifests.values()]
    assert len(manifests) == 3
    for manifest in manifests:
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


@needs_crds
def test_scaled_objects_are_valid(plan: SitePlan) -> None:
    """KEDA's CRD takes every field, `fallback.behavior` included."""
    assert plan.autoscaler is not None
    for scaled in plan.autoscaler.scaled_objects.values():
        assert refused(scaled, schema_of("keda.sh_scaledobjects.yaml")) == []


@needs_crds
def test_the_nic_cluster_policy_is_valid(plan: SitePlan) -> None:
    """Every field exists in the operator's release, and images are complete."""
    assert plan.gpu_stack is not None
    for policy in plan.gpu_stack.resources:
        assert refused(policy, schema_of("mellanox.com_nicclusterpolicies.yaml")) == []


@needs_crds
def test_the_gpu_operators_values_are_fields_of_its_cluster_policy(plan: SitePlan) -> None:
    """What the chart copies into ClusterPolicy is not pruned there; `operator` and `nfd` are the chart's own."""
    assert plan.gpu_stack is not None
    (values,) = (release.values for release in plan.gpu_stack.releases if release.name == "gpu-operator")
    copied = {key: value for key, value in values.items() if key not in {"nfd", "operator"}}
    spec = schema_of("nvidia.com_clusterpolicies.yaml")["properties"]["spec"]
    assert refused(copied, {**spec, "required": []}) == []


@needs_crds
def test_a_field_that_would_be_pruned_is_found() -> None:
    """The field of NVIDIA's own text, `gpuPodDeletion`, is none of the CRD's."""
    policy: dict[str, Any] = {"spec": {"driver": {"upgradePolicy": {"gpuPodDeletion": {}}}}}
    gone = pruned(policy, schema_of("nvidia.com_clusterpolicies.yaml"))
    assert gone == [".spec.driver.upgradePolicy.gpuPodDeletion"]
