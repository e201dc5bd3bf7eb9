"""A site as one component: every layer of its plan, each after those that it stands on."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from pulumi import ComponentResource, Resource, ResourceOptions

from components.kubernetes import Provider
from components.layers import BUILD, IN_CLUSTER

if TYPE_CHECKING:
    from components.layers import Site


class Datacenter(ComponentResource):
    """A site from its floor to its models, or those of its layers that a stack holds."""

    def __init__(
        self, name: str, site: Site, layers: Collection[str] = tuple(BUILD), opts: ResourceOptions | None = None
    ) -> None:
        """Compose the `layers` of `site`; a layer left out is taken to be there already."""
        held = [layer for layer in BUILD if layer in layers]
        shown = {"site": str(site.folder), "planHash": site.plan_hash, "layers": held}
        super().__init__("coldaisle:site:Datacenter", name, shown, opts)
        providers = {}
        if site.plan.cluster and IN_CLUSTER & set(held):
            providers["kubernetes"] = Provider(site.plan.cluster.name, site.plan.cluster, ResourceOptions(parent=self))
        below: list[Resource] = []
        for layer in held:
            child = ResourceOptions(parent=self, depends_on=below, providers=providers)
            below = list(BUILD[layer](site, child)) or below
        self.register_outputs(shown)
