"""Checks of nodes: their names, their hardware addresses, and what their pool asks of their system."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from coldaisle.check.finding import Finding, Severity, finding, read_twice
from coldaisle.plan.model import SitePlan
from coldaisle.spec.marks import Loc
from coldaisle.spec.node_pools import PlacedNode
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import some_of

HOST_NAME = re.compile(r"(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?")
"""A DNS label (RFC 1123): also a Kubernetes node's name and a label's value."""


def node_loc(node: PlacedNode) -> Loc:
    """Return the path of the spec's line that a node comes from."""
    return ("node_pools", node.pool, "nodes", node.key)


def check_node_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each device has a name of its own, whatever it is."""
    taken = {
        switch.name: f"a switch of fabric {fabric.name}"
        for fabric in plan.fabrics.values()
        for switch in fabric.switches
    }
    taken |= {device.name: "a device of facility.devices" for device in spec.facility.devices}
    taken |= {spec.provisioning.host: "the provisioning host"} if spec.provisioning else {}
    for node in spec.nodes:
        if node.name in taken:
            what = f"two devices are named {node.name}"
            fix = "rename one of the two"
            yield finding(spec, node_loc(node), "duplicate-name", what=what, have=taken[node.name], fix=fix)
        line = spec.marks.where(node_loc(node)).rpartition(":")[0]
        taken[node.name] = f"a node of pool {node.pool} ({line})"


def check_name_forms(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A node's name is a DNS label, since it becomes a host name and a Kubernetes node."""
    del plan
    for node in spec.nodes:
        if not HOST_NAME.fullmatch(node.name):
            what = f"{node.name} is not a host name"
            fix = "use lower-case letters, digits and hyphens, at most 63, with no hyphen at either end"
            yield finding(spec, node_loc(node), "bad-node-name", what=what, fix=fix)


def check_ambiguous_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """
    No name is the beginning of its sibling's, and none is used at two levels of the topology.

    Schedulers that match topology values by prefix, or one level against another, leave such nodes out (K6).
    """
    places: dict[str, Loc] = {rack.name: ("facility",) for rack in plan.facility.racks}
    yield from _prefixes(spec, "rack", places)
    nodes = {node.name: node_loc(node) for node in spec.nodes}
    yield from _prefixes(spec, "node", nodes)
    zone = spec.site.zone or spec.site.name
    for name in sorted((set(places) | {zone}) & set(nodes)):
        what = f"{name} names a node and a level of the topology above it"
        yield finding(spec, nodes[name], "ambiguous-name", what=what, fix="give the node a name of its own")


def _prefixes(spec: SiteSpec, kind: str, places: dict[str, Loc]) -> Iterator[Finding]:
    """Yield one finding for each name that begins a longer one and goes on with a digit (r1, r10)."""
    names = sorted(places)
    for name, longer in pairwise(names):
        if longer.startswith(name) and longer[len(name)].isdigit() and name[-1:].isdigit():
            what = f"{kind} {name} is the beginning of {kind} {longer}"
            fix = "write the numbers with zeros in front, such as [01-10]"
            yield finding(spec, places[name], "ambiguous-name", what=what, fix=fix, severity="warning")


