"""KEDA, and what it scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, ResourceOptions

from components.kubernetes import manifest, release

if TYPE_CHECKING:
    from coldaisle.plan.model import AutoscalerPlan

RELEASE_TIMEOUT_S = 300


class Autoscaler(ComponentResource):
    """KEDA as a release, then one ScaledObject an endpoint, whose number of replicas it owns from then on."""

    def __init__(self, name: str, plan: AutoscalerPlan, opts: ResourceOptions | None = None) -> None:
        """Install KEDA and apply the ScaledObjects of `plan`."""
        bounds = {
            endpoint: f"{scaled['spec']['minReplicaCount']} to {scaled['spec']['maxReplicaCount']}"
            for endpoint, scaled in plan.scaled_objects.items()
        }
        shown = {"version": plan.release.version, "replicas": bounds}
        super().__init__("coldaisle:autoscaling:Autoscaler", name, shown, opts)
        keda = release(plan.release.name, plan.release, RELEASE_TIMEOUT_S, self)
        for endpoint, scaled in plan.scaled_objects.items():
            manifest(endpoint, scaled, ResourceOptions(parent=self, depends_on=[keda]))
        self.register_outputs(shown)
