"""
The fabrics of a site: switches, cables with both ends, addresses and autonomous systems.

Everything depends on indexes that stay: a node's among the nodes of its fabric, a leaf's, an uplink's. Adding a rack
therefore moves no cable and no address.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Literal, TypedDict, cast

from coldaisle.plan.address_pools import Pool, host_pool, link_pool
from coldaisle.plan.allocations import hand_out
from coldaisle.plan.bonds import plan_bonds
from coldaisle.plan.breakout import chosen_os, port_plans
from coldaisle.plan.cabling import Floor, Place, rack_positions
from coldaisle.plan.host_side import tenant_addresses
from coldaisle.plan.layout import ROLES, Layout, PortAt, SwitchAt, ports_of, shape, stable_indexes
from coldaisle.plan.model import BgpPlan, CablePlan, FabricPlan, PortPlan, RoceClassPlan, SwitchAccessPlan, SwitchPlan
from coldaisle.plan.overlay import KINDS, kind_of, overlay_numbers, plan_overlay
from coldaisle.plan.rollout import plan_rollout
from coldaisle.plan.subnet import plan_subnet
from coldaisle.plan.wiring import Wiring, port_table
from coldaisle.spec import SiteSpec
from coldaisle.spec.fabrics import FabricAsn, FabricSpec

Role = Literal["leaf", "spine", "core", "oob"]
_INDEX_DIGITS = 5


def plan_fabrics(spec: SiteSpec) -> dict[str, FabricPlan]:
    """Return the plan of each fabric, by name and sorted by it."""
    site = _site(spec)
    return {name: _fabric(site, layout, _cables(site, layout)) for name, layout in site.layouts.items()}


def plan_switches(spec: SiteSpec) -> dict[str, FabricPlan]:
    """Return each fabric with its switches and no cable: all that racks need to know, in a tenth of the time."""
    site = _site(spec)
    return {name: _fabric(site, layout, ()) for name, layout in site.layouts.items()}


def fabric_numbers(spec: SiteSpec) -> dict[str, dict[str, str]]:
    """Return the numbers that the fabrics hand out, by kind and name, for allocations.yaml to keep."""
    layouts = _layouts(spec)
    numbers: dict[str, dict[str, str]] = {}
    for name, layout in layouts.items():
        members = _members(spec, name, layout.spec)
        extras = _extra_ports(spec, name, layout.spec, layouts)
        numbers[f"fabric_{name}"] = {ports[0].device: str(index) for index, ports in members.items()}
        numbers[f"fabric_{name}_extra"] = {_extra_name(port): str(at) for at, port in extras.items()}
        overlay = overlay_numbers(spec, name)
        for kind in KINDS if overlay else ():
            numbers[kind_of(name, kind)] = {key: str(number) for key, number in getattr(overlay, kind).items()}
        numbers |= tenant_addresses(spec, name)
    return numbers | {"switches": _management_addresses(spec, layouts.values())}


def _layouts(spec: SiteSpec) -> dict[str, Layout]:
    """Shape the fabrics that take no switches' ports first, so that it is known which switches there are."""
    layouts: dict[str, Layout] = {}
    for name in sorted(spec.fabrics, key=lambda name: ("switch" in spec.fabrics[name].connects, name)):
        fabric = spec.fabrics[name]
        extras = max(_extra_ports(spec, name, fabric, layouts), default=-1) + 1
        layouts[name] = shape(name, fabric, spec.catalog, _members(spec, name, fabric), extras)
    return dict(sorted(layouts.items()))


def _members(spec: SiteSpec, name: str, fabric: FabricSpec) -> dict[int, tuple[PortAt, ...]]:
    """Return the ports of each node that the fabric takes, by the node's index in the fabric."""
    systems = {node.name: spec.catalog.systems[node.system] for node in spec.nodes}
    ports = {node: ports_of(node, system, fabric) for node, system in systems.items()}
    indexes = stable_indexes((node for node, taken in ports.items() if taken), _kept(spec, f"fabric_{name}"))
    return {index: ports[node] for node, index in sorted(indexes.items(), key=lambda item: item[1])}


def _kept(spec: SiteSpec, kind: str) -> dict[str, int]:
    """Return the indexes of a kind that earlier plans handed out; what is none by its form or its size is no index."""
    found = spec.allocations.get(kind, {}).items()
    return {name: int(value) for name, value in found if value.isdecimal() and len(value) <= _INDEX_DIGITS}


