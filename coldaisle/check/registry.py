"""Every check of a site. A new check is a function, a line here, a case that it finds and one that it lets pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coldaisle.check import addressing, bmc, cooling, fabric, firmware, nodes, serving, space, subnet
from coldaisle.check.bonds import BOND_CHECKS
from coldaisle.check.climate import CLIMATE_CHECKS
from coldaisle.check.cooling import COOLING_CHECKS
from coldaisle.check.execution import EXECUTION_CHECKS
from coldaisle.check.fabric import FABRIC_CHECKS
from coldaisle.check.finding import Finding
from coldaisle.check.host_settings import HOST_SETTINGS_CHECKS
from coldaisle.check.install import INSTALL_CHECKS, check_disk_serials
from coldaisle.check.life import LIFE_CHECKS
from coldaisle.check.overlay import OVERLAY_CHECKS
from coldaisle.check.power import POWER_CHECKS, feeds
from coldaisle.check.rollout import ROLLOUT_CHECKS
from coldaisle.check.serving import SERVING_CHECKS
from coldaisle.check.space import SPACE_CHECKS
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
    nodes.check_pool_counts,
    nodes.check_gpu_settings,
    nodes.check_rdma_fabric,
    *LIFE_CHECKS,
    *INSTALL_CHECKS,
    bmc.check_bmc_settings,
    firmware.check_firmware,
    *HOST_SETTINGS_CHECKS,
    addressing.check_overlapping_networks,
    addressing.check_pool_sizes,
    addressing.check_duplicate_addresses,
    addressing.check_fixed_addresses,
    addressing.check_pod_addresses,
    addressing.check_allocations,
    *POWER_CHECKS,
    *SPACE_CHECKS,
    *COOLING_CHECKS,
    *CLIMATE_CHECKS,
    *FABRIC_CHECKS,
    *OVERLAY_CHECKS,
    *BOND_CHECKS,
    subnet.check_partitions,
    subnet.check_partition_members,
    subnet.check_guids,
    subnet.check_switch_hardware,
    *SERVING_CHECKS,
    *ROLLOUT_CHECKS,
    *EXECUTION_CHECKS,
)

_NOTHING: frozenset[str] = frozenset()
_FACILITY, _FABRICS, _ADDRESSING = frozenset({"facility"}), frozenset({"fabrics"}), frozenset({"addressing"})

ON_A_PART: Mapping[Check, frozenset[str]] = {
    nodes.check_node_names: _NOTHING,
    nodes.check_name_forms: _NOTHING,
    nodes.check_ambiguous_names: _NOTHING,
    nodes.check_macs: _NOTHING,
    check_disk_serials: _NOTHING,
    addressing.check_overlapping_networks: _NOTHING,
    addressing.check_fixed_addresses: _NOTHING,
    addressing.check_duplicate_addresses: _ADDRESSING,
    addressing.check_pool_sizes: _ADDRESSING,
    nodes.check_pool_counts: frozenset({"node_pools"}),
    space.check_rack_names: _NOTHING,
    space.check_rack_units: _NOTHING,
    space.check_overlaps: _NOTHING,
    feeds.check_feed_capacity: _FACILITY,
    feeds.check_feed_loss: _FACILITY,
    cooling.check_cooling_capacity: _FACILITY,
    fabric.check_ports_used_once: _FABRICS,
    fabric.check_switch_ports: _FABRICS,
    fabric.check_switch_kinds: _NOTHING,
    subnet.check_partitions: _NOTHING,
    subnet.check_guids: _NOTHING,
    serving.check_scale_from_zero: _NOTHING,
    serving.check_bounds: _NOTHING,
    serving.check_cluster_networks: frozenset({"cluster"}),
}
"""
Checks that hold on a part of a spec too, when its mistakes are cut out: they find what is there twice or too much, not
what is absent. Each with the sections that must be free of mistakes, or the cuts themselves would be found.
"""
