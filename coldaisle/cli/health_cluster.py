"""Conditions of nodes in the site's cluster: what it shows of ours is read, and what has changed is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coldaisle.cli.collection import use_collection
from coldaisle.health.shown import Board, board_of, outdated

if TYPE_CHECKING:
    from coldaisle.health.conditions import Condition
    from coldaisle.plan.model import SitePlan


@dataclass(frozen=True, slots=True)
class Api:
    """
    A cluster that was asked.

    Args:
        cluster: Its nodes; None where the site has no cluster, or it did not answer.
        nodes: Names of the nodes that it has.
        board: What it shows of ours.
        why: Why it could not be asked.
    """

    cluster: Any = None
    nodes: frozenset[str] = frozenset()
    board: Board = field(default_factory=dict)
    why: tuple[str, ...] = ()


def ask(plan: SitePlan) -> Api:
    """Return what the site's cluster shows; one request, however many nodes it has."""
    if plan.cluster is None:
        return Api()
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster  # noqa: PLC0415

    try:
        cluster = Cluster(plan.cluster.kubeconfig)
        told = cluster.own_conditions()
    except FactError as error:
        return Api(why=(str(error),))
    return Api(cluster, frozenset(told), board_of(told))


def write(api: Api, conditions: Iterable[Condition], now: float) -> list[str]:
    """Write the conditions that the cluster does not show yet; return why some could not be written."""
    if api.cluster is None:
        return list(api.why)
    from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: PLC0415

    notes, by_node = [], dict[str, list[dict[str, str]]]()
    for condition in outdated(conditions, api.board, now):
        if condition.node in api.nodes:
            by_node.setdefault(condition.node, []).append(condition.as_kubernetes(now))
        elif condition.status == "True":
            notes.append(f"it has no node {condition.node}, to which {condition.type} could be written")
    for node, found in by_node.items():
        try:
            api.cluster.set_conditions(node, found)
        except FactError as error:
            notes.append(str(error))
    return notes
