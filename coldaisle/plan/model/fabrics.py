"""The fabrics of a plan: switches, cables and their addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a cable."""

    device: str
    port: str


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
    """A switch: its place in the fabric and, on a routed fabric, its ASN and loopback."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceClassPlan:
    """The lossless class of RoCE data and the class of its congestion notifications: DSCP, priority, ECN thresholds."""

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    ecn_min_bytes: int
    ecn_max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPlan:
    """One fabric. `oversubscription` is leaf downlink rate over leaf uplink rate."""

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