def _extra_ports(spec: SiteSpec, name: str, fabric: FabricSpec, others: Mapping[str, Layout]) -> dict[int, PortAt]:
    """Return the ports of service hosts and switches that a fabric takes, by the port's index among them."""
    ports = [
        port
        for device in spec.facility.devices
        for port in ports_of(device.name, spec.catalog.systems[device.model], fabric)
    ]
    if "switch" in fabric.connects:
        ports += _management_ports(spec, (layout for other, layout in others.items() if other != name))
    indexes = stable_indexes((_extra_name(port) for port in ports), _kept(spec, f"fabric_{name}_extra"))
    return dict(sorted((indexes[_extra_name(port)], port) for port in ports))


def _extra_name(port: PortAt) -> str:
    return f"{port.device}:{port.port}"


def _management_ports(spec: SiteSpec, layouts: Iterable[Layout]) -> Iterator[PortAt]:
    for layout in layouts:
        for switch in _switches(layout):
            model = spec.catalog.switches[switch.model]
            if model.management_port is not None and model.management_gbps is not None:
                yield PortAt(switch.name, model.management_port, model.management_gbps, None)


def _switches(layout: Layout) -> Iterator[SwitchAt]:
    for role in ROLES:
        yield from layout.switches.get(role, ())


def _management_addresses(spec: SiteSpec, layouts: Iterable[Layout]) -> dict[str, str]:
    """Return the management address of every switch."""
    if spec.addressing.switches is None:
        return {}
    names = [switch.name for layout in layouts for switch in _switches(layout)]
    return hand_out(spec.addressing.switches, names, spec.allocations.get("switches", {}))


def _floor(spec: SiteSpec, layouts: Iterable[Layout]) -> Floor:
    places = {node.name: Place(node.rack, node.rack_unit) for node in spec.nodes}
    places |= {device.name: Place(device.rack, device.rack_unit) for device in spec.facility.devices}
    for layout in layouts:
        for switch in _switches(layout):
            if switch.rack is not None and switch.rack_unit is not None:
                places[switch.name] = Place(switch.rack, switch.rack_unit)
    return Floor(rack_positions(spec.facility), places, spec.facility.cabling)


@dataclass(frozen=True, slots=True)
class _Site:
    """What the plan of one fabric looks up: the spec, all fabrics' shapes, the floor, and switches' addresses."""

    spec: SiteSpec
    layouts: Mapping[str, Layout]
    floor: Floor
    management: Mapping[str, str]


def _site(spec: SiteSpec) -> _Site:
    layouts = _layouts(spec)
    return _Site(spec, layouts, _floor(spec, layouts.values()), _management_addresses(spec, layouts.values()))


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What a routed fabric takes its numbers from; None where it does not route, or the site has none."""

    links: Pool | None
    loopbacks: Pool | None
    asn: FabricAsn | None


def _numbers(spec: SiteSpec, layout: Layout) -> _Numbers:
    fabric, addressing = layout.spec, spec.addressing
    if fabric.kind == "infiniband" or layout.tiers is None:
        return _Numbers(None, None, None)
    links, loopbacks = fabric.links or addressing.fabric_links, fabric.loopbacks or addressing.loopbacks
    asn = fabric.asn
    if asn is None and addressing.asn is not None:
        asn = FabricAsn(leaf_first=addressing.asn.leaf_first, spine_first=addressing.asn.spine)
    return _Numbers(link_pool(links) if links else None, host_pool(loopbacks) if loopbacks else None, asn)


def _cables(site: _Site, layout: Layout) -> tuple[CablePlan, ...]:
    extras = _extra_ports(site.spec, layout.name, layout.spec, site.layouts)
    ports = {role: port_table(model) for role, model in layout.models.items()}
    return Wiring(layout, ports, site.floor, _numbers(site.spec, layout).links, extras).cables()


def _fabric(site: _Site, layout: Layout, cables: tuple[CablePlan, ...]) -> FabricPlan:
    numbers = _numbers(site.spec, layout)
    used = Counter(end.device for cable in cables for end in (cable.a, cable.b))
    switches = tuple(_switch(site, layout, numbers, switch, used[switch.name]) for switch in _switches(layout))
    bonds = plan_bonds(site.spec, layout.spec, _indexes(layout), cables)
    return FabricPlan(
        name=layout.name,
        kind=layout.spec.kind,
        topology=_topology(layout),
        rails=layout.rails,
        tiers=layout.tiers.tiers if layout.tiers else 1,
        switches=switches,
        cables=cables,
        oversubscription=_oversubscription(cables) if layout.tiers else None,
        mtu_bytes=layout.spec.mtu_bytes,
        roce=_roce(layout.spec),
        unnumbered=layout.spec.unnumbered,
        planes=layout.spec.planes,
        overlay=plan_overlay(site.spec, layout.name, switches, cables, bonds),
        bonds=bonds,
        rollout=plan_rollout(layout.spec.rollout, site.spec),
        subnet=plan_subnet(site.spec, layout.spec, (switch.name for switch in _switches(layout)), cables),
        **_configured(site.spec, layout),
    )


def _indexes(layout: Layout) -> dict[str, int]:
    return {ports[0].device: index for index, ports in layout.members.items()}


def _topology(layout: Layout) -> Literal["leaf-spine", "three-tier", "single"]:
    if layout.tiers is None:
        return "single"
    return "three-tier" if layout.tiers.cores else "leaf-spine"


def _roce(fabric: FabricSpec) -> RoceClassPlan | None:
    return RoceClassPlan(**fabric.roce.model_dump()) if fabric.kind == "roce" else None


class _Configured(TypedDict, total=False):
    """What only switches' configurations need, so that an InfiniBand fabric has none of it."""

    ports: Mapping[str, tuple[PortPlan, ...]]
    bgp: BgpPlan | None
    lldp_interval_s: int
    unplanned_config: Literal["remove", "keep"]
    commit_timer_s: int
    switch_access: SwitchAccessPlan | None
    management_vrf: str
    access_vlan: int


