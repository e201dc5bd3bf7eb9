"""Checks of addresses: pools that do not overlap and are large enough, and no address given twice."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan
from coldaisle.spec.addressing import AddressPool
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

HOST_POOLS = ("bmc", "management", "switches")
"""Pools that may share one subnet, each with its own first address; every other network stands alone."""

ELSEWHERE = ({"pods", "services"}, {"management", "pods"}, {"management", "services"})
"""Pairs that the checks of the cluster compare."""


def _networks(spec: SiteSpec) -> dict[str, tuple[Loc, Network]]:
    """Return every network that the spec names, by what it is for."""
    found: dict[str, tuple[Loc, Network]] = {}
    for name in (*HOST_POOLS, "loopbacks", "fabric_links"):
        pool: AddressPool | None = getattr(spec.addressing, name)
        if pool is not None:
            found[name] = (("addressing", name, "subnet"), ipaddress.ip_network(pool.subnet))
    found |= _fabric_networks(spec)
    if spec.cluster is not None:
        found["pods"] = (("cluster", "pod_cidr"), ipaddress.ip_network(spec.cluster.pod_cidr))
        found["services"] = (("cluster", "service_cidr"), ipaddress.ip_network(spec.cluster.service_cidr))
    return found


def _fabric_networks(spec: SiteSpec) -> Iterator[tuple[str, tuple[Loc, Network]]]:
    """Yield the networks that fabrics have of their own."""
    for fabric, asked in spec.fabrics.items():
        for key, pool in (("links", asked.links), ("loopbacks", asked.loopbacks)):
            if pool is not None:
                loc: Loc = ("fabrics", fabric, key, "subnet")
                yield f"{key} of fabric {fabric}", (loc, ipaddress.ip_network(pool.subnet))


def check_overlapping_networks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Networks stand apart; only BMCs, hosts and switches may share one subnet, and then the whole of it (K10)."""
    del plan
    for (first, (_, one)), (second, (loc, other)) in combinations(_networks(spec).items(), 2):
        shared = one == other and first in HOST_POOLS and second in HOST_POOLS
        if one.version == other.version and one.overlaps(other) and not shared and {first, second} not in ELSEWHERE:
            what = f"{second} {other} overlaps {first} {one}"
            fix = "give one of the two another network"
            yield finding(spec, loc, "overlapping-networks", what=what, fix=fix)


