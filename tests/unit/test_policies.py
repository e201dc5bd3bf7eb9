"""The rules of the policy pack, each with what it lets pass and what it reports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from pulumi_policy import ResourceValidationArgs, StackValidationArgs

from policies import rules


def resource(type_: str, props: dict[str, Any]) -> SimpleNamespace:
    """Return a resource as the engine hands it to a rule."""
    return SimpleNamespace(resource_type=type_, props=props, urn=f"urn:{type_}")


def reports(rule: Any, *resources: SimpleNamespace, stack: bool = False) -> list[str]:  # noqa: ANN401 - two signatures
    """Return what a rule says of resources: each by itself, or the stack of them."""
    said: list[str] = []
    if stack:
        rule(
            cast("StackValidationArgs", SimpleNamespace(resources=list(resources))),
            lambda text, _urn: said.append(text),
        )
    for one in () if stack else resources:
        rule(cast("ResourceValidationArgs", one), lambda text, _urn: said.append(text))
    return said


def deployment(container: dict[str, Any], **spec: Any) -> SimpleNamespace:  # noqa: ANN401 - fields of a manifest
    """Return a Deployment of one container."""
    pod = {"spec": {"containers": [{"name": "engine", **container}]}}
    return resource(
        rules.DEPLOYMENT, {"metadata": {"name": "llama", "namespace": "serving"}, "spec": {"template": pod, **spec}}
    )


def scaled_object(name: str) -> SimpleNamespace:
    """Return a ScaledObject of the Deployment of that name."""
    return resource(
        rules.SCALED_OBJECT, {"metadata": {"namespace": "serving"}, "spec": {"scaleTargetRef": {"name": name}}}
    )


def rack(load_after_loss_w: float | None) -> SimpleNamespace:
    """Return a rack with one circuit of 18 kW; numbers are floats, as the engine gives them."""
    feed = {"capacityW": 18000.0, "loadW": 9000.0, "loadAfterLossW": load_after_loss_w}
    return resource("coldaisle:facility:Rack", {"feeds": {"a": feed}})


def test_a_circuit_may_carry_what_it_is_made_for() -> None:
    """An unknown load is not a report: the checks of the plan already told of it."""
    assert reports(rules.rack_power, rack(18000.0), rack(None)) == []


def test_an_overload_is_reported_with_its_state_and_figures() -> None:
    """The text says when it happens, and how much is too much."""
    said = reports(rules.rack_power, rack(18600.0))
    assert said == ["feed a carries 18600 W when another feed fails, and may carry 18000 W"]


def test_a_play_has_a_largest_size() -> None:
    """One over the limit is reported, the limit is not."""
    hosts: dict[str, Any] = {f"n{number}": {} for number in range(rules.MAX_HOSTS + 1)}
    at_limit = dict(list(hosts.items())[1:])
    plays = [resource("coldaisle:ansible:Play", {"hosts": given}) for given in (at_limit, hosts)]
    assert len(reports(rules.play_size, *plays)) == 1


def test_a_stack_has_a_largest_size() -> None:
    """The 301st resource is reported."""
    many = [resource("x", {})] * rules.MAX_RESOURCES
    assert reports(rules.stack_size, *many, stack=True) == []
    assert len(reports(rules.stack_size, *many, resource("x", {}), stack=True)) == 1


def test_a_kubeconfig_is_a_path() -> None:
    """YAML and JSON content are reported; a path and an absent value are not."""
    given = ("~/.kube/config", None, "apiVersion: v1\nkind: Config\n", '{"kind": "Config"}')
    providers = [resource("pulumi:providers:kubernetes", {"kubeconfig": value}) for value in given]
    assert len(reports(rules.kubeconfig_is_a_path, *providers)) == 2


def test_a_namespace_says_what_its_pods_may_do() -> None:
    """A namespace without the label is reported by name."""
    labelled = {"metadata": {"name": "a", "labels": {rules.POD_SECURITY: "restricted"}}}
    bare = {"metadata": {"name": "b"}}
    namespaces = [resource("kubernetes:core/v1:Namespace", props) for props in (labelled, bare)]
    assert reports(rules.namespace_security, *namespaces) == [f"namespace b has no label {rules.POD_SECURITY}"]


def test_containers_are_pinned_and_limited() -> None:
    """A release or a digest pins; `latest`, or nothing, does not, whatever port the registry has."""
    limits = {"resources": {"limits": {"cpu": "1"}}}
    good = ("vllm:v0.32.0", "localhost:5000/vllm@sha256:aa", "localhost:5000/vllm:v1")
    assert reports(rules.pinned_and_limited, *(deployment({"image": image, **limits}) for image in good)) == []
    bad = ("vllm", "vllm:latest", "localhost:5000/vllm")
    assert len(reports(rules.pinned_and_limited, *(deployment({"image": image, **limits}) for image in bad))) == 3
    assert reports(rules.pinned_and_limited, deployment({"image": "a:b"})) == ["container engine: no resources.limits"]


def test_replicas_have_one_owner() -> None:
    """Only a Deployment that a ScaledObject names must leave its replicas out (A8)."""
    fixed = deployment({}, replicas=3.0)
    assert reports(rules.one_owner_of_replicas, fixed, scaled_object("other"), stack=True) == []
    assert reports(rules.one_owner_of_replicas, deployment({}), scaled_object("llama"), stack=True) == []
    assert len(reports(rules.one_owner_of_replicas, fixed, scaled_object("llama"), stack=True)) == 1
