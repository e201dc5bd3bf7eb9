"""Bonds of nodes: the ports that a node has on a fabric, as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from coldaisle.plan.model import BondPlan, CablePlan, End
from coldaisle.spec.overlay import BondSpec


def plan_bonds(asked: BondSpec | None, indexes: Mapping[str, int], cables: Iterable[CablePlan]) -> tuple[BondPlan, ...]:
    """
    Return the bond of each node that has two ports or more on a fabric, by the node's index.

    Args:
        asked: What the spec says of bonds; None makes none.
        indexes: The index of each node in the fabric, which stays its own.
        cables: The fabric's cables.
    """
    if asked is None:
        return ()
    members: defaultdict[str, list[End]] = defaultdict(list)
    for cable in cables:
        if cable.a.device in indexes:
            members[cable.a.device].append(cable.b)
    return tuple(
        BondPlan(
            device=device,
            number=index + 1,
            members=tuple(members[device]),
            multihomed=len({end.device for end in members[device]}) > 1,
            system_mac=asked.system_mac,
            lacp_fallback=asked.lacp_fallback,
        )
        for device, index in sorted(indexes.items(), key=lambda item: item[1])
        if len(members[device]) > 1
    )
