"""
Kubernetes resources from manifests, without the generated classes of the SDK.

The plan already holds whole manifests, so typed classes would add nothing but time: importing `core.v1` alone costs
1.4 CPU seconds of a preview that may take six. Type tokens, provider and state are those of the SDK.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pulumi import CustomResource, Input, ProviderResource, Resource, ResourceOptions
from pulumi.runtime.rpc import UNKNOWN

if TYPE_CHECKING:
    from coldaisle.plan.model import ClusterPlan, ReleasePlan

SDK_VERSION = version("pulumi-kubernetes")
"""The provider plugin has the number of the SDK, so that the engine finds or downloads that one."""

Manifest = Mapping[str, Any]


class Provider(ProviderResource):
    """
    Access to the site's cluster.

    The kubeconfig is a path, which the plugin opens itself: neither the state nor the program ever holds its content.
    While the file is not there, previews show the resources and only an update fails.
    """

    def __init__(self, name: str, cluster: ClusterPlan, opts: ResourceOptions | None = None) -> None:
        """Point the provider at the kubeconfig of `cluster`; the cluster's name tells it from every other one."""
        props = {"kubeconfig": cluster.kubeconfig.removeprefix("file:"), "clusterIdentifier": cluster.name}
        super().__init__("kubernetes", name, props, _versioned(opts))


FORCE = {"pulumi.com/patchForce": "true"}
"""
What the plan says of an object is the plan's, whoever wrote it last: a field that was changed by hand shows as drift
and is repaired. Without this server-side apply refuses, and a preview ends with a conflict instead of showing it.
Fields that the plan does not name, such as the replicas of a scaled Deployment, stay their owner's.
"""

NO_WAIT = {"pulumi.com/skipAwait": "true"}
"""For an object that is ready when another one is: waiting for both would wait twice."""


def manifest(
    name: str, plan: Manifest, opts: ResourceOptions | None = None, annotations: Mapping[str, str] | None = None
) -> CustomResource:
    """Return the resource of one manifest, of any kind, with annotations that speak to the provider."""
    group = plan["apiVersion"] if "/" in plan["apiVersion"] else f"core/{plan['apiVersion']}"
    props = _plain(plan)
    props["metadata"]["annotations"] = {**props["metadata"].get("annotations", {}), **FORCE, **(annotations or {})}
    return CustomResource(f"kubernetes:{group}:{plan['kind']}", name, props, _versioned(opts))


def release(
    name: str, plan: ReleasePlan, timeout_s: int, parent: Resource, after: Sequence[Resource] = ()
) -> CustomResource:
    """
    Return a Helm release below `parent`, with its hooks.

    A failed first install is undone, so that the next run starts clean instead of meeting a half-installed release.
    """
    props = {
        "name": plan.name,
        "namespace": plan.namespace,
        "chart": plan.chart,
        "version": plan.version,
        "repositoryOpts": {"repo": _once_there(parent, plan.repository)},
        "values": _plain(plan.values),
        "createNamespace": False,
        "atomic": True,
        "timeout": timeout_s,
        "maxHistory": 5,
    }
    opts = ResourceOptions(parent=parent, depends_on=list(after))
    return CustomResource("kubernetes:helm.sh/v3:Release", name, props, _versioned(opts))


def _once_there(resource: Resource, url: str) -> Input[str]:
    """
    Return the chart mirror's address once the stack has met the cluster.

    The provider plugin resolves charts while it previews. The first preview of a stack comes before its site is up, so
    the address is unknown until the provider of `resource` has been made, and that preview reaches out to nothing.
    """
    provider = resource.get_provider("kubernetes::")
    # The SDK takes the engine's word for "not known yet" for the id itself, so it is handed on as it came.
    return url if provider is None else provider.id.apply(lambda met: UNKNOWN if met == UNKNOWN else url)


def _versioned(opts: ResourceOptions | None) -> ResourceOptions:
    return ResourceOptions.merge(opts, ResourceOptions(version=SDK_VERSION))


def _plain(value: Any) -> Any:  # noqa: ANN401 - plain data of any shape
    """Return mappings as dicts and tuples as lists: what Pulumi serialises."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
