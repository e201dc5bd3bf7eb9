"""Checks of the firmware that pools pin: each item once, on BMCs that show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import named
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec


def check_firmware(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """An item of a pool's firmware is pinned once, and the BMC of each node can tell its version."""
    for name, pool in spec.node_pools.items():
        loc = ("node_pools", name, "firmware")
        for item, times in Counter(item.name for item in pool.firmware).items():
            if times > 1:
                what = f"pool {name} pins {item} {times} times, and one BMC shows one version of it"
                yield finding(spec, loc, "firmware-twice", what=what, fix="keep one of them")
        nodes = [node.name for node in plan.nodes if node.pool == name and node.bmc and node.bmc.protocol == "ipmi"]
        if pool.firmware and nodes:
            what = f"nobody reads or updates the firmware of pool {name} on {named(nodes, 'node')}: the BMC speaks IPMI"
            have = f"bmc_protocol ipmi ({spec.marks.where(('hardware', nodes[0], 'bmc_protocol'))})"
            fix = "correct bmc_protocol where the BMC speaks Redfish, or move these nodes to a pool without firmware"
            yield finding(spec, loc, "firmware-over-ipmi", what=what, have=have, fix=fix)
