"""The networks between the machines: one component a fabric, and in it one a tier of switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulumi import ComponentResource, ResourceOptions

from coldaisle.render.digests import record_digest

if TYPE_CHECKING:
    from coldaisle.plan.model import FabricPlan, SwitchPlan


class Tier(ComponentResource):
    """The switches of one role: their names, and how many of their ports are used."""

    def __init__(self, name: str, switches: Sequence[SwitchPlan], opts: ResourceOptions | None = None) -> None:
        """Show the switches, which are of one role."""
        shown = {
            "switches": [switch.name for switch in switches],
            "count": len(switches),
            "models": sorted({switch.model for switch in switches}),
            "ports": sum(switch.ports for switch in switches),
            "portsUsed": sum(switch.ports_used for switch in switches),
        }
        super().__init__("coldaisle:fabric:Tier", name, shown, opts)
        self.register_outputs(shown)


class Fabric(ComponentResource):
    """A fabric: its tiers, its cables and how far it is oversubscribed. Its hash changes with any port or address."""

    def __init__(self, name: str, plan: FabricPlan, opts: ResourceOptions | None = None) -> None:
        """Show the fabric of `plan`."""
        roles = {switch.role: [s.name for s in plan.switches if s.role == switch.role] for switch in plan.switches}
        shown = {
            "kind": plan.kind,
            "topology": plan.topology,
            "rails": plan.rails,
            "tiers": plan.tiers,
            "cables": len(plan.cables),
            "oversubscription": plan.oversubscription,
            "planHash": record_digest(plan),
        }
        super().__init__("coldaisle:fabric:Fabric", name, shown, opts)
        for role in roles:
            switches = [switch for switch in plan.switches if switch.role == role]
            Tier(f"{name}-{role}", switches, ResourceOptions(parent=self))
        self.register_outputs({**shown, "switches": roles})
