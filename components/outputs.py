"""What a stack gives to others: inventory, findings, budgets, endpoints, and the hash of the plan behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from coldaisle.render.hosts import inventory_text
from coldaisle.spec.ranges import fold
from coldaisle.units import counted, kilowatts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldaisle.plan.model import EndpointPlan, RackPlan, SitePlan, StartGroupPlan
    from coldaisle.spec import Problem
    from components.layers import Site

MOST_GROUPS = 20
"""Groups of a start that the outputs of a stack have."""


def export(site: Site, findings: Sequence[Problem]) -> None:
    """Export the outputs of the stack of `site`; the inventory is text that Ansible reads as it is."""
    pulumi.export("inventory", inventory_text(site.plan))
    pulumi.export("findings", [finding.text() for finding in findings])
    pulumi.export("planHash", site.plan_hash)
    pulumi.export("budgets", budgets(site.plan))
    pulumi.export("endpoints", {endpoint.name: endpoint_url(endpoint) for endpoint in site.plan.endpoints})


def budgets(plan: SitePlan) -> dict[str, Any]:
    """Return what the site draws in watts, its fullest circuit, what each source and loop carries, and its start."""
    known = [
        (feed.load_after_loss_w / feed.capacity_w, rack.name, feed)
        for rack in plan.facility.racks
        for feed in rack.feeds
        if feed.load_after_loss_w is not None
    ]
    fullest = max(known, key=lambda item: item[:2], default=None)
    draws = plan.facility.it_draws
    found: dict[str, Any] = {
        "itPowerW": plan.facility.it_power_w,
        "itTypicalW": draws.typical_w,
        "itTransientW": draws.transient_w,
        "itStartupW": draws.startup_w,
        "start": _start(plan.facility.start_order),
        "racks": {rack.name: _rack(rack) for rack in plan.facility.racks},
        "sources": {source.name: _share(source.load_w, source.capacity_w) for source in plan.facility.upstream},
        "cooling": {loop.name: _share(loop.load_w, loop.capacity_after_loss_w) for loop in plan.facility.cooling},
    }
    if fullest:
        _, rack, feed = fullest
        load = _share(feed.load_after_loss_w, feed.capacity_w)
        found["fullestFeed"] = f"{rack}/{feed.name}: {load} after the loss of another feed"
    return found


def _rack(plan: RackPlan) -> str:
    power = "unknown power" if plan.power_w is None else f"{plan.power_w:.0f} W"
    return f"{power} on {len(plan.feeds)} feeds, {plan.used_u} of {plan.height_u} U"


def _start(groups: Sequence[StartGroupPlan] | None) -> list[str]:
    """Return the groups of a start after a blackout, a line each; of a long one the first, since outputs are kept."""
    if groups is None:
        return ["not known: it needs the start-up draw and the supplies of every device"]
    lines = [
        f"{at}: {counted(len(group.devices), 'device')} of {fold(group.racks)} start with {kilowatts(group.startup_w)} "
        f"while {kilowatts(group.running_w)} run{', over ' + fold(group.over) if group.over else ''}"
        for at, group in enumerate(groups[:MOST_GROUPS], start=1)
    ]
    left = len(groups) - len(lines)
    return [*lines, f"and {counted(left, 'more group')}: coldaisle plan has them"] if left else lines


def _share(load_w: float | None, capacity_w: float) -> str:
    return f"{'an unknown load' if load_w is None else f'{load_w:.0f}'} of {capacity_w:.0f} W"


def endpoint_url(plan: EndpointPlan) -> str:
    """Return where a model answers inside the cluster."""
    port = plan.manifests["Service"]["spec"]["ports"][0]["port"]
    return f"http://{plan.name}.{plan.namespace}.svc:{port}/v1"
