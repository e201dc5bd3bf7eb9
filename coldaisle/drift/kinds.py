"""
Every kind of fact: who makes it true, who tells it, and by which rule its planned and seen values compare.

A kind is the part of a fact's name before its first dot. One that is not listed has no owner, and a test finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

RuleName = Literal["same", "at_least", "at_most", "limit", "version", "set", "contains", "zone", "image", "uuid"]


@dataclass(frozen=True, slots=True)
class Kind:
    """
    One kind of fact.

    `role` is the playbook that makes it true (`health`: none does, it is read and never planned), `teller` who is asked
    for it. `why` says what the rule is for, where it is not plain equality.
    """

    role: str
    rule: RuleName = "same"
    teller: Literal["host", "bmc", "cluster", "switch", "evidence"] = "host"
    why: str = ""


KINDS: Mapping[str, Kind] = {
    "machine_uuid": Kind("bmc", "uuid", teller="bmc", why="BMCs and firmware write some of its bytes in other orders"),
    "machine_serial": Kind("bmc", teller="bmc"),
    "power": Kind("bmc", teller="bmc"),
    "boot_order": Kind("bmc", teller="bmc"),
    "power_policy": Kind("bmc", teller="bmc"),
    "power_limit_w": Kind("bmc", teller="bmc"),
    "boot_mode": Kind("bmc", teller="bmc"),
    "secure_boot": Kind("bmc", teller="bmc"),
    "bios": Kind("bmc", teller="bmc"),
    "boot_nic": Kind("bmc", teller="bmc"),
    "virtual_media": Kind("bmc", "image", teller="bmc", why="some BMCs show only the last part of an image's URL"),
    "boot_override": Kind("bmc", teller="bmc"),
    "event_destination": Kind("bmc", teller="bmc"),
    "firmware": Kind("bmc_firmware", teller="bmc"),
    "hostname": Kind("os"),
    "user": Kind("os"),
    "sysctl": Kind("os"),
    "nofile": Kind("os", "limit", why="the plan names what is needed; more does no harm"),
    "timezone": Kind("os", "zone", why="universal time has many names"),
    "time_sync": Kind("os"),
    "clock_synchronized": Kind("os"),
    "clock_offset_ms": Kind("os", "at_most", why="the plan names the most that a clock may be off"),
    "kernel_release": Kind("os"),
    "cmdline": Kind("os", "set", why="an argument that comes twice has no order"),
    "module": Kind("os"),
    "package": Kind("os"),
    "held": Kind("os"),
    "hugepages_2mi": Kind("os", "at_least", why="the plan names the least"),
    "hugepages_1gi": Kind("os", "at_least", why="the plan names the least"),
    "cpu_governor": Kind("os"),
    "mac": Kind("os"),
    "mtu": Kind("os", "at_least", why="a port must carry what its virtual functions do, and may carry more (G16)"),
    "address": Kind("os"),
    "addresses": Kind("os"),
    "bond_mode": Kind("os"),
    "bond_lacp_rate": Kind("os"),
    "bond_hash": Kind("os"),
    "bond_members": Kind("os", "set", why="the members of a bond have no order"),
    "vlan": Kind("os"),
    "route": Kind("os"),
    "path_mtu": Kind("os", "at_least", why="a path may carry more than is sent over it"),
    "max_read_request": Kind("os"),
    "relaxed_ordering": Kind("os"),
    "acs_redirect": Kind("os"),
    "memlock": Kind("rdma", "limit", why="the plan names what is needed; more does no harm"),
    "vfs": Kind("rdma"),
    "firmware_vfs": Kind("rdma", "at_least", why="firmware may offer more than are made"),
    "rdma_device": Kind("rdma"),
    "rdma_netns": Kind("rdma"),
    "roce_dscp": Kind("rdma"),
    "gid": Kind("rdma", "contains", why="a port has GIDs of other addresses and types too"),
    "pfc": Kind("rdma", "set", why="priorities have no order, and one that pauses too many stops others' traffic"),
    "qos_trust": Kind("rdma"),
    "dscp_priority": Kind("rdma"),
    "ecn": Kind("rdma", "contains", why="drivers turn it on for all priorities, and it does nothing for others"),
    "gpu_count": Kind("gpu"),
    "driver": Kind("gpu", "version", why="the plan names a floor (G10)"),
    "driver_pin": Kind("gpu"),
    "driver_packages": Kind("gpu"),
    "kernel_support": Kind("gpu"),
    "fabric_manager": Kind("gpu"),
    "fabric_state": Kind("gpu"),
    "persistence": Kind("gpu"),
    "ecc_uncorrected": Kind("gpu", "at_most", why="the plan names the most that is accepted"),
    "nouveau": Kind("gpu"),
    "imex_service": Kind("gpu"),
    "imex_nodes": Kind("gpu", "set", why="the nodes of a domain have no order"),
    "amd_gpu_count": Kind("gpu"),
    "amd_driver": Kind("gpu", "version", why="the plan names a floor (G10)"),
    "files": Kind("os, rdma, gpu"),
    "service": Kind("pxe, kubernetes"),
    "boot": Kind("pxe"),
    "image": Kind("pxe"),
    "foreign_dhcp": Kind("pxe"),
    "kubelet_config": Kind("kubernetes"),
    "kubelet_serving": Kind("kubernetes", teller="cluster"),
    "node_ready": Kind("kubernetes", teller="cluster"),
    "label": Kind("kubernetes", teller="cluster"),
    "taints": Kind("kubernetes", "set", teller="cluster", why="a node's taints have no order"),
    "accepted": Kind("accept", teller="evidence"),
    "accepted_for": Kind("accept", teller="evidence"),
    "kernel_log": Kind("health"),
    "gpu_report": Kind("health"),
    "ras_counts": Kind("health"),
    "disk_health": Kind("health"),
    "event_log": Kind("health", teller="bmc"),
    "config": Kind("fabric", teller="switch"),
    "effective": Kind("fabric", teller="switch"),
    "config_sections": Kind("fabric", teller="switch"),
}