def check_macs(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each hardware address belongs to one port."""
    del plan
    yield from read_twice(spec, _macs(spec), "duplicate-mac", "two ports have the MAC address {label}")


def _macs(spec: SiteSpec) -> Iterator[tuple[Loc, str]]:
    for name, hardware in spec.hardware.items():
        if hardware.bmc_mac:
            yield ("hardware", name, "bmc_mac"), hardware.bmc_mac
        for port, mac in hardware.macs.items():
            yield ("hardware", name, "macs", port), mac
    for name, switch in spec.switch_hardware.items():
        if switch.mac:
            yield ("switch_hardware", name, "mac"), switch.mac


def check_hardware_ports(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The delivery list names ports that the node's system has."""
    systems = {node.name: node.system for node in (*plan.nodes, *plan.retired)}
    for name, hardware in spec.hardware.items():
        system = spec.catalog.systems[systems[name]]
        named = [("macs", port) for port in hardware.macs] + [("guids", port) for port in hardware.guids]
        for key, port in sorted(each for each in named if each[1] not in system.nics):
            what = f"{systems[name]} has no port {port}"
            have = f"ports: {', '.join(system.nics)} ({spec.catalog_where('systems', systems[name])})"
            loc = ("hardware", name, key, port)
            yield finding(spec, loc, "unknown-port", what=what, have=have, fix="correct the name of the port")


def check_boot_macs(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A node that boots over the network has its boot port's hardware address, or nobody answers it."""
    missing: dict[str, list[str]] = defaultdict(list)
    for node in plan.nodes:
        if node.boot == "network" and not any(nic.mac for nic in node.nics if nic.name == node.boot_nic):
            missing[node.pool].append(node.name)
    for pool, names in sorted(missing.items()):
        what = f"pool {pool} boots over the network, and no MAC address is known of {some_of(names)}"
        fix = "add them to hardware, with macs, from the vendor's delivery list"
        severity: Severity = "error" if spec.hardware else "warning"
        yield finding(spec, ("node_pools", pool, "boot"), "missing-mac", what=what, fix=fix, severity=severity)


def check_network_boot(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """What boots over the network needs an image, somebody who serves it, and a BMC that turns it on."""
    for name, pool in spec.node_pools.items():
        if pool.boot != "network":
            continue
        loc: Loc = ("node_pools", name, "boot")
        if pool.image is None:
            what = f"pool {name} boots over the network, but has no image"
            yield finding(spec, loc, "missing-image", what=what, fix="add image: with a name of provisioning.images")
        if plan.provisioning is None:
            what = f"pool {name} boots over the network, but nobody serves it"
            yield finding(spec, loc, "missing-provisioning", what=what, fix="add the section provisioning")
        if spec.addressing.bmc is None:
            what = f"pool {name} boots over the network, but its nodes have no BMC to turn them on"
            yield finding(spec, loc, "missing-bmc-pool", what=what, fix="add addressing.bmc")


def check_pool_counts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A pool that says how many nodes it shall have has a place for each of them, and no more."""
    del plan
    placed = Counter(node.pool for node in spec.nodes)
    for name, pool in spec.node_pools.items():
        left = 0 if pool.count is None else pool.count - placed[name]
        loc: Loc = ("node_pools", name, "count")
        if left > 0:
            what = f"{left} of the {pool.count} nodes of pool {name} stand nowhere"
            fix = f"run coldaisle place {spec.site.name} --pool {name}, and add what it proposes"
            have = "the plan lacks them"
            yield finding(spec, loc, "pool-incomplete", what=what, have=have, fix=fix, severity="warning")
        elif left < 0:
            what = f"pool {name} has places for {placed[name]} nodes, and shall have {pool.count}"
            yield finding(spec, loc, "pool-count", what=what, fix="raise count, or take nodes out")


def check_gpu_settings(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """GPU settings stand where there are GPUs."""
    del plan
    for name, pool in spec.node_pools.items():
        if pool.gpu and spec.catalog.systems[pool.system].gpus is None:
            what = f"pool {name} has GPU settings, but {pool.system} has no GPUs"
            have = spec.catalog_where("systems", pool.system)
            yield finding(
                spec, ("node_pools", name, "gpu"), "gpu-without-gpus", what=what, have=have, fix="remove gpu:"
            )


def check_rdma_fabric(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """RDMA settings fit the fabric that the pool's rails are on."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for node in (*plan.nodes, *plan.retired):
        kinds[node.pool] |= {plan.fabrics[nic.fabric].kind for nic in node.nics if nic.rail is not None and nic.fabric}
    for name, pool in spec.node_pools.items():
        if pool.rdma is None or pool.rdma.mode in kinds[name]:
            continue
        have = (
            f"its rails are on {', '.join(sorted(kinds[name]))}" if kinds[name] else "no fabric takes its compute ports"
        )
        what = f"pool {name} wants RDMA over {pool.rdma.mode}, and no fabric of that kind reaches it"
        fix = "correct mode, or add the fabric"
        yield finding(spec, ("node_pools", name, "rdma", "mode"), "rdma-without-fabric", what=what, have=have, fix=fix)
