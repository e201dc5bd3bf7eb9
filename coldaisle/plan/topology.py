"""
How many switches a fabric has, and which tier's port meets which.

Only numbers: no names, no addresses. The rules reproduce the printed tables of NVIDIA's DGX SuperPOD architectures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """
    What a leaf-spine fabric has to carry.

    `groups` are sets of leaves that share their nodes (scalable units), `rails` the leaves of a group.
    `uplinks` are ports of a leaf that go up. `spines` holds a fabric to what was bought. With several `planes`, all of
    this is of one plane, and each has as much.
    """

    groups: int
    rails: int
    uplinks: int
    spine_ports: int
    core_ports: int
    spines: int | None = None
    links_per_spine: int | None = None
    planes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """
    Counts of switches, and of parallel links between each pair that meets.

    With three tiers, `pod_leaves` leaves and `pod_spines` spines form a pod, and `spines` counts those of all pods.
    Switches are counted over all `planes`, which no link joins; pods are those of one plane. A group has `rails` leaves
    in each plane: those of the first plane come first. Spines and cores of the planes take turns, so that a plane can
    grow.
    """

    leaves: int
    spines: int
    cores: int
    links_leaf_spine: int
    links_spine_core: int
    pods: int
    pod_leaves: int
    pod_spines: int
    rails: int = 1
    planes: int = 1

    @property
    def tiers(self) -> int:
        """Return 2 or 3."""
        return 3 if self.cores else 2

    def plane_of(self, role: str, index: int) -> int:
        """Return the plane of a switch by its role and its index."""
        return index // self.rails % self.planes if role == "leaf" else index % self.planes

    def pod_of(self, spine: int) -> int:
        """Return the pod of a spine."""
        return spine // self.planes // self.pod_spines

    def in_plane(self, plane: int, role: str, position: int) -> int:
        """Return the index of the switch at a position within a plane."""
        if role != "leaf":
            return position * self.planes + plane
        group, rail = divmod(position, self.rails)
        return (group * self.planes + plane) * self.rails + rail


def even_spread(links: int, ports: int, uplinks: int) -> int | None:
    """
    Return the smallest count of upper switches that carries all links with the same number for each pair.

    Args:
        links: Links from all lower switches together.
        ports: Ports of an upper switch.
        uplinks: Ports that a lower switch has upwards.

    Returns:
        The smallest S >= ceil(links / ports) that divides `uplinks`, or None when there is none: then one upper
        tier is too small. A plain ceil() gives 12 spines for three scalable units, which would leave pairs uneven;
        the printed table has 16.
    """
    least = max(1, ceil(links / ports))
    return next((count for count in range(least, uplinks + 1) if uplinks % count == 0), None)


def size(demand: Demand) -> Tiers:
    """Return the tiers of a fabric: two where two carry it, else three; each plane alike."""
    one, planes = _plane(demand), demand.planes
    return replace(
        one,
        leaves=one.leaves * planes,
        spines=one.spines * planes,
        cores=one.cores * planes,
        rails=demand.rails,
        planes=planes,
    )


def _plane(demand: Demand) -> Tiers:
    leaves = demand.groups * demand.rails
    if demand.spines is not None:
        links = demand.links_per_spine or max(1, ceil(demand.uplinks / demand.spines))
        return _two_tiers(leaves, demand.spines, links)
    spines = even_spread(leaves * demand.uplinks, demand.spine_ports, demand.uplinks)
    if spines is not None:
        return _two_tiers(leaves, spines, demand.links_per_spine or demand.uplinks // spines)
    return _three_tiers(leaves, demand)


def _two_tiers(leaves: int, spines: int, links: int) -> Tiers:
    return Tiers(
        leaves=leaves,
        spines=spines,
        cores=0,
        links_leaf_spine=links,
        links_spine_core=0,
        pods=1,
        pod_leaves=leaves,
        pod_spines=spines,
    )


def _three_tiers(leaves: int, demand: Demand) -> Tiers:
    """A pod has half as many leaves as a spine has ports; the other half goes up, to the plane of the spine's place."""
    pod_leaves = demand.spine_ports // 2
    spine_uplinks = demand.spine_ports - pod_leaves
    pods = ceil(leaves / pod_leaves)
    # A plane is the cores that meet the spines of one place in all pods.
    plane_cores = even_spread(pods * spine_uplinks, demand.core_ports, spine_uplinks) or spine_uplinks
    return Tiers(
        leaves=leaves,
        spines=pods * demand.uplinks,
        cores=demand.uplinks * plane_cores,
        links_leaf_spine=1,
        links_spine_core=spine_uplinks // plane_cores,
        pods=pods,
        pod_leaves=pod_leaves,
        pod_spines=demand.uplinks,
    )


@dataclass(frozen=True, slots=True)
class Link:
    """
    A link between two tiers, by index: the lower switch and which of its uplinks, the upper switch and which port.

    Indexes count from 0. An uplink keeps its number when leaves are added.
    """

    lower: int
    uplink: int
    upper: int
    port: int


def leaf_spine_links(tiers: Tiers) -> tuple[Link, ...]:
    """Return the links between leaves and spines, plane by plane, by leaf and uplink."""
    return _over_planes(tiers, _leaf_spine(_one_plane(tiers)), "leaf", "spine")


def _one_plane(tiers: Tiers) -> Tiers:
    counts = (each // tiers.planes for each in (tiers.leaves, tiers.spines, tiers.cores))
    leaves, spines, cores = counts
    return replace(tiers, leaves=leaves, spines=spines, cores=cores, planes=1)


def _over_planes(tiers: Tiers, links: tuple[Link, ...], lower: str, upper: str) -> tuple[Link, ...]:
    """Return the links of one plane in every plane, by the indexes that its switches have among all."""
    if tiers.planes == 1:
        return links
    return tuple(
        Link(tiers.in_plane(plane, lower, link.lower), link.uplink, tiers.in_plane(plane, upper, link.upper), link.port)
        for plane in range(tiers.planes)
        for link in links
    )


def _leaf_spine(tiers: Tiers) -> tuple[Link, ...]:
    count = tiers.links_leaf_spine
    return tuple(
        Link(leaf, spine * count + link, pod * tiers.pod_spines + spine, (leaf % tiers.pod_leaves) * count + link)
        for leaf in range(tiers.leaves)
        for pod in (leaf // tiers.pod_leaves,)
        for spine in range(tiers.pod_spines)
        for link in range(count)
    )


def spine_core_links(tiers: Tiers) -> tuple[Link, ...]:
    """Return the links between spines and cores, plane by plane, by spine and uplink; none with two tiers."""
    return _over_planes(tiers, _spine_core(_one_plane(tiers)), "spine", "core") if tiers.cores else ()


def _spine_core(tiers: Tiers) -> tuple[Link, ...]:
    count, plane_cores = tiers.links_spine_core, tiers.cores // tiers.pod_spines
    return tuple(
        Link(spine, core * count + link, plane * plane_cores + core, pod * count + link)
        for spine in range(tiers.spines)
        for pod, plane in (divmod(spine, tiers.pod_spines),)
        for core in range(plane_cores)
        for link in range(count)
    )
