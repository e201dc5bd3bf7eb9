"""Checks of what was delivered for fabrics, and of the partitions of InfiniBand subnets."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding, read_twice
from coldaisle.plan.model import SitePlan
from coldaisle.spec.base import near_miss
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.spec.subnet import PartitionSpec


def check_partitions(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A partition has a name and a P_Key of its own, a fabric that has partitions, and each member in one role."""
    del plan
    for name, fabric in spec.fabrics.items():
        loc: Loc = ("fabrics", name, "subnet", "partitions")
        if fabric.subnet.partitions and fabric.kind != "infiniband":
            what = f"fabric {name} is {fabric.kind}, and only InfiniBand has partitions"
            yield finding(
                spec, loc, "partition-kind", what=what, fix="remove partitions, or separate with VLANs or VRFs"
            )
        yield from _twice(spec, fabric.subnet.partitions, loc)


def _twice(spec: SiteSpec, partitions: list[PartitionSpec], loc: Loc) -> Iterator[Finding]:
    names: dict[str, int] = {}
    pkeys: dict[int, int] = {}
    for at, one in enumerate(partitions):
        for key, shown, first in (
            ("name", one.name, names.setdefault(one.name, at)),
            ("pkey", f"0x{one.pkey:04x}", pkeys.setdefault(one.pkey, at)),
        ):
            if first != at:
                what = f"two partitions have the {key} {shown}"
                have = f"{partitions[first].name} has it too ({spec.marks.where((*loc, first, key))})"
                fix = "opensm would merge them: give each its own"
                yield finding(spec, (*loc, at, key), "duplicate-partition", what=what, have=have, fix=fix)
        listed = [*one.full, *one.limited]
        for pool in sorted({pool for pool in listed if listed.count(pool) > 1}):
            what = f"pool {pool} is a member of partition {one.name} twice"
            fix = "name it once: under full or under limited"
            yield finding(spec, (*loc, at), "duplicate-partition", what=what, fix=fix)


def check_partition_members(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each pool of a partition has ports in the fabric."""
    pools = {node.name: node.pool for node in plan.nodes}
    for name, fabric in plan.fabrics.items():
        present = {pools.get(end.device) for cable in fabric.cables for end in (cable.a, cable.b)}
        for at, one in enumerate(fabric.subnet.partitions if fabric.subnet else ()):
            for role, members in (("full", one.full), ("limited", one.limited)):
                for number, pool in enumerate(members):
                    if pool not in present:
                        what = f"pool {pool} of partition {one.name} has no port in fabric {name}"
                        loc: Loc = ("fabrics", name, "subnet", "partitions", at, role, number)
                        fix = "name a pool whose nodes the fabric connects"
                        yield finding(spec, loc, "partition-without-ports", what=what, fix=fix)


def check_guids(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each GUID belongs to one device or port."""
    del plan
    yield from read_twice(spec, _guids(spec), "duplicate-guid", "the GUID {label} is there twice")


def _guids(spec: SiteSpec) -> Iterator[tuple[Loc, str]]:
    for name, switch in spec.switch_hardware.items():
        if switch.guid:
            yield ("switch_hardware", name, "guid"), switch.guid
    for name, node in spec.hardware.items():
        for port, guid in node.guids.items():
            yield ("hardware", name, "guids", port), guid


def check_switch_hardware(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The delivery list names switches that the plan has."""
    known = frozenset(switch.name for fabric in plan.fabrics.values() for switch in fabric.switches)
    for name in spec.switch_hardware:
        if name not in known:
            what = f"the plan has no switch named {name}"
            loc: Loc = ("switch_hardware", name)
            yield finding(spec, loc, "unknown-switch-delivered", what=what, fix=near_miss(name, known))
