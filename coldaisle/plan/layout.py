"""The shape of one fabric before any cable: its ports, how they fill the leaves, and which switches there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from coldaisle.plan.breakout import group_of, role_model
from coldaisle.plan.topology import Demand, Tiers, size
from coldaisle.spec.catalog import Catalog, PortBlock, Switch, System
from coldaisle.spec.fabrics import FabricSpec, SwitchGroup
from coldaisle.spec.ranges import expand

ROLES = ("leaf", "spine", "core", "oob")


@dataclass(frozen=True, slots=True)
class SwitchAt:
    """A switch with its name and its place."""

    name: str
    role: str
    index: int
    model: str
    rack: str | None
    rack_unit: int | None


@dataclass(frozen=True, slots=True)
class PortAt:
    """A device's port that the fabric takes."""

    device: str
    port: str
    rate_gbps: float
    rail: int | None
    plane: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """
    The shape of a fabric.

    A group of leaves serves `group_places` nodes, each of which takes `place_ports` ports of a leaf. `members` has the
    ports of each node by its index, which stays the node's own when others come and go. A node has at most `node_ports`
    ports, and all indexes together take `node_links` places for addresses.
    """

    name: str
    spec: FabricSpec
    members: Mapping[int, tuple[PortAt, ...]]
    managers: tuple[tuple[str, str], ...]
    groups: int
    group_places: int
    place_ports: int
    node_ports: int
    node_links: int
    down_ports: int
    uplinks: int
    models: Mapping[str, Switch]
    tiers: Tiers | None
    switches: Mapping[str, tuple[SwitchAt, ...]]

    @property
    def leaf_role(self) -> str:
        """Return the role of the switches that nodes hang on."""
        return "leaf" if self.tiers else "oob"

    @property
    def rails(self) -> int:
        """Return leaves of a group in one plane."""
        return self.spec.rails if self.spec.rail_optimized else 1

    @property
    def group_leaves(self) -> int:
        """Return leaves in a group, over all planes."""
        return self.rails * self.spec.planes

    def plane_of(self, switch: SwitchAt) -> int | None:
        """Return the plane of a switch; None where there is one plane only."""
        if self.spec.planes == 1:
            return None
        if self.tiers is None:
            return switch.index // self.rails % self.spec.planes
        return self.tiers.plane_of(switch.role, switch.index)


def ports_of(device: str, system: System, spec: FabricSpec) -> tuple[PortAt, ...]:
    """Return the ports of a device that a fabric takes, in the order in which they are plugged in."""
    roles = [role for role in spec.connects if role != "switch"]
    names = [name for role in roles for name in system.nics_of(role)]
    nics = ((name, system.nics[name]) for name in names)
    return tuple(PortAt(device, name, nic.rate_gbps, nic.rail, nic.plane) for name, nic in nics)


def stable_indexes(names: Iterable[str], kept: Mapping[str, int]) -> dict[str, int]:
    """
    Number names from 0: what was given before stays, and new names take the lowest free numbers in order.

    Args:
        names: Names in any order; they are sorted first.
        kept: Numbers that were handed out before.
    """
    wanted = sorted(set(names))
    indexes = {name: kept[name] for name in wanted if name in kept}
    free = (number for number in range(len(wanted) + len(kept)) if number not in set(kept.values()))
    return indexes | {name: next(free) for name in wanted if name not in kept}


