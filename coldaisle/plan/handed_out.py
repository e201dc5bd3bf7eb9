"""What a plan has handed out, for `allocations.yaml` to keep: the next plan begins with it, and nobody moves."""

from __future__ import annotations

from coldaisle.plan.fabric import fabric_numbers
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec


def handed_out(spec: SiteSpec, plan: SitePlan) -> dict[str, dict[str, str]]:
    """Return what `allocations.yaml` has to hold after a plan: what was given before, and what the plan handed out."""
    everyone = (*plan.nodes, *plan.retired)  # who is retired keeps what it has: nobody else is to get it
    found = {
        "management": {node.name: node.management_address for node in everyone},
        "bmc": {node.name: node.bmc.address for node in everyone if node.bmc},
        **fabric_numbers(spec),
    }
    given = spec.allocations
    merged = {kind: {**given.get(kind, {}), **found.get(kind, {})} for kind in sorted({*found, *given})}
    return {kind: dict(sorted(names.items())) for kind, names in merged.items() if names}
