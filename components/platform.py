"""What makes GPUs and RDMA devices allocatable: operators as Helm releases, then their custom resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, CustomResource, Resource, ResourceOptions

from components.kubernetes import manifest, release

if TYPE_CHECKING:
    from coldaisle.plan.model import GpuStackPlan

RELEASE_TIMEOUT_S = 300
"""An operator's own pods are small; if they do not run in five minutes, they will not."""


class GpuStack(ComponentResource):
    """
    The operators of GPUs and NICs.

    Releases go one after the other, NICs before GPUs: an upgrade of both at once breaks GPUDirect (C9). Custom
    resources come after all releases, since a release brings the kind and the webhook (C44).
    """

    def __init__(self, name: str, plan: GpuStackPlan, opts: ResourceOptions | None = None) -> None:
        """Install the releases of `plan` and apply its custom resources."""
        shown = {"releases": {release.name: release.version for release in plan.releases}}
        super().__init__("coldaisle:platform:GpuStack", name, shown, opts)
        before: list[Resource] = []
        for planned in plan.releases:
            before.append(release(planned.name, planned, RELEASE_TIMEOUT_S, self, before))
        resources: dict[str, CustomResource] = {}
        for planned_resource in plan.resources:
            own_name = planned_resource["metadata"]["name"]
            child = ResourceOptions(parent=self, depends_on=before)
            resources[own_name] = manifest(own_name, planned_resource, child)
        self.register_outputs({**shown, "resources": list(resources)})