def shape(
    name: str, spec: FabricSpec, catalog: Catalog, members: Mapping[int, tuple[PortAt, ...]], extras: int
) -> Layout:
    """
    Return the shape of a fabric.

    Args:
        name: The fabric's name.
        spec: What is asked for.
        catalog: Hardware facts.
        members: Ports of each node, by the node's index.
        extras: Places for ports of other devices that the fabric takes, such as management ports of switches.
    """
    leaf = role_model(catalog, spec, "leaf" if spec.topology == "leaf-spine" else "oob")
    place_ports = 1 if spec.rail_optimized else _most_in_a_plane(spec, members)
    down = _down_ports(spec, leaf, place_ports)
    places = spec.nodes_per_leaf_group or max(1, down // place_ports)
    managers = _managers(spec)
    rails = spec.rails if spec.rail_optimized else 1
    manager_places = ceil(len(managers) / (rails * spec.planes))
    groups = max(1, ceil((max(members, default=-1) + 1 + manager_places) / places))
    used = (max(members, default=-1) + 1) * place_ports
    groups = max(groups, _groups_for_extras(groups, down, places * place_ports, used, extras))
    uplinks = _uplinks(spec, leaf, members, places * place_ports, down)
    tiers = _tiers(spec, catalog, groups * rails, rails, uplinks) if spec.topology == "leaf-spine" else None
    if tiers:
        uplinks = tiers.links_leaf_spine * tiers.pod_spines
    switches = _switches(name, spec, tiers, groups)
    node_ports = max((len(ports) for ports in members.values()), default=0)
    return Layout(
        name=name,
        spec=spec,
        members=members,
        managers=managers,
        groups=groups,
        group_places=places,
        place_ports=place_ports,
        node_ports=node_ports,
        node_links=(max(members, default=-1) + 1) * node_ports,
        down_ports=down,
        uplinks=uplinks,
        models={role: role_model(catalog, spec, role) for role in switches},
        tiers=tiers,
        switches=switches,
    )


def _most_in_a_plane(spec: FabricSpec, members: Mapping[int, tuple[PortAt, ...]]) -> int:
    """Return the most ports that a node has in one plane, and 1 where it has none."""
    counts = (
        sum(port.plane % spec.planes == plane for port in ports)
        for ports in members.values()
        for plane in range(spec.planes)
    )
    return max(counts, default=1) or 1


def _fabric_ports(model: Switch) -> list[PortBlock]:
    """
    Return the blocks of a switch that links between switches may take.

    Slower ports behind faster ones, such as two of 25G behind 64 of 800G, are for management: a link that landed there
    would be the narrowest of its leaf.
    """
    blocks = list(model.ports)
    while len(blocks) > 1 and blocks[-1].rate_gbps < max(block.rate_gbps for block in blocks[:-1]):
        blocks.pop()
    return blocks


def fabric_port_count(model: Switch) -> int:
    """Return how many ports of a switch links between switches may take: the first so many."""
    return sum(block.count for block in _fabric_ports(model))


def _down_ports(spec: FabricSpec, leaf: Switch, place_ports: int) -> int:
    """Return how many of a leaf's first ports look down: its first block of ports, or half of its only block."""
    if spec.topology == "single":
        return leaf.port_count if len(leaf.ports) == 1 else leaf.ports[0].count
    blocks = _fabric_ports(leaf)
    if len(blocks) > 1:
        return blocks[0].count
    ports = blocks[0].count
    asked = (spec.nodes_per_leaf_group or 0) * place_ports
    return max(asked, ports // 2) if asked <= ports else ports


def _groups_for_extras(groups: int, down: int, group_ports: int, used: int, extras: int) -> int:
    """Return how many groups leave room for the ports of other devices."""
    spare = down - group_ports
    if spare > 0:
        return ceil(extras / spare)
    return groups if used + extras <= groups * down else ceil((used + extras) / down)


def _uplinks(
    spec: FabricSpec, leaf: Switch, members: Mapping[int, tuple[PortAt, ...]], group_ports: int, down: int
) -> int:
    """Return a leaf's uplinks: as many as its nodes' rate asks for, and at most as it has ports."""
    if spec.topology == "single":
        return 0
    rates = {port.rate_gbps for ports in members.values() for port in ports}
    uplink_rate = leaf.block_of(down)[0].rate_gbps
    wanted = ceil(group_ports * max(rates, default=uplink_rate) / (spec.oversubscription * uplink_rate))
    return max(1, min(wanted, fabric_port_count(leaf) - down))


def _tiers(spec: FabricSpec, catalog: Catalog, leaves: int, rails: int, uplinks: int) -> Tiers:
    spine, core = role_model(catalog, spec, "spine"), role_model(catalog, spec, "core")
    bought = spec.spine.count if spec.spine else None
    spines = None if bought is None else ceil(bought / spec.planes)
    if spines is None and spec.uplinks_per_spine:
        spines = ceil(uplinks / spec.uplinks_per_spine)
    return size(
        Demand(
            groups=leaves // rails,
            rails=rails,
            uplinks=uplinks,
            spine_ports=fabric_port_count(spine),
            core_ports=fabric_port_count(core),
            spines=spines,
            links_per_spine=spec.uplinks_per_spine,
            planes=spec.planes,
        )
    )


def _managers(spec: FabricSpec) -> tuple[tuple[str, str], ...]:
    """Return device and port of each fabric manager's cable."""
    if spec.managers is None:
        return ()
    return tuple(
        (device, spec.managers.port.format(port=port))
        for device in expand(spec.managers.name)
        for port in range(spec.managers.ports_each)
    )


def _switches(name: str, spec: FabricSpec, tiers: Tiers | None, groups: int) -> dict[str, tuple[SwitchAt, ...]]:
    if tiers is None:
        rails = spec.rails if spec.rail_optimized else 1
        return {"oob": _tier("oob", spec.switch, name, groups * rails * spec.planes)}
    counts = {"leaf": tiers.leaves, "spine": tiers.spines, "core": tiers.cores}
    return {role: _tier(role, group_of(spec, role), role, count) for role, count in counts.items() if count}


def _tier(role: str, group: SwitchGroup | None, prefix: str, count: int) -> tuple[SwitchAt, ...]:
    if group is None:
        return ()
    places: list[tuple[str | None, int | None]] = [*group.placements()]
    places += [(None, None)] * (count - len(places))
    return tuple(
        SwitchAt(f"{group.name or prefix}{index + 1:02d}", role, index, group.model, rack, rack_unit)
        for index, (rack, rack_unit) in enumerate(places[:count])
    )
