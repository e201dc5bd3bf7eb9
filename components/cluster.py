"""The Kubernetes cluster as its users meet it: namespaces with their pod security."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, ResourceOptions

from components.kubernetes import manifest

if TYPE_CHECKING:
    from coldaisle.plan.model import ClusterPlan, NamespacePlan


class Cluster(ComponentResource):
    """A cluster, which is there before the stack is, and the namespaces that the site's layers use."""

    def __init__(self, name: str, plan: ClusterPlan, opts: ResourceOptions | None = None) -> None:
        """Make the namespaces of `plan`."""
        shown = {"apiServer": plan.api_server, "version": plan.version}
        super().__init__("coldaisle:cluster:Cluster", name, shown, opts)
        for namespace in plan.namespaces:
            manifest(namespace.name, _manifest(namespace), ResourceOptions(parent=self))
        levels = {namespace.name: namespace.pod_security for namespace in plan.namespaces}
        self.register_outputs({**shown, "namespaces": levels})


def _manifest(plan: NamespacePlan) -> dict[str, object]:
    labels = {
        "app.kubernetes.io/managed-by": "coldaisle",
        "pod-security.kubernetes.io/enforce": plan.pod_security,
        "pod-security.kubernetes.io/warn": plan.pod_security,
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": plan.name, "labels": labels}}
