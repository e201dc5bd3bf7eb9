"""The plan of a site: each part's planner, in the order in which they need each other."""

from __future__ import annotations

from dataclasses import replace

from coldaisle.plan.autoscaling import plan_autoscaler
from coldaisle.plan.cluster import plan_cluster
from coldaisle.plan.execution import plan_execution
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.gpu_stack import plan_gpu_stack
from coldaisle.plan.model import SitePlan
from coldaisle.plan.node_pools import plan_pools, plan_provisioning
from coldaisle.plan.nodes import plan_nodes
from coldaisle.plan.plays import plan_plays
from coldaisle.plan.serving import plan_endpoints
from coldaisle.plan.survival import plan_survival
from coldaisle.spec.journal import RETIRED
from coldaisle.spec.sections import SiteSpec


def plan_site(spec: SiteSpec) -> SitePlan:
    """Return everything that follows from a spec. Pure: no clock, no chance, no files."""
    fabrics = plan_fabrics(spec)
    everyone = plan_nodes(spec, fabrics)
    nodes = tuple(node for node in everyone if node.state != RETIRED)
    endpoints, facility = plan_endpoints(spec), plan_facility(spec, fabrics)
    plan = SitePlan(
        name=spec.site.name,
        domain=spec.site.domain,
        facility=facility,
        fabrics=fabrics,
        nodes=nodes,
        pools=plan_pools(spec, nodes, fabrics),
        provisioning=plan_provisioning(spec),
        cluster=plan_cluster(spec, nodes),
        gpu_stack=plan_gpu_stack(spec),
        endpoints=endpoints,
        autoscaler=plan_autoscaler(spec, endpoints),
        plays=(),
        admin_private_key_file=spec.site.admin_key_file,
        survival=plan_survival(spec, fabrics, facility),
        execution=plan_execution(spec, nodes, fabrics),
        retired=tuple(node for node in everyone if node.state == RETIRED),
    )
    return replace(plan, plays=plan_plays(plan))
