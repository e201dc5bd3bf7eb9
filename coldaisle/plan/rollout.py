"""Policies of changes, and what hosts and switches share: the failure domains that waves keep apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from coldaisle.plan.model import (
    FabricPlan,
    RolloutPlan,
    SitePlan,
    TelemetryPlan,
    WaveAcceptancePlan,
    WindowPlan,
)
from coldaisle.spec.rollout import DAYS, RolloutSpec, WaveAcceptanceSpec, WindowSpec, minutes
from coldaisle.spec.sections import SiteSpec

Shared = dict[str, Any]
"""
Of one target as JSON: `domains` (names by kind), `partners` (groups of which one may be out), `gpus`, and `switch`
where it is one.
"""


def plan_rollout(rollout: RolloutSpec | None, spec: SiteSpec) -> RolloutPlan | None:
    """Return a policy with the site's time zone and Prometheus; None where a pool has none."""
    return rollout_of(rollout, spec.site.timezone, prometheus_url(spec)) if rollout else None


def prometheus_url(spec: SiteSpec) -> str | None:
    """Return where the deploy host asks Prometheus; None where the site does not say."""
    return spec.site.prometheus_url or (spec.cluster.prometheus_url if spec.cluster else None)


def rollout_of(rollout: RolloutSpec, timezone: str, url: str | None = None) -> RolloutPlan:
    """Return a policy; telemetry without an address is a finding of its own (`no-prometheus`)."""
    made = {"windows", "acceptance", "telemetry"}
    fields = {name: getattr(rollout, name) for name in RolloutSpec.model_fields if name not in made}
    return RolloutPlan(
        **fields,
        windows=tuple(_window(each) for each in rollout.windows),
        timezone=timezone,
        acceptance=_wave_acceptance(rollout.acceptance),
        telemetry=tuple(
            TelemetryPlan(name=it.name, url=url or "", query=it.query, max=it.max, min=it.min)
            for it in rollout.telemetry
        ),
    )


def _wave_acceptance(wanted: WaveAcceptanceSpec | None) -> WaveAcceptancePlan | None:
    if wanted is None:
        return None
    return WaveAcceptancePlan(
        phase=wanted.phase,
        domains=tuple(wanted.domains),
        tests=tuple(wanted.tests),
        max_loss_percent=int(wanted.max_loss.removesuffix("%")),
    )


def _window(window: WindowSpec) -> WindowPlan:
    days = tuple(sorted(DAYS.index(day) for day in window.days))
    return WindowPlan(days=days, opens_min=minutes(window.opens), closes_min=minutes(window.closes))


def shared_of(plan: SitePlan) -> dict[str, Shared]:
    """
    Return what each node and each switch shares with others, by its name.

    A node's `start` is its group of the order in which a site is powered on, counted from 0.
    """
    feeds = {rack.name: sorted({feed.upstream for feed in rack.feeds if feed.upstream}) for rack in plan.facility.racks}
    leaves = _leaves(plan)
    groups = _start_groups(plan)
    roles = {pool.name: pool.role for pool in plan.pools}
    found: dict[str, Shared] = {}
    for node in plan.nodes:
        domains = {
            "rack": [node.rack],
            "feed": feeds.get(node.rack, []),
            "pool": [node.pool],
            "role": [roles[node.pool]],
        }
        domains |= {"leaf": sorted(leaves[node.name])} if node.name in leaves else {}
        domains |= {"nvlink": [node.nvlink_domain]} if node.nvlink_domain else {}
        found[node.name] = {"domains": domains, "partners": [], "gpus": node.gpus, "start": groups.get(node.name, 0)}
    for fabric in plan.fabrics.values():
        found |= _switches(fabric, feeds)
    return found


def _leaves(plan: SitePlan) -> Mapping[str, set[str]]:
    """Return the leaves that each node is cabled to; those of the out-of-band network carry no work."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for fabric in plan.fabrics.values():
        for cable in fabric.cables:
            if cable.kind == "node-leaf":
                found[cable.a.device].add(cable.b.device)
    return found


def _start_groups(plan: SitePlan) -> dict[str, int]:
    order = plan.facility.start_order or ()
    return {device: at for at, group in enumerate(order) for device in group.devices}


def _switches(fabric: FabricPlan, feeds: Mapping[str, list[str]]) -> dict[str, Shared]:
    partners: defaultdict[str, set[str]] = defaultdict(set)
    for group in _stand_ins(fabric):
        for member in group:
            partners[member].add("+".join(sorted(group)))
    found: dict[str, Shared] = {}
    for switch in fabric.switches:
        domains = {"pool": [fabric.name], "role": [f"{fabric.name}-{switch.role}"]}
        domains |= {"rack": [switch.rack], "feed": feeds.get(switch.rack, [])} if switch.rack else {}
        known = {"domains": domains, "partners": sorted(partners[switch.name])}
        found[switch.name] = known | {"gpus": 0, "start": 0, "switch": True}
    return found


def _stand_ins(fabric: FabricPlan) -> Iterator[frozenset[str]]:
    """
    Yield groups of switches that carry each other's load when one is out.

    These are the leaves of one bond, the leaves of one rail of a node in several planes, and the switches above them.
    """
    for bond in fabric.bonds:
        if bond.multihomed:
            yield frozenset(member.device for member in bond.members)
    by_rail: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for cable in fabric.cables:
        if cable.kind == "node-leaf" and cable.rail is not None:
            by_rail[cable.a.device, cable.rail].add(cable.b.device)
    yield from {frozenset(leaves) for leaves in by_rail.values() if len(leaves) > 1}
    for role in ("spine", "core"):
        above = frozenset(switch.name for switch in fabric.switches if switch.role == role)
        if len(above) > 1:
            yield above
