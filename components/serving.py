"""Models behind Services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, CustomResource, CustomTimeouts, ResourceOptions

from components.kubernetes import NO_WAIT, manifest

if TYPE_CHECKING:
    from coldaisle.plan.model import EndpointPlan

SCHEDULE_S = 120
"""Time for a replica to find GPUs and get its image, on top of the time that its model takes to load."""


class ModelEndpoint(ComponentResource):
    """
    A model endpoint.

    `up` waits for the first replica as long as the model needs, and says so when it does not come; Pulumi's own ten
    minutes are too long for a small model and too short for a large one. The Service is made when a replica answers,
    so that it never routes to nothing.
    """

    deployment: CustomResource

    def __init__(self, name: str, plan: EndpointPlan, opts: ResourceOptions | None = None) -> None:
        """Apply the manifests of `plan`."""
        shown = {"model": plan.model, "gpusPerReplica": plan.gpus_per_replica, "startupS": plan.startup_s}
        super().__init__("coldaisle:serving:ModelEndpoint", name, shown, opts)
        wait = f"{plan.startup_s + SCHEDULE_S}s"
        timeouts = CustomTimeouts(create=wait, update=wait)
        child = ResourceOptions(parent=self, custom_timeouts=timeouts)
        self.deployment = manifest(name, plan.manifests["Deployment"], child)
        after = ResourceOptions(parent=self, depends_on=[self.deployment])
        manifest(name, plan.manifests["Service"], after, NO_WAIT)
        manifest(name, plan.manifests["PodDisruptionBudget"], ResourceOptions(parent=self))
        url = f"http://{plan.name}.{plan.namespace}.svc:{plan.manifests['Service']['spec']['ports'][0]['port']}"
        self.register_outputs({**shown, "url": url})