def _configured(spec: SiteSpec, layout: Layout) -> _Configured:
    fabric = layout.spec
    if fabric.kind == "infiniband":
        return {}
    return {
        "ports": {role: port_plans(spec.catalog, fabric, role) for role in layout.switches},
        "bgp": BgpPlan(**fabric.bgp.model_dump()) if layout.tiers else None,
        "lldp_interval_s": fabric.lldp_interval_s,
        "unplanned_config": fabric.unplanned_config,
        "commit_timer_s": fabric.commit_timer_s,
        "switch_access": SwitchAccessPlan(**fabric.switch_access.model_dump()) if fabric.switch_access else None,
        "management_vrf": fabric.management_vrf,
        "access_vlan": fabric.access_vlan,
    }


def _oversubscription(cables: Iterable[CablePlan]) -> float | None:
    """Return the worst leaf's downlink rate over its uplink rate, from the cables that it has."""
    down: defaultdict[str, float] = defaultdict(float)
    up: defaultdict[str, float] = defaultdict(float)
    for cable in cables:
        if cable.kind == "node-leaf":
            down[cable.b.device] += cable.rate_gbps
        elif cable.kind == "leaf-spine":
            up[cable.a.device] += cable.rate_gbps
    return max((down[leaf] / rate for leaf, rate in up.items() if rate), default=None)


def _switch(site: _Site, layout: Layout, numbers: _Numbers, switch: SwitchAt, ports_used: int) -> SwitchPlan:
    model = site.spec.catalog.switches[switch.model]
    return SwitchPlan(
        name=switch.name,
        role=cast("Role", switch.role),
        model=switch.model,
        rack=switch.rack,
        ports=layout.models[switch.role].port_count,
        ports_used=ports_used,
        rail=switch.index % layout.rails if layout.spec.rail_optimized and switch.role in {"leaf", "oob"} else None,
        asn=_asn(layout, numbers.asn, switch),
        loopback=_loopback(numbers.loopbacks, layout, switch),
        management_address=site.management.get(switch.name),
        mtu_bytes=layout.spec.mtu_bytes,
        rack_unit=switch.rack_unit,
        network_os=chosen_os(layout.spec, model),
        management_port=model.management_port,
        plane=layout.plane_of(switch),
        mac=_mac(site.spec, switch.name),
        **_management_network(site.spec),
    )


def _mac(spec: SiteSpec, switch: str) -> str | None:
    hardware = spec.switch_hardware.get(switch)
    return hardware.mac if hardware else None


class _ManagementNetwork(TypedDict, total=False):
    management_prefix_length: int
    management_gateway: str | None


def _management_network(spec: SiteSpec) -> _ManagementNetwork:
    pool = spec.addressing.switches
    if pool is None:
        return {}
    return {"management_prefix_length": ip_network(pool.subnet).prefixlen, "management_gateway": pool.gateway}


def _asn(layout: Layout, asn: FabricAsn | None, switch: SwitchAt) -> int | None:
    if asn is None or layout.tiers is None:
        return None
    if switch.role == "leaf":
        return asn.leaf_first + switch.index
    return asn.core if switch.role == "core" else asn.spine_first + layout.tiers.pod_of(switch.index)


def _loopback(pool: Pool | None, layout: Layout, switch: SwitchAt) -> str | None:
    """Return a switch's loopback: leaves from the pool's bottom, spines and cores in turn from its top."""
    if pool is None or layout.tiers is None:
        return None
    if switch.role == "leaf":
        return pool.bottom(switch.index)
    step = 2 if layout.tiers.cores else 1
    return pool.top(switch.index * step + (switch.role == "core"), layout.tiers.leaves)
