"""What a stack gives to others: inventory, findings, budgets, endpoints, and the hash of the plan behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from coldaisle.render.hosts import inventory_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldaisle.plan.model import EndpointPlan, RackPlan, SitePlan
    from coldaisle.spec import Problem
    from components.layers import Site


def export(site: Site, findings: Sequence[Problem]) -> None:
    """Export the outputs of the stack of `site`; the inventory is text that Ansible reads as it is."""
    pulumi.export("inventory", inventory_text(site.plan))
    pulumi.export("findings", [finding.text() for finding in findings])
    pulumi.export("planHash", site.plan_hash)
    pulumi.export("budgets", budgets(site.plan))
    pulumi.export("endpoints", {endpoint.name: endpoint_url(endpoint) for endpoint in site.plan.endpoints})


def budgets(plan: SitePlan) -> dict[str, Any]:
    """Return, in watts, what the site draws, the fullest circuit after a loss, and what each cooling loop carries."""
    known = [
        (feed.load_after_loss_w / feed.capacity_w, rack.name, feed)
        for rack in plan.facility.racks
        for feed in rack.feeds
        if feed.load_after_loss_w is not None
    ]
    fullest = max(known, key=lambda item: item[:2], default=None)
    found: dict[str, Any] = {
        "itPowerW": plan.facility.it_power_w,
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


def _share(load_w: float | None, capacity_w: float) -> str:
    return f"{'an unknown load' if load_w is None else f'{load_w:.0f}'} of {capacity_w:.0f} W"


def endpoint_url(plan: EndpointPlan) -> str:
    """Return where a model answers inside the cluster."""
    port = plan.manifests["Service"]["spec"]["ports"][0]["port"]
    return f"http://{plan.name}.{plan.namespace}.svc:{port}/v1"
