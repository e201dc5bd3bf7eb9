"""The machines: pools of like nodes, and the plays that bring them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi import ComponentResource, ResourceOptions

from components.planned import play_inputs
from components.play import Play

if TYPE_CHECKING:
    from pathlib import Path

    from coldaisle.plan.model import PoolPlan, SitePlan


class NodePool(ComponentResource):
    """A group of like nodes."""

    def __init__(self, name: str, plan: PoolPlan, opts: ResourceOptions | None = None) -> None:
        """Show the pool of `plan`."""
        shown = {
            "role": plan.role,
            "system": plan.system,
            "image": plan.image,
            "count": len(plan.nodes),
            "gpus": len(plan.nodes) * plan.gpu.count if plan.gpu else 0,
            "driverFloor": plan.gpu.driver_floor if plan.gpu else None,
            "rdma": plan.rdma.mode if plan.rdma else None,
        }
        super().__init__("coldaisle:metal:NodePool", name, shown, opts)
        self.register_outputs({**shown, "nodes": list(plan.nodes)})


class BringUp(ComponentResource):
    """The plays of a site, each after those that the plan puts before it."""

    def __init__(  # noqa: PLR0913 - a resource's inputs
        self,
        name: str,
        plan: SitePlan,
        site: Path,
        on_delete: str = "undo",
        opts: ResourceOptions | None = None,
        *,
        adopt: bool = False,
    ) -> None:
        """
        Run the plays of `plan`; the provider renders their inventory from `site`, and undoes or forgets them.

        With `adopt` every play is imported; it runs on those of its hosts that are not as planned already.
        """
        super().__init__("coldaisle:metal:BringUp", name, {"plays": len(plan.plays)}, opts)
        inputs = play_inputs(plan, str(site), on_delete)
        made: dict[str, Play] = {}
        for play in plan.plays:
            made[play.name] = Play(
                play.name,
                **inputs[play.name],
                opts=ResourceOptions(
                    parent=self,
                    depends_on=[made[before] for before in play.after],
                    import_=play.name if adopt else None,
                ),
            )
        self.register_outputs(
            {"plays": list(made), "hosts": sorted({host for play in plan.plays for host in play.facts})}
        )
