"""
The fabrics of a spec, held against their cables by the planner itself.

A group's size is seldom written down, and several sizes can give some of the cables: each candidate is planned, and the
first whose cables and addresses are those that were seen is taken. Where none is, the nearest is, and what is left
over is told as a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.adopt.estate import Estate
from coldaisle.adopt.fabric_shape import prefix_of, shapes
from coldaisle.adopt.fabric_spec import FabricDraft
from coldaisle.adopt.told import Gap, cleaned, derived, plain
from coldaisle.plan.model import FabricPlan

Numbers = dict[str, dict[str, str]]
Planner = Callable[[Mapping[str, Any], Numbers, str], FabricPlan | None]
"""Plans one fabric, of all whose plain data and numbers are given; None where they make no valid spec."""


@dataclass(frozen=True, slots=True)
class Fabrics:
    """The section `fabrics` with sources and gaps, and the numbers that keep its cables as they are."""

    data: dict[str, Any]
    numbers: Numbers


def fabrics(estate: Estate, planner: Planner) -> Fabrics:
    """Return every fabric of a site; those that take switches' management ports come last, as they need the others."""
    drafts = [FabricDraft(estate, shape) for shape in shapes(estate) if shape.hung]
    found = Fabrics({}, {})
    for draft in sorted(drafts, key=lambda draft: "switch" in draft.connects):
        name = _free(draft.name, found.data)
        data, numbers = _best(draft, name, found, planner)
        found.data[name] = data
        found.numbers.update(numbers)
    return found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    names = (name, *(f"{name}{number}" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


def _best(draft: FabricDraft, name: str, found: Fabrics, planner: Planner) -> tuple[dict[str, Any], Numbers]:
    data, best = _data(draft, name), None
    for size in _sizes(draft):
        sized = {**data, **({} if size is None else {"nodes_per_leaf_group": derived(size, "the places of its nodes")})}
        numbers = _numbers(draft, name, size)
        plan = planner({**plain(found.data), name: plain(sized)}, {**found.numbers, **numbers}, name)
        misses = _misses(draft, plan)
        if best is None or misses < best[0]:
            best = misses, sized, numbers
        if misses == 0:
            break
    return (best[1], best[2]) if best else (data, {})


# -- candidates ---------------------------------------------------------------------------------------------------
def _sizes(draft: FabricDraft) -> Iterator[int | None]:
    """Yield sizes of a group, the likely ones first, each once; None leaves the size to the planner."""
    places = [draft.place(cables) for cables in draft.nodes.values()]
    least = 1 + max((place for _, place in places), default=0)
    most = max(least, draft.down_ports // draft.place_ports)
    likely: list[int | None] = [*_by_managers(draft), None, *_by_others(draft), least]
    yield from dict.fromkeys(
        each for each in [*likely, *range(least, most + 1)] if each is None or least <= each <= most
    )


def _by_managers(draft: FabricDraft) -> Iterator[int]:
    """A fabric manager's first port takes the last place of the last group."""
    slots = [draft.slots[each.upper.port] for each in draft.managers if each.upper.port in draft.slots]
    yield from (slot + 1 for slot in sorted(slots, reverse=True)[:1])


def _by_others(draft: FabricDraft) -> Iterator[int]:
    """Service hosts and switches take the ports that a group leaves, of its first switch."""
    first = [each for each in draft.others if draft.indexes.get(each.upper.device) == 0]
    if first:
        yield (draft.down_ports - len(first)) // draft.place_ports


def _misses(draft: FabricDraft, plan: FabricPlan | None) -> int:
    """Count cables that are planned or seen only, and addresses that differ."""
    if plan is None:
        return 1_000_000
    planned = {frozenset({(c.a.device, c.a.port), (c.b.device, c.b.port)}) for c in plan.cables}
    cables = [(each.lower, each.upper) for each in draft.shape.hung] + list(draft.shape.inner)
    seen = {frozenset({(one.device, one.port), (other.device, other.port)}) for one, other in cables}
    wanted = {(c.a.device, c.a.port): c.a_address for c in plan.cables}
    wanted |= {(c.b.device, c.b.port): c.b_address for c in plan.cables}
    ends = [(end, draft.address(end)) for pair in cables for end in pair]
    wrong = sum(1 for end, address in ends
                if address and wanted.get((end.device, end.port)) not in {None, address})  # fmt: skip
    return len(planned ^ seen) + wrong


# -- numbers that stay --------------------------------------------------------------------------------------------
def _numbers(draft: FabricDraft, name: str, size: int | None) -> Numbers:
    """Return the index of each node and of each other port, as the planner counts them with groups of a size."""
    places = size or max(1, draft.down_ports // draft.place_ports)
    nodes = {node: draft.place(cables) for node, cables in draft.nodes.items()}
    indexes = {node: str(group * places + place) for node, (group, place) in sorted(nodes.items())}
    spare = draft.down_ports - places * draft.place_ports
    groups = max(1, len(draft.indexes) // draft.group_leaves)
    others = {}
    for each in draft.others:
        if each.upper.device not in draft.indexes or each.upper.port not in draft.slots:
            continue
        group = draft.indexes[each.upper.device] // draft.group_leaves
        back = draft.down_ports - 1 - draft.slots[each.upper.port]
        number = group * spare + back if spare > 0 else (groups - 1 - group) * draft.down_ports + back
        others[each.lower.text] = str(number)
    found = {f"fabric_{name}": indexes, f"fabric_{name}_extra": dict(sorted(others.items()))}
    return {kind: numbers for kind, numbers in found.items() if numbers}


# -- the section --------------------------------------------------------------------------------------------------
def _data(draft: FabricDraft, name: str) -> dict[str, Any]:
    tiers = draft.shape.tiers
    single = "switch" in tiers
    rails = draft.rails > 1 or draft.one_rail
    return cleaned(
        {
            "kind": derived(draft.kind, "its switches and the addresses of its ports"),
            "topology": "single" if single else "leaf-spine",
            "connects": derived(draft.connects, "the ports that its cables end at"),
            "rail_optimized": True if rails else None,
            "rails": derived(draft.rails, "the leaf of each port, and its host's rules") if rails else None,
            "planes": draft.planes if draft.planes > 1 else None,
            "managers": _managers(draft),
            **{tier: draft.tier_data(tier, name) for tier in ("leaf", "spine", "core", "switch") if tier in tiers},
            "uplinks_per_spine": None if single else draft.uplinks_per_spine(),
            "oversubscription": None if single else _ratio(draft),
            "network_os": draft.network_os,
            **_ethernet(draft, single=single),
        }
    )


def _ratio(draft: FabricDraft) -> Any:  # noqa: ANN401 - a part of a spec
    ratio = draft.oversubscription()
    return derived(ratio, "the rates of its cables") if ratio > 1 else None


def _managers(draft: FabricDraft) -> dict[str, Any] | None:
    if not draft.managers:
        return None
    devices = sorted({each.lower.device for each in draft.managers})
    ports = sorted({each.lower.port for each in draft.managers})
    return {"name": _folded(devices), "ports_each": len(ports), "port": f"{prefix_of(ports[0])[0]}{{port}}"}


def _folded(names: list[str]) -> str:
    first, last = names[0], names[-1]
    prefix, number = prefix_of(first)
    digits = len(first) - len(prefix)
    return first if first == last else f"{prefix}[{str(number).zfill(digits)}-{last[len(prefix) :]}]"


def _ethernet(draft: FabricDraft, *, single: bool) -> dict[str, Any]:
    """Return MTUs, addresses and autonomous systems: an InfiniBand fabric has none of them in a spec."""
    if draft.kind == "infiniband":
        return {}
    mtu, hosts = draft.mtu(hosts=False), draft.mtu(hosts=True)
    routed = {} if single else {
        "links": draft.pool(draft.link_addresses(), "links"),
        "loopbacks": draft.pool(draft.loopbacks(), "loopbacks"),
        "asn": _asn(draft),
    }  # fmt: skip
    overlay = draft.kind == "ethernet" and not single
    return {
        "mtu_bytes": mtu or _no_mtu(),
        "host_mtu_bytes": hosts if hosts and mtu and hosts.value != mtu.value else None,
        "access_vlan": draft.access_vlan() if draft.kind == "ethernet" else None,
        **routed,
        "roce": _no_roce() if draft.kind == "roce" else None,
        "overlay": _no_overlay() if overlay else None,
    }


def _asn(draft: FabricDraft) -> Any:  # noqa: ANN401 - a part of a spec
    """Return the numbers that the leaves count from, where every switch's fits them."""
    devices = draft.estate.devices
    firsts = {}
    for tier in draft.shape.tiers:
        values = [devices[name].value("asn") for name in draft.shape.tiers[tier]]
        if None in values:
            return _no_asn()
        step = 1 if tier == "leaf" else 0
        counted = {int(str(value)) - index * step for index, value in enumerate(values)}
        firsts[tier] = counted.pop() if len(counted) == 1 else None
    if None in firsts.values():
        return _no_asn()
    core = {"core": firsts["core"]} if "core" in firsts else {}
    return derived(
        {"spine_first": firsts["spine"], "leaf_first": firsts["leaf"], **core}, "the numbers of its switches"
    )


def _no_asn() -> Gap:
    look = "the switches: `show bgp summary`; NetBox keeps it in a custom field named asn, where a site has one"
    return Gap(what="autonomous system numbers", look=look, write="{spine_first: 65100, leaf_first: 65101}")


def _no_mtu() -> Gap:
    return Gap(what="the MTU of its ports", look="the switches: `show interface`", write="bytes, such as 9216")


def _no_roce() -> Gap:
    look = "the switches: `nv show qos roce`, `show qos maps`; left out, Cumulus' defaults are planned"
    return Gap(what="the lossless class of RoCE", look=look, write="{dscp: 26, priority: 3, …}")


def _no_overlay() -> Gap:
    look = "the switches: VRFs, VNIs and their ports; leave it out where there are no tenants"
    return Gap(what="tenants over EVPN-VXLAN", look=look, write="vteps and tenants, as docs/fabric-design.md has them")
