"""The subnet of an InfiniBand fabric, with the GUIDs that the delivery lists know of its devices."""

from __future__ import annotations

from collections.abc import Iterable

from coldaisle.plan.model import CablePlan, End, PartitionPlan, SubnetPlan
from coldaisle.spec import SiteSpec
from coldaisle.spec.fabrics import FabricSpec


def plan_subnet(
    spec: SiteSpec, fabric: FabricSpec, switches: Iterable[str], cables: Iterable[CablePlan]
) -> SubnetPlan | None:
    """Return the subnet of an InfiniBand fabric, and None for any other."""
    if fabric.kind != "infiniband":
        return None
    hardware = spec.switch_hardware
    guids = {name: hardware[name].guid for name in switches if name in hardware}
    guids |= {f"{end.device}:{end.port}": _port_guid(spec, end) for cable in cables for end in (cable.a, cable.b)}
    partitions = tuple(
        PartitionPlan(name=one.name, pkey=one.pkey, ipoib=one.ipoib, full=tuple(one.full), limited=tuple(one.limited))
        for one in fabric.subnet.partitions
    )
    known = {name: guid for name, guid in sorted(guids.items()) if guid is not None}
    return SubnetPlan(routing_engine=fabric.subnet.routing_engine, partitions=partitions, guids=known)


def _port_guid(spec: SiteSpec, end: End) -> str | None:
    hardware = spec.hardware.get(end.device)
    return hardware.guids.get(end.port) if hardware else None
