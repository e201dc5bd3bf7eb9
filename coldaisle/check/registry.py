"""Every check of a site. A new check is a function, a line here, a case that it finds and one that it lets pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coldaisle.check import addressing, nodes
from coldaisle.check.finding import Finding
from coldaisle.check.serving import SERVING_CHECKS
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec

Check = Callable[[SiteSpec, SitePlan], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    nodes.check_node_names,
    nodes.check_name_forms,
    nodes.check_ambiguous_names,
    nodes.check_macs,
    nodes.check_hardware_ports,
    nodes.check_boot_macs,
    nodes.check_network_boot,
    nodes.check_gpu_settings,
    nodes.check_rdma_fabric,
    addressing.check_overlapping_pools,
    addressing.check_pool_sizes,
    addressing.check_duplicate_addresses,
    addressing.check_fixed_addresses,
    addressing.check_pod_addresses,
    addressing.check_allocations,
    *SERVING_CHECKS,
)
