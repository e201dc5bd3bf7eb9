"""The fabrics of a plan: switches, cables and their addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from coldaisle.plan.model.links import End
from coldaisle.plan.model.overlay import BondPlan, OverlayPlan
from coldaisle.plan.model.rollout import RolloutPlan
from coldaisle.plan.model.subnet import SubnetPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class CablePlan:
    """
    A cable: both ends, its rate and, on a routed fabric, the address of each end (with its prefix length).

    `a` is the lower end (node, leaf, spine) and `b` the upper one (leaf, spine, core). `mtu_bytes` is the lower end's.
    """

    a: End
    b: End
    rate_gbps: float
    kind: Literal["node-leaf", "leaf-spine", "spine-core", "oob"]
    rail: int | None = None
    length_m: float | None = None
    a_address: str | None = None
    b_address: str | None = None
    mtu_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPlan:
    """
    A switch: its place in the fabric and, on a routed fabric, its ASN and loopback.

    `plane` is None in a fabric of one plane. `network_os` is the operating system that it is configured for.
    `management_address` has no prefix length: `management_prefix_length` is that of its network, and `mac` is the
    management port's.
    """

    name: str
    role: Literal["leaf", "spine", "core", "oob"]
    model: str
    rack: str | None
    ports: int
    ports_used: int
    rail: int | None = None
    asn: int | None = None
    loopback: str | None = None
    management_address: str | None = None
    mtu_bytes: int | None = None
    rack_unit: int | None = None
    network_os: Literal["cumulus", "sonic", "eos", "nvos", "mlnx-os", "frr"] | None = None
    management_port: str | None = None
    management_prefix_length: int | None = None
    management_gateway: str | None = None
    plane: int | None = None
    mac: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortPlan:
    """
    A port of a switch, as its operating system names it.

    `cage` is its number on the front, `whole` the name of the port that it is a part of, and `split` how many parts
    that has: 1 is a whole port. `lanes` counts its electrical lanes, 0 where the catalog does not; `chip_lanes` names
    them where SONiC needs them, and `alias` is its name on the front there.
    """

    name: str
    cage: int
    whole: str
    split: int
    rate_gbps: float
    lanes: int
    chip_lanes: tuple[int, ...]
    alias: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpPlan:
    """What every BGP session of a fabric has."""

    keepalive_s: int
    hold_s: int
    maximum_paths: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceClassPlan:
    """
    The lossless class of RoCE data and the class of its congestion notifications: DSCP, priority, ECN thresholds.

    Every other DSCP is best effort, in priority 0.
    """

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    ecn_min_bytes: int
    ecn_max_bytes: int
    ecn_probability_percent: int
    bandwidth_percent: int
    cable_length_m: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchAccessPlan:
    """
    How the switches of a fabric are reached, by their APIs or (SONiC) over SSH.

    `credentials` names where user and password are read from (never a value), as `BmcPlan.credentials` does. `port` is
    that of the API where it is not the usual one.
    """

    credentials: str | None
    ca_file: str | None
    port: int | None
    ssh_user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPlan:
    """
    One fabric. `oversubscription` is leaf downlink rate over leaf uplink rate.

    No cable joins two of its `planes`. `ports` are those of one switch of each role. `bgp` is None where the fabric
    does not route; `unnumbered` says that links between its switches have no addresses of their own. `access_vlan` is
    the VLAN of ports that are not routed and that no tenant's network takes. `unplanned_config` says what becomes of
    sections of a switch's configuration that the plan does not have, and `commit_timer_s` how long a switch waits for a
    new one to be confirmed. `switch_access` is None where a site does not say how it reaches its switches.
    """

    name: str
    kind: Literal["infiniband", "roce", "ethernet"]
    topology: Literal["leaf-spine", "three-tier", "single"]
    rails: int
    tiers: int
    switches: tuple[SwitchPlan, ...]
    cables: tuple[CablePlan, ...]
    oversubscription: float | None
    mtu_bytes: int | None
    roce: RoceClassPlan | None = None
    ports: Mapping[str, tuple[PortPlan, ...]] = field(default_factory=dict)
    bgp: BgpPlan | None = None
    unnumbered: bool = False
    lldp_interval_s: int | None = None
    unplanned_config: Literal["remove", "keep"] | None = None
    commit_timer_s: int | None = None
    switch_access: SwitchAccessPlan | None = None
    management_vrf: str | None = None
    access_vlan: int | None = None
    planes: int = 1
    overlay: OverlayPlan | None = None
    bonds: tuple[BondPlan, ...] = ()
    subnet: SubnetPlan | None = None
    rollout: RolloutPlan | None = None
