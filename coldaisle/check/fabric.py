"""Checks of fabrics: ports, rates, MTU, even uplinks, paths, addresses, autonomous systems and the class of RoCE."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from coldaisle.check.finding import Finding, finding
from coldaisle.check.places import named
from coldaisle.plan.breakout import group_of, role_model
from coldaisle.plan.model import CablePlan, End, FabricPlan, SitePlan, SwitchPlan
from coldaisle.spec.catalog import Switch
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted

KIND_OF_SWITCH = {"infiniband": "infiniband", "roce": "ethernet", "ethernet": "ethernet"}


def _tier_loc(fabric: str, role: str) -> Loc:
    return ("fabrics", fabric, "switch" if role == "oob" else role)


def _end(end: End) -> str:
    return f"{end.device} port {end.port}"


# -- ports ------------------------------------------------------------------------------------------------------
def check_ports_used_once(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No port holds two cables, in any fabric."""
    first: dict[End, End] = {}
    clashes: defaultdict[str, list[str]] = defaultdict(list)
    for name, fabric in plan.fabrics.items():
        for cable in fabric.cables:
            for end, other in ((cable.a, cable.b), (cable.b, cable.a)):
                if first.setdefault(end, other) is not other:
                    clashes[name].append(f"{_end(end)} leads to {_end(first[end])} and to {_end(other)}")
    for name, found in clashes.items():
        what = f"a port is used twice: {found[0]}"
        have = f"{counted(len(found), 'port')} of fabric {name} hold two cables" if len(found) > 1 else ""
        fix = "give the nodes of one system each port of a rail once, and each port to one fabric"
        yield finding(spec, ("fabrics", name), "port-used-twice", what=what, have=have, fix=fix)


