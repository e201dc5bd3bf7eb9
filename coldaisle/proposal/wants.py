"""What a site still wants: nodes that a pool shall have and that stand nowhere."""

from __future__ import annotations

from collections import Counter

from coldaisle.proposal.records import Want
from coldaisle.spec.base import near_miss
from coldaisle.spec.sections import SiteSpec


def wanted(spec: SiteSpec, pool: str | None = None, more: int | None = None) -> tuple[Want, ...]:
    """
    Return the nodes without a place, by pool.

    Args:
        spec: The site.
        pool: Only this pool.
        more: This many nodes more, whatever the pool's `count` says.

    Raises:
        LookupError: there is no such pool, or nothing says how many nodes it shall have.
    """
    if pool is not None and pool not in spec.node_pools:
        raise LookupError(f"there is no pool {pool}: {near_miss(pool, list(spec.node_pools))}")
    placed = Counter(node.pool for node in spec.nodes)
    wants = []
    for name, found in sorted(spec.node_pools.items()):
        if pool in (None, name):
            count = more or max(0, (found.count or 0) - placed[name])
            wants.append(Want(name, found.system, count))
    if pool is not None and not more and spec.node_pools[pool].count is None:
        raise LookupError(f"pool {pool} does not say how many nodes it shall have: give --count, or count in the pool")
    return tuple(want for want in wants if want.count)
