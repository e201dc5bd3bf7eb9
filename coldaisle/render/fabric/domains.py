"""
How near nodes are to each other in a fabric: the nested domains that schedulers place jobs by.

Nodes under the same leaves are nearest. With rails or planes a node hangs on several leaves, and all nodes of a group
hang on the same, so that the group is the domain, not a leaf. Above it are the spines that groups share (a pod), and
the cores that pods share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coldaisle.plan.connected import connected
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.spec import SiteSpec

NOUNS = ("group", "pod", "core")
"""What a domain of several switches is called, from the leaves upwards."""


@dataclass(frozen=True, slots=True)
class Domain:
    """
    A part of a fabric.

    `switches` are those of its own tier. The lowest domains have `nodes`, and the others `children`, which are domains
    of the tier below by name.
    """

    name: str
    switches: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


def compute_fabric(spec: SiteSpec, plan: SitePlan, name: str | None) -> FabricPlan:
    """
    Return the fabric that jobs are placed by: the one of a name, else the only one that connects compute ports.

    Raises:
        LookupError: there is no such fabric, or none or several connect compute ports.
    """
    known = ", ".join(sorted(plan.fabrics)) or "none"
    if name is not None:
        if name not in plan.fabrics:
            raise LookupError(f"there is no fabric {name}; known: {known}")
        return plan.fabrics[name]
    found = [fabric for fabric in spec.fabrics if "compute" in spec.fabrics[fabric].connects]
    if len(found) != 1:
        which = " and ".join(sorted(found)) if found else "no fabric"
        raise LookupError(f"{which} connect{'' if found else 's'} compute ports: choose with --fabric one of {known}")
    return plan.fabrics[found[0]]


def tiers_of(fabric: FabricPlan, nodes: Iterable[str]) -> tuple[tuple[Domain, ...], ...]:
    """
    Return the domains of a fabric, tier by tier from the leaves upwards; each node and each domain is in one above it.

    Args:
        fabric: The fabric.
        nodes: The nodes to place; a leaf without any is in no domain.
    """
    below: dict[str, tuple[str, ...]] = {name: (name,) for name in nodes}
    tiers: list[tuple[Domain, ...]] = []
    for role, noun in zip(("leaf", "spine", "core"), NOUNS, strict=True):
        upper = [switch.name for switch in fabric.switches if switch.role in {role, "oob" if role == "leaf" else role}]
        if not upper:
            break
        parts = _parts(fabric, below, upper)
        lowest = not tiers
        tiers.append(tuple(_domain(fabric, noun, at, part, lowest=lowest) for at, part in enumerate(parts, 1)))
        below = {domain.name: domain.switches for domain in tiers[-1]}
    return tuple(tiers)


Part = tuple[tuple[str, ...], tuple[str, ...]]


def _parts(fabric: FabricPlan, below: dict[str, tuple[str, ...]], upper: Sequence[str]) -> list[Part]:
    """Return what hangs together: names from below with the upper switches that they share, in the plan's order."""
    owner = {device: name for name, devices in below.items() for device in devices}
    order = {name: at for at, name in enumerate([*below, *upper])}
    ours = set(upper)
    joined = [(owner[c.a.device], c.b.device) for c in fabric.cables if c.a.device in owner and c.b.device in ours]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, part in connected(joined).items():
        found[part].append(name)
    parts = [sorted(names, key=order.__getitem__) for names in found.values()]
    split = [(tuple(n for n in names if n in below), tuple(n for n in names if n in ours)) for names in parts]
    return sorted(split, key=lambda part: order[part[1][0]])


def _domain(fabric: FabricPlan, noun: str, number: int, part: Part, *, lowest: bool) -> Domain:
    """Return a domain; numbers have three digits, so that a domain keeps its name when others come."""
    members, switches = part
    name = switches[0] if lowest and len(switches) == 1 else f"{fabric.name}-{noun}{number:03d}"
    return Domain(name, switches, nodes=members) if lowest else Domain(name, switches, children=members)


def nvlink_domains(plan: SitePlan) -> dict[str, tuple[str, ...]]:
    """Return the nodes of each NVLink domain that reaches beyond one node, by its name, sorted."""
    found: dict[str, list[str]] = {}
    for node in plan.nodes:
        if node.nvlink_domain is not None:
            found.setdefault(f"nvlink-{node.nvlink_domain}", []).append(node.name)
    return {name: tuple(found[name]) for name in sorted(found)}
