"""Fabrics, pools and the order list in the report."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from coldaisle.plan.model import FabricPlan, NodePlan, PoolPlan, SitePlan
from coldaisle.units import counted, watts

_ROLES = ("core", "spine", "leaf", "oob")


@dataclass(frozen=True, slots=True)
class Fabric:
    """A fabric with its switches and cables counted."""

    plan: FabricPlan
    switches: str
    models: str
    cables: str
    ports: str
    oversubscription: str
    mtu: str


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool with its nodes counted; `where` are the racks that they stand in."""

    plan: PoolPlan
    nodes: str
    gpus: int
    names: str
    where: str
    boot: str
    cap: str


@dataclass(frozen=True, slots=True)
class Cables:
    """Cables of one rate: how many, and how many of each length."""

    rate: str
    count: int
    lengths: tuple[str, ...]


def cables(plan: SitePlan) -> tuple[Cables, ...]:
    """Return the cables to order, by rate and length; a length is not known where an end has no place."""
    rates: defaultdict[float, Counter[float | None]] = defaultdict(Counter)
    for fabric in plan.fabrics.values():
        for cable in fabric.cables:
            rates[cable.rate_gbps][cable.length_m] += 1
    return tuple(
        Cables(
            f"{rate:g} Gb/s", counts.total(), tuple(_length(*each) for each in sorted(counts.items(), key=_by_length))
        )
        for rate, counts in sorted(rates.items())
    )


def _by_length(each: tuple[float | None, int]) -> tuple[bool, float]:
    return each[0] is None, each[0] or 0.0


def _length(length_m: float | None, count: int) -> str:
    return f"{count} x {'unknown length' if length_m is None else f'{length_m:g} m'}"


def fabrics(plan: SitePlan) -> tuple[Fabric, ...]:
    """Return every fabric, in the plan's order."""
    return tuple(_fabric(fabric) for fabric in plan.fabrics.values())


def _fabric(fabric: FabricPlan) -> Fabric:
    roles: Counter[str] = Counter(switch.role for switch in fabric.switches)
    models = Counter(switch.model for switch in fabric.switches)
    cables = Counter((cable.kind, cable.rate_gbps) for cable in fabric.cables)
    used, there = sum(switch.ports_used for switch in fabric.switches), sum(switch.ports for switch in fabric.switches)
    return Fabric(
        plan=fabric,
        switches=", ".join(f"{roles[role]} {role}" for role in _ROLES if roles[role]) or "none",
        models=", ".join(f"{count} x {model}" for model, count in models.items()),
        cables=", ".join(f"{count} {kind} at {rate:g} Gb/s" for (kind, rate), count in cables.items()) or "none",
        ports=f"{used} of {counted(there, 'port')}" if there else "not known",
        oversubscription="none asked for" if fabric.oversubscription is None else f"{fabric.oversubscription:g} : 1",
        mtu="not set" if fabric.mtu_bytes is None else f"{fabric.mtu_bytes} B",
    )


def pools(plan: SitePlan) -> tuple[Pool, ...]:
    """Return every pool, in the plan's order."""
    members: defaultdict[str, list[NodePlan]] = defaultdict(list)
    for node in plan.nodes:
        members[node.pool].append(node)
    return tuple(_pool(pool, members[pool.name]) for pool in plan.pools)


def _pool(pool: PoolPlan, nodes: list[NodePlan]) -> Pool:
    racks = list(dict.fromkeys(node.rack for node in nodes))
    return Pool(
        plan=pool,
        nodes=str(len(nodes)),
        gpus=sum(node.gpus for node in nodes),
        names=_span([node.name for node in nodes]),
        where=_span(racks) if len(racks) < 2 else f"{_span(racks)} ({counted(len(racks), 'rack')})",  # noqa: PLR2004
        boot=", ".join(sorted({node.boot for node in nodes})),
        cap=_cap(pool),
    )


def _cap(pool: PoolPlan) -> str:
    cap = pool.power_cap
    if cap is None:
        return ""
    return f"{watts(cap.watts)} each {'GPU' if cap.scope == 'gpu' else 'node'}, {watts(cap.node_w)} a node at most"


def _span(names: list[str]) -> str:
    """Return names as a table shows them: the first and the last."""
    return " … ".join(dict.fromkeys((names[0], names[-1]))) if names else "none"
