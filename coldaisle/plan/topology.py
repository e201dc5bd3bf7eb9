"""
How many switches a fabric has, and which tier's port meets which.

Only numbers: no names, no addresses. The rules reproduce the printed tables of NVIDIA's DGX SuperPOD architectures.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """
    What a leaf-spine fabric has to carry.

    `groups` are sets of leaves that share their nodes (scalable units), `rails` the leaves of a group.
    `uplinks` are ports of a leaf that go up. `spines` holds a fabric to what was bought.
    """

    groups: int
    rails: int
    uplinks: int
    spine_ports: int
    core_ports: int
    spines: int | None = None
    links_per_spine: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """
    Counts of switches, and of parallel links between each pair that meets.

    With three tiers, `pod_leaves` leaves and `pod_spines` spines form a pod, and `spines` counts those of all pods.
    """

    leaves: int
    spines: int
    cores: int
    links_leaf_spine: int
    links_spine_core: int
    pods: int
    pod_leaves: int
    pod_spines: int

    @property
    def tiers(self) -> int:
        """Return 2 or 3."""
        return 3 if self.cores else 2


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
    """Return the tiers of a fabric: two where two carry it, else three."""
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
    """Return the links between leaves and spines, by leaf and uplink."""
    count = tiers.links_leaf_spine
    return tuple(
        Link(leaf, spine * count + link, pod * tiers.pod_spines + spine, (leaf % tiers.pod_leaves) * count + link)
        for leaf in range(tiers.leaves)
        for pod in (leaf // tiers.pod_leaves,)
        for spine in range(tiers.pod_spines)
        for link in range(count)
    )


def spine_core_links(tiers: Tiers) -> tuple[Link, ...]:
    """Return the links between spines and cores, by spine and uplink; none with two tiers."""
    if not tiers.cores:
        return ()
    count, plane_cores = tiers.links_spine_core, tiers.cores // tiers.pod_spines
    return tuple(
        Link(spine, core * count + link, plane * plane_cores + core, pod * count + link)
        for spine in range(tiers.spines)
        for pod, plane in (divmod(spine, tiers.pod_spines),)
        for core in range(plane_cores)
        for link in range(count)
    )
