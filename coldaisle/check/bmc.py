"""Checks of what a pool wants of its BMCs: that they can be told, and that it fits the system."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import named
from coldaisle.plan.model import SitePlan
from coldaisle.spec.bmc import BmcSettings
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import some_of


def check_bmc_settings(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Settings of BMCs are ones that somebody can set, on the port that is meant, in a mode that has them."""
    for name, pool in spec.node_pools.items():
        if pool.bmc == BmcSettings():
            continue
        loc: Loc = ("node_pools", name, "bmc")
        yield from _over_ipmi(spec, plan, name, loc)
        if pool.bmc.boot_nic:
            yield from _unknown_ports(spec, plan, name, loc)
        firmware = spec.catalog.systems[pool.system].firmware
        if pool.bmc.secure_boot and firmware == "bios":
            what = f"pool {name} wants secure boot, and {pool.system} boots in the mode bios, which has none"
            have = spec.catalog_where("systems", pool.system)
            fix = "take secure_boot out, or correct firmware in the catalog"
            yield finding(spec, (*loc, "secure_boot"), "secure-boot-without-uefi", what=what, have=have, fix=fix)


def _over_ipmi(spec: SiteSpec, plan: SitePlan, pool: str, loc: Loc) -> Iterator[Finding]:
    nodes = [node.name for node in plan.nodes if node.pool == pool and node.bmc and node.bmc.protocol == "ipmi"]
    if nodes:
        what = f"nobody sets bmc: of pool {pool} on {named(nodes, 'node')}: the BMC speaks IPMI, which has none of it"
        have = f"bmc_protocol ipmi ({spec.marks.where(('hardware', nodes[0], 'bmc_protocol'))})"
        fix = "correct bmc_protocol where the BMC speaks Redfish, or move these nodes to a pool without bmc:"
        yield finding(spec, loc, "bmc-settings-over-ipmi", what=what, have=have, fix=fix)


def _unknown_ports(spec: SiteSpec, plan: SitePlan, pool: str, loc: Loc) -> Iterator[Finding]:
    nodes = [node for node in plan.nodes if node.pool == pool and node.bmc]
    missing = [node.name for node in nodes if node.bmc and "boot_nic" not in node.bmc.settings]
    if missing:
        what = f"pool {pool} wants its boot port first, and no MAC address is known of {some_of(missing)}"
        fix = "add them to hardware, with macs, from the vendor's delivery list, or take boot_nic out"
        yield finding(spec, (*loc, "boot_nic"), "missing-mac", what=what, fix=fix)