def check_switch_ports(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No switch has more cables than ports, and each of its ports exists."""
    for name, fabric in plan.fabrics.items():
        over = [switch for switch in fabric.switches if switch.ports_used > switch.ports]
        for role in dict.fromkeys(switch.role for switch in over):
            group = [switch for switch in over if switch.role == role]
            worst = max(group, key=lambda switch: switch.ports_used)
            what = f"{worst.name} needs {worst.ports_used} ports, and {worst.model} has {worst.ports}"
            have = f"so do {len(group) - 1} more of the {role} switches" if len(group) > 1 else ""
            fix = "take a switch with more ports, fewer nodes a group, or more switches"
            yield finding(spec, _tier_loc(name, role), "switch-ports-exceeded", what=what, have=have, fix=fix)
        yield from _ports_that_do_not_exist(spec, name, fabric)


def _ports_that_do_not_exist(spec: SiteSpec, name: str, fabric: FabricPlan) -> Iterator[Finding]:
    full = {switch.name for switch in fabric.switches if switch.ports_used > switch.ports}
    models = {switch.name: switch for switch in fabric.switches if switch.name not in full}
    ports = {
        role: set(role_model(spec.catalog, spec.fabrics[name], role).port_names())
        for role in {s.role for s in models.values()}
    }
    told: set[str] = set()
    for cable in fabric.cables:
        for end in (cable.a, cable.b):
            switch = models.get(end.device)
            if switch is None or end.port in ports[switch.role] or switch.role in told:
                continue
            if end.port == spec.catalog.switches[switch.model].management_port:
                continue
            told.add(switch.role)
            what = f"{_end(end)} does not exist: {switch.model} has {switch.ports} ports"
            fix = "lower nodes_per_leaf_group, or take a switch with more ports"
            yield finding(spec, _tier_loc(name, switch.role), "switch-ports-exceeded", what=what, fix=fix)


def check_switch_kinds(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Switches speak the fabric's protocol."""
    for name, fabric in plan.fabrics.items():
        for role, model in dict.fromkeys((switch.role, switch.model) for switch in fabric.switches):
            kind = spec.catalog.switches[model].kind
            if kind != KIND_OF_SWITCH[fabric.kind]:
                what = f"{model} is an {kind} switch, and fabric {name} is {fabric.kind}"
                fix = f"take an {KIND_OF_SWITCH[fabric.kind]} switch"
                yield finding(spec, (*_tier_loc(name, role), "model"), "wrong-switch-kind", what=what, fix=fix)


def check_switch_counts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where a site says how many switches it has, that many are needed."""
    for name, fabric in plan.fabrics.items():
        counts = Counter(switch.role for switch in fabric.switches)
        for role, count in counts.items():
            group = group_of(spec.fabrics[name], role)
            if group is not None and group.count is not None and group.count != count:
                what = f"fabric {name} needs {count} {role} switches, and the site has {group.count}"
                loc = (*_tier_loc(name, role), "count")
                yield finding(spec, loc, "switch-count", what=what, fix=f"say count: {count}, or remove it")


def check_switch_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No two fabrics have a switch of the same name."""
    owner: dict[str, str] = {}
    told: set[tuple[str, str]] = set()
    for name, fabric in plan.fabrics.items():
        for switch in fabric.switches:
            first = owner.setdefault(switch.name, name)
            if first != name and (name, switch.role) not in told:
                told.add((name, switch.role))
                what = f"fabrics {first} and {name} both have a switch named {switch.name}"
                fix = f"give the {switch.role} switches of {name} a name of their own: name: {name}-{switch.role}"
                yield finding(spec, _tier_loc(name, switch.role), "duplicate-name", what=what, fix=fix)


def check_network_os(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A fabric's switches run the operating system that it chooses, where the catalog says what they run."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name].network_os
        for model in dict.fromkeys(switch.model for switch in fabric.switches):
            known = spec.catalog.switches[model].network_os
            if asked is not None and known and asked not in known:
                what = f"{model} does not run {asked}"
                have = f"the catalog says that it runs {', '.join(known)}"
                fix = "choose one of these, or add the document that says otherwise to the catalog"
                yield finding(spec, ("fabrics", name, "network_os"), "network-os", what=what, have=have, fix=fix)


# -- both ends --------------------------------------------------------------------------------------------------
def check_rates(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Both ends of a cable run at one rate."""
    systems = {node.name: node.system for node in spec.nodes} | {d.name: d.model for d in spec.facility.devices}
    for name, fabric in plan.fabrics.items():
        switches = {switch.name: switch for switch in fabric.switches}
        told: set[tuple[str, float, str]] = set()
        for cable in fabric.cables:
            system, switch = systems.get(cable.a.device, ""), switches.get(cable.b.device)
            nic_gbps = _nic_gbps(spec, system, cable.a.port)
            if nic_gbps is None or switch is None or (system, nic_gbps, switch.role) in told:
                continue
            told.add((system, nic_gbps, switch.role))
            rates = _port_rates(role_model(spec.catalog, spec.fabrics[name], switch.role), cable.b.port)
            if rates and nic_gbps not in rates:
                what = f"{system} {cable.a.port} runs at {nic_gbps:g} Gb/s, and {switch.model} {cable.b.port} does not"
                have = f"it runs at {', '.join(f'{rate:g}' for rate in rates)} Gb/s"
                fix = "take a switch with ports of that rate"
                yield finding(spec, _tier_loc(name, switch.role), "rate-mismatch", what=what, have=have, fix=fix)


def _nic_gbps(spec: SiteSpec, system: str, port: str) -> float | None:
    """Return the rate of a system's port, or None for a device or a port that the catalog does not list."""
    nic = spec.catalog.systems[system].nics.get(port) if system in spec.catalog.systems else None
    return nic.rate_gbps if nic else None


def _port_rates(model: Switch, port: str) -> tuple[float, ...]:
    """Return the rates that a port runs at; none when it does not exist, which another check tells of."""
    for block in model.ports:
        if port in {block.port_name(index) for index in range(block.count)}:
            return (block.rate_gbps, *block.also_gbps)
    return ()


def check_breakouts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A port is broken out into as many as it can be, and enough ports are left for uplinks."""
    for name, fabric in plan.fabrics.items():
        for role in dict.fromkeys(switch.role for switch in fabric.switches):
            group = group_of(spec.fabrics[name], role)
            if group is None or group.breakout in {None, 1}:
                continue
            model = spec.catalog.switches[group.model]
            splits = model.ports[0].splits
            if group.breakout not in splits:
                what = f"a port of {group.model} cannot be broken out into {group.breakout}"
                have = (
                    f"it can be into {', '.join(map(str, splits))}" if splits else "the catalog gives no splits of it"
                )
                loc = (*_tier_loc(name, role), "breakout")
                yield finding(spec, loc, "bad-breakout", what=what, have=have, fix="correct breakout")


def check_mtu(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A node's frames fit through its switches, and the switches take frames of that size."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name]
        host, mtu = asked.node_mtu_bytes, fabric.mtu_bytes
        if host is not None and mtu is not None and host > mtu:
            what = f"nodes send {host} bytes, and the switches of fabric {name} pass {mtu}"
            fix = f"lower host_mtu_bytes to {mtu}, or raise mtu_bytes"
            yield finding(spec, ("fabrics", name, "host_mtu_bytes"), "mtu-mismatch", what=what, fix=fix)
        for model in dict.fromkeys(switch.model for switch in fabric.switches):
            most = spec.catalog.switches[model].max_mtu_bytes
            if mtu is not None and most is not None and mtu > most:
                what = f"fabric {name} passes {mtu} bytes, and {model} at most {most}"
                yield finding(
                    spec, ("fabrics", name, "mtu_bytes"), "mtu-mismatch", what=what, fix=f"lower mtu_bytes to {most}"
                )


# -- the shape --------------------------------------------------------------------------------------------------
def check_rails(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each node of a rail-optimised fabric has a port on every rail, and none beside them."""
    systems = {node.name: node.system for node in spec.nodes}
    for name, fabric in plan.fabrics.items():
        if not spec.fabrics[name].rail_optimized:
            continue
        rails: defaultdict[str, set[int | None]] = defaultdict(set)
        for cable in fabric.cables:
            if cable.a.device in systems:
                rails[systems[cable.a.device]].add(cable.rail)
        for system, found in rails.items():
            if found != set(range(fabric.rails)):
                shown = ", ".join(str(rail) for rail in sorted(found, key=lambda rail: -1 if rail is None else rail))
                what = f"{system} has ports on rails {shown}, and fabric {name} has {fabric.rails} rails"
                fix = f"set rails to {len(found)}, or correct the rail of each port in the catalog"
                yield finding(spec, ("fabrics", name, "rails"), "rails-mismatch", what=what, fix=fix)


def check_even_uplinks(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every leaf of a pod has the same number of links to each of its spines, or traffic piles up on some."""
    for name, fabric in plan.fabrics.items():
        pairs = Counter((c.a.device, c.b.device) for c in fabric.cables if c.kind == "leaf-spine")
        counts = sorted(set(pairs.values()))
        if len(counts) > 1:
            what = f"leaf-spine pairs of fabric {name} have {' or '.join(map(str, counts))} links"
            fix = "choose a spine count that divides the uplinks of a leaf"
            yield finding(spec, ("fabrics", name, "spine"), "uneven-uplinks", what=what, fix=fix)


def check_paths(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Every leaf reaches every other through the tiers above."""
    for name, fabric in plan.fabrics.items():
        if fabric.topology == "single":
            continue
        links = [cable for cable in fabric.cables if cable.kind != "node-leaf"]
        leaves = [switch.name for switch in fabric.switches if switch.role == "leaf"]
        part = _parts(links)
        sizes = Counter(part.get(leaf, leaf) for leaf in leaves)
        main = max(sizes, key=lambda name: sizes[name], default="")
        cut = [leaf for leaf in leaves if part.get(leaf, leaf) != main]
        if cut:
            what = f"no path leads from {named(cut, 'leaf', 'leaves')} to the other leaves"
            fix = "give the leaves uplinks, and the spines ports for them"
            yield finding(spec, ("fabrics", name, "leaf"), "no-path", what=what, fix=fix)


def _parts(links: list[CablePlan]) -> dict[str, str]:
    """Return a representative of the connected part that each switch belongs to."""
    parent: dict[str, str] = {}

    def root(device: str) -> str:
        parent.setdefault(device, device)
        while parent[device] != device:
            parent[device] = parent[parent[device]]
            device = parent[device]
        return device

    for cable in links:
        parent[root(cable.a.device)] = root(cable.b.device)
    return {device: root(device) for device in list(parent)}


def check_oversubscription(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A leaf's uplinks carry what its nodes send, within the ratio that the site accepts."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name].oversubscription
        if fabric.oversubscription is not None and fabric.oversubscription > asked:
            ratio = f"{fabric.oversubscription:.3g}:1"
            what = f"leaves of fabric {name} are oversubscribed {ratio}, and {asked:g}:1 is accepted"
            fix = "add spines or uplinks, put fewer nodes on a leaf, or accept the ratio with oversubscription"
            yield finding(spec, ("fabrics", name, "oversubscription"), "oversubscription", what=what, fix=fix)


# -- routing ----------------------------------------------------------------------------------------------------
def check_asns(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each leaf has an autonomous system of its own (RFC 7938), and no tier shares one with another."""
    owners: dict[int, tuple[str, SwitchPlan]] = {}
    for name, fabric in plan.fabrics.items():
        told = False
        for switch in fabric.switches:
            if switch.asn is None:
                continue
            first_fabric, first = owners.setdefault(switch.asn, (name, switch))
            alike = first_fabric == name and first.role == switch.role and switch.role != "leaf"
            if first is not switch and not alike and not told:
                told = True
                what = f"{first.name} and {switch.name} share the autonomous system {switch.asn}"
                have = f"{first.name} is a {first.role} of {first_fabric}, {switch.name} a {switch.role} of {name}"
                fix = "move asn.leaf_first or the spines' number so that the ranges stand apart"
                loc: Loc = ("fabrics", name, "asn") if spec.fabrics[name].asn else ("addressing", "asn")
                yield finding(spec, loc, "asn-shared", what=what, have=have, fix=fix)


def check_routing_numbers(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A routed fabric has enough link addresses, loopbacks and autonomous systems."""
    nodes = {node.name for node in spec.nodes}
    for name, fabric in plan.fabrics.items():
        if fabric.kind == "infiniband" or fabric.topology == "single":
            continue
        hosts = nodes if fabric.kind == "roce" else set()
        numbered = not fabric.unnumbered
        routed = [c for c in fabric.cables if (c.a.device in hosts if c.kind == "node-leaf" else numbered)]
        if routed or numbered:
            yield from _pool(spec, name, "links", len(routed), {c.a_address for c in routed})
        yield from _pool(spec, name, "loopbacks", len(fabric.switches), {s.loopback for s in fabric.switches})
        bare = [switch.name for switch in fabric.switches if switch.asn is None]
        if bare:
            what = f"{named(bare, 'switch', 'switches')} of fabric {name} have no autonomous system"
            fix = f"give fabrics.{name}.asn with leaf_first, spine_first and, for three tiers, core"
            yield finding(spec, ("fabrics", name), "missing-asn", what=what, fix=fix)


def _pool(spec: SiteSpec, fabric: str, key: str, wanted: int, addresses: set[str | None]) -> Iterator[Finding]:
    """Yield what is wrong with a pool that `wanted` different addresses should have come from."""
    section = "fabric_links" if key == "links" else key
    own = getattr(spec.fabrics[fabric], key)
    pool = own or getattr(spec.addressing, section)
    loc: Loc = ("fabrics", fabric, key) if own else ("addressing", section)
    if pool is None:
        what, fix = (
            f"fabric {fabric} routes, and there is no pool of {key}",
            f"add addressing.{section}, or {key} to it",
        )
        yield finding(spec, ("fabrics", fabric), "missing-pool", what=what, fix=fix)
    elif len(addresses - {None}) < wanted:
        what = f"{section} {pool.subnet} is too small: fabric {fabric} needs {wanted} {key}"
        yield finding(spec, loc, "pool-too-small", what=what, fix="give a larger subnet")


def check_shared_pools(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Two routed fabrics take their numbers from pools of their own."""
    routed = [n for n, f in plan.fabrics.items() if f.kind != "infiniband" and f.topology != "single"]
    for key, section in (("links", "fabric_links"), ("loopbacks", "loopbacks")):
        pools: Mapping[str, str | None] = {
            name: pool.subnet
            if (pool := getattr(spec.fabrics[name], key) or getattr(spec.addressing, section))
            else None
            for name in routed
        }
        first: dict[str, str] = {}
        for name, subnet in pools.items():
            if subnet is not None and first.setdefault(subnet, name) != name:
                what = f"fabrics {first[subnet]} and {name} both take {key} from {subnet}"
                fix = f"give one of the two {key}: {{subnet: …}} of its own"
                yield finding(spec, ("fabrics", name), "overlapping-networks", what=what, fix=fix)


def check_roce_class(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """RoCE data and congestion notifications are told apart, in marks and in queues (F12)."""
    for name, fabric in plan.fabrics.items():
        if fabric.roce is None:
            continue
        roce, loc = fabric.roce, ("fabrics", name, "roce")
        if roce.dscp == roce.cnp_dscp:
            what = f"RoCE data and congestion notifications are both marked DSCP {roce.dscp}"
            yield finding(
                spec,
                (*loc, "cnp_dscp"),
                "roce-class",
                what=what,
                fix="mark them apart, such as data 26 and cnp_dscp 48",
            )
        if roce.priority == roce.cnp_priority:
            what = f"congestion notifications wait in the lossless queue of priority {roce.priority}"
            yield finding(
                spec, (*loc, "cnp_priority"), "roce-class", what=what, fix="give them a priority of their own"
            )
        if roce.ecn_min_bytes >= roce.ecn_max_bytes:
            what = f"ECN marks from {roce.ecn_min_bytes} to {roce.ecn_max_bytes} bytes, which is no range"
            yield finding(spec, (*loc, "ecn_min_bytes"), "roce-class", what=what, fix="lower ecn_min_bytes")


FABRIC_CHECKS = (
    check_ports_used_once,
    check_switch_ports,
    check_switch_kinds,
    check_switch_counts,
    check_switch_names,
    check_network_os,
    check_rates,
    check_breakouts,
    check_mtu,
    check_rails,
    check_even_uplinks,
    check_paths,
    check_oversubscription,
    check_asns,
    check_routing_numbers,
    check_shared_pools,
    check_roce_class,
)
