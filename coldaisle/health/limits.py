"""How much may happen at once: which of the next rungs may be gone now, and what holds the others back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from coldaisle.health.ladder import Ladder, Rung
from coldaisle.health.policy import severity
from coldaisle.health.topology import Topology
from coldaisle.spec.health import HealthLimits

HOUR_S = 3600.0
ACTS: frozenset[Rung] = frozenset({"drain", "reset", "reboot"})
"""What is counted: the others take nothing from anybody."""

SHARES: tuple[Literal["pool", "rack"], ...] = ("pool", "rack")


@dataclass(frozen=True, slots=True, order=True)
class Taken:
    """An action that was begun at a time, in seconds since 1970."""

    node: str
    hall: str
    rung: Rung
    at: float


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A rung that may be gone now."""

    node: str
    rung: Rung
    part: str
    why: str


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """A rung that has to wait, and which limit holds it back."""

    node: str
    rung: Rung
    limit: str


class Budget:
    """What is left of the limits in one tick; it is used up as rungs are let through."""

    def __init__(self, limits: HealthLimits, site: Topology, out: Iterable[str], taken: Iterable[Taken]) -> None:
        """Take the nodes that are out of service, and the actions of the last hour."""
        self._limits, self._site = limits, site
        self._out = set(out)
        acts = list(taken)
        self._by_node = Counter(act.node for act in acts)
        self._by_hall = Counter(act.hall for act in acts)

    def refusal(self, node: str, rung: Rung) -> str:
        """Return the limit that holds a rung back, in words; empty where none does."""
        if rung not in ACTS:
            return ""
        if rung == "drain" and (why := self._too_many_out(node)):
            return why
        hall = hall_of(self._site, node)
        if self._by_node[node] >= self._limits.max_node_actions_per_hour:
            return f"{self._by_node[node]} actions on {node} in the last hour (max_node_actions_per_hour)"
        if self._by_hall[hall] >= self._limits.max_hall_actions_per_hour:
            return f"{self._by_hall[hall]} actions in hall {hall} in the last hour (max_hall_actions_per_hour)"
        return ""

    def use(self, node: str, rung: Rung) -> None:
        """Count a rung that is let through."""
        if rung in ACTS:
            self._by_node[node] += 1
            self._by_hall[hall_of(self._site, node)] += 1
            self._out |= {node} if rung == "drain" else set()

    def _too_many_out(self, node: str) -> str:
        for kind in SHARES:
            members = self._site.members(kind, node)
            most = at_most(getattr(self._limits, f"max_{kind}_share"), len(members))
            out = len(self._out & set(members) - {node})
            if out >= most:
                return f"{out} of {len(members)} nodes of its {kind} are out, {most} may be (max_{kind}_share)"
        return ""


def at_most(share: float, members: int) -> int:
    """Return how many of so many nodes may be out: a share of them, rounded down, and never less than one."""
    return max(1, int(share * members + 1e-9))


def hall_of(site: Topology, node: str) -> str:
    """Return the hall of a node, empty of one that is not in the plan."""
    place = site.nodes.get(node)
    return place.hall if place else ""


def sort_key(ladder: Ladder) -> tuple[int, int, float, str]:
    """What is under way goes first, since it takes no node more; then the worst, the longest waiting, and by name."""
    return 0 if ladder.holds else 1, -severity(ladder.action), ladder.begun_at, ladder.node


def let_through(waiting: Iterable[Ladder], budget: Budget) -> tuple[tuple[Step, ...], tuple[Held, ...]]:
    """Return the rungs that may be gone now, in their order, and those that have to wait."""
    steps, held = [], []
    for ladder in sorted(waiting, key=sort_key):
        limit = budget.refusal(ladder.node, ladder.next)
        if limit:
            held.append(Held(ladder.node, ladder.next, limit))
        else:
            budget.use(ladder.node, ladder.next)
            steps.append(Step(ladder.node, ladder.next, ladder.part, ladder.cause))
    return tuple(steps), tuple(held)