def check_pool_sizes(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every address handed out lies in its pool."""
    handed_out = {
        "management": [node.management_address for node in plan.nodes],
        "bmc": [node.bmc.address for node in plan.nodes if node.bmc],
    }
    for name, addresses in handed_out.items():
        pool: AddressPool | None = getattr(spec.addressing, name)
        hosts = _host_numbers(pool) if pool else range(0)
        outside = [address for address in addresses if int(ipaddress.ip_address(address)) not in hosts]
        if pool and outside:
            what = f"{name} {pool.subnet} is too small: {len(outside)} of {len(addresses)} nodes get no address in it"
            have = (
                f"it hands out from {pool.first or 'its first address'}; allocations.yaml holds what was given before"
            )
            fix = "give a larger subnet, or a lower first address"
            yield finding(spec, ("addressing", name), "pool-too-small", what=what, have=have, fix=fix)


def _host_numbers(pool: AddressPool) -> range:
    """Return the addresses of hosts as numbers: all of a subnet but its own and its broadcast address."""
    network = ipaddress.ip_network(pool.subnet)
    first = int(network.network_address)
    # IPv6 has no broadcast, and neither has a link of two (RFC 3021).
    spare = 1 if network.version == 4 and network.num_addresses > 2 else 0  # noqa: PLR2004
    return range(first + spare, first + network.num_addresses - spare)


def check_duplicate_addresses(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each address belongs to one port."""
    seen: dict[str, str] = {}
    for loc, owner, address in _addresses(spec, plan):
        if seen.setdefault(address, owner) != owner:
            what = f"{owner} and {seen[address]} have the same address {address}"
            fix = "correct one of the two; pools that share a subnet need first addresses that are far enough apart"
            found = finding(spec, loc, "duplicate-address", what=what, fix=fix)
            given = spec.allocation_where(str(loc[-1]), owner.removeprefix("the BMC of "))
            yield replace(found, where=given, path=f"{loc[-1]}[{owner}]") if given else found


def _addresses(spec: SiteSpec, plan: SitePlan) -> Iterator[tuple[Loc, str, str]]:
    """Yield where an address comes from, whose it is, and the address."""
    for name in HOST_POOLS:
        pool: AddressPool | None = getattr(spec.addressing, name)
        if pool and pool.gateway:
            yield ("addressing", name, "gateway"), f"the gateway of {pool.subnet}", pool.gateway
    if plan.provisioning:
        yield ("provisioning", "host_address"), plan.provisioning.host, plan.provisioning.host_address
    for node in (*plan.nodes, *plan.retired):
        yield ("addressing", "management"), node.name, node.management_address
        if node.bmc:
            yield ("addressing", "bmc"), f"the BMC of {node.name}", node.bmc.address
    yield from _fabric_addresses(plan)


def _fabric_addresses(plan: SitePlan) -> Iterator[tuple[Loc, str, str]]:
    for fabric in plan.fabrics.values():
        for switch in fabric.switches:
            if switch.management_address:
                yield ("addressing", "switches"), f"{switch.name} (management)", _bare(switch.management_address)
            if switch.loopback:
                yield ("addressing", "loopbacks"), f"{switch.name} (loopback)", _bare(switch.loopback)
        for cable in fabric.cables:
            for end, address in ((cable.a, cable.a_address), (cable.b, cable.b_address)):
                if address:
                    yield ("addressing", "fabric_links"), f"{end.device} {end.port}", _bare(address)


def _bare(address: str) -> str:
    return address.partition("/")[0]


def check_fixed_addresses(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Addresses that are written by hand lie in the network that they belong to."""
    del plan
    if spec.provisioning and not spec.provisioning.relayed:
        loc, network = ("provisioning", "host_address"), spec.addressing.management.subnet
        yield from _inside(spec, loc, spec.provisioning.host_address, network, "the management network")


def _inside(spec: SiteSpec, loc: Loc, address: str, network: str, noun: str) -> Iterator[Finding]:
    if ipaddress.ip_address(address) not in ipaddress.ip_network(network):
        what = f"{address} is not in {noun} {network}"
        yield finding(spec, loc, "address-outside-pool", what=what, fix=f"give an address inside of {network}")


def check_pod_addresses(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The pods' network holds as many pods as all kubelets may run."""
    if spec.cluster is None:
        return
    wanted = len(plan.nodes) * spec.cluster.max_pods
    size = ipaddress.ip_network(spec.cluster.pod_cidr).num_addresses
    if wanted > size:
        what = f"pod_cidr {spec.cluster.pod_cidr} has {size} addresses, and kubelets may run {wanted} pods"
        have = f"{counted(len(plan.nodes), 'node')} with max_pods {spec.cluster.max_pods}"
        fix = "give a larger network, or lower max_pods"
        yield finding(spec, ("cluster", "pod_cidr"), "pool-too-small", what=what, have=have, fix=fix)


def check_allocations(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Who has an address on a delivered site stands in allocations.yaml, so that nobody moves when nodes are added."""
    known = spec.allocations.get("management", {})
    missing = [node.name for node in plan.nodes if node.name not in known]
    if missing and (spec.hardware or spec.allocations):
        what = f"addresses of {counted(len(missing), 'node')} are not in allocations.yaml: a new node may move them"
        fix = f"run coldaisle plan {spec.site.name} --allocate, and commit the file"
        yield finding(spec, ("addressing", "management"), "not-allocated", what=what, fix=fix, severity="warning")
