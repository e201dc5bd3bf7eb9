"""Checks of fabrics: ports, switches, both ends of a cable, the shape, routing and the class of RoCE."""

from coldaisle.check.fabric.ends import check_mtu, check_rates, check_uplink_rates
from coldaisle.check.fabric.management import check_management_driver
from coldaisle.check.fabric.optics import check_optics
from coldaisle.check.fabric.ports import check_breakouts, check_ports_used_once, check_radix, check_switch_ports
from coldaisle.check.fabric.roce import check_headroom, check_lossless_profiles, check_roce_class
from coldaisle.check.fabric.routing import check_asns, check_routing_numbers, check_shared_pools
from coldaisle.check.fabric.shape import (
    check_dark_uplinks,
    check_even_uplinks,
    check_oversubscription,
    check_paths,
    check_plane_racks,
    check_planes,
    check_rails,
)
from coldaisle.check.fabric.survival import check_promises, check_single_points
from coldaisle.check.fabric.switches import (
    check_network_os,
    check_switch_access,
    check_switch_counts,
    check_switch_kinds,
    check_switch_names,
)

FABRIC_CHECKS = (
    check_ports_used_once,
    check_switch_ports,
    check_radix,
    check_switch_kinds,
    check_switch_counts,
    check_switch_names,
    check_network_os,
    check_switch_access,
    check_rates,
    check_uplink_rates,
    check_optics,
    check_breakouts,
    check_mtu,
    check_rails,
    check_planes,
    check_plane_racks,
    check_even_uplinks,
    check_dark_uplinks,
    check_paths,
    check_oversubscription,
    check_asns,
    check_routing_numbers,
    check_shared_pools,
    check_roce_class,
    check_headroom,
    check_lossless_profiles,
    check_management_driver,
    check_promises,
    check_single_points,
)

__all__ = [
    "FABRIC_CHECKS",
    "check_even_uplinks",
    "check_paths",
    "check_ports_used_once",
    "check_switch_kinds",
    "check_switch_ports",
]
