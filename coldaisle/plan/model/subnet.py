"""The subnet of an InfiniBand fabric: routing, partitions, and the GUIDs that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPlan:
    """A partition: its P_Key of 15 bits, and the pools whose nodes' ports are full or limited members."""

    name: str
    pkey: int
    ipoib: bool
    full: tuple[str, ...]
    limited: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetPlan:
    """
    What a subnet manager is told.

    `guids` are those that are known: of a switch by its name, and of a node's port by both names with a colon between.
    """

    routing_engine: str
    partitions: tuple[PartitionPlan, ...] = ()
    guids: Mapping[str, str] = field(default_factory=dict)
