"""
Conditions as a cluster shows them: what is taken over from there, and what has to be written anew.

The cluster's copy outlives ours: where the record of earlier runs is lost, a condition that we have set must still end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from coldaisle.health.conditions import TYPES, Condition

HEARTBEAT_S = 300.0
"""How old a heartbeat may get: as the node problem detector's (its default of k8s-exporter-heartbeat-period, 5 min)."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A condition of ours that a cluster shows, and the time of its last heartbeat in seconds since 1970."""

    condition: Condition
    heartbeat: float


Board = Mapping[tuple[str, str], Shown]
"""What a cluster shows, by node and type."""


def board_of(told: Mapping[str, Iterable[Mapping[str, str]]]) -> Board:
    """Return what conditions of nodes, as Kubernetes has them, say; those of types that we never write are left out."""
    found = [_shown(node, body) for node, bodies in told.items() for body in bodies if body["type"] in TYPES.values()]
    return {(it.condition.node, it.condition.type): it for it in found}


def taken_over(kept: Iterable[Condition], board: Board, read: Collection[str]) -> tuple[Condition, ...]:
    """
    Return the conditions that are known, with those that only the cluster still knows.

    Of a node that was not read nothing is taken over: nobody could say whether its condition holds.
    """
    known = {(it.node, it.type): it for it in kept}
    others = {key: it.condition for key, it in board.items() if key not in known and it.condition.node in read}
    return tuple(sorted([*known.values(), *others.values()]))


def outdated(conditions: Iterable[Condition], board: Board, now: float) -> list[Condition]:
    """Return the conditions that the cluster shows otherwise, or whose heartbeat gets old."""
    return [it for it in conditions if not _holds(it, board.get((it.node, it.type)), now)]


def _holds(condition: Condition, shown: Shown | None, now: float) -> bool:
    if shown is None or not 0 <= now - shown.heartbeat < HEARTBEAT_S:
        return False
    same = (condition.status, condition.reason, condition.message, int(condition.last_transition))
    seen = shown.condition
    return same == (seen.status, seen.reason, seen.message, int(seen.last_transition))


def _shown(node: str, body: Mapping[str, str]) -> Shown:
    status: Literal["True", "False"] = "True" if body["status"] == "True" else "False"
    reason, message = body.get("reason", ""), body.get("message", "")
    at = _seconds(body.get("lastTransitionTime"))
    return Shown(Condition(node, body["type"], status, reason, message, at), _seconds(body.get("lastHeartbeatTime")))


def _seconds(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
