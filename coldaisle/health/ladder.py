"""
One node's way back: drain, then what the policy asks for, a check, and the next rung where that fails; then a ticket.

A ladder only goes up, so it always ends: back in service, or at a ticket, which a person closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from coldaisle.health.events import Event
from coldaisle.spec.health import Action

Rung = Literal["drain", "reset", "reboot", "soak", "ticket", "return"]
"""
Drain the node; reset the GPU; cut the power and turn it on again; wait for what a drained node tells; a ticket; give
it back to its users.
"""

Status = Literal["waiting", "running", "checking", "recovered", "ticket", "withdrawn"]

RUNGS: Mapping[Action, tuple[Rung, ...]] = {
    "drain": ("drain", "soak", "ticket"),
    "reset": ("drain", "reset", "reboot", "ticket"),
    "reboot": ("drain", "reboot", "ticket"),
    "repair": ("drain", "ticket"),
}

CHECKED: frozenset[Rung] = frozenset({"reset", "reboot", "soak"})
"""Rungs whose success the next readings of the node decide."""

ORDER: tuple[Rung, ...] = ("soak", "reset", "reboot")
"""Those from the mildest on: where one has helped for a while only, it and the milder ones are not gone again."""

BACK: frozenset[Status] = frozenset({"recovered", "withdrawn"})
"""The node is in service: given back, or never taken out since its reason is gone."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A rung that was gone, with its outcome and why, and when in seconds since 1970."""

    rung: Rung
    ok: bool
    why: str
    at: float


@dataclass(frozen=True, slots=True)
class Ladder:
    """
    The ladder of one node.

    Args:
        node: The node.
        part: Of the worst event, as all of `cause`.
        cause: Kind and code.
        action: What the policy asked for.
        begun_at: Seconds since 1970.
        rungs: What is left, the next one first.
        status: `waiting` for its turn, `running`, `checking` by what the node tells, or ended.
        since: When it got that status.
        tried: Every rung that was gone.
        evidence: The events that it began with.
        spent: Rungs that ladders before it had gone, and that it leaves out.
    """

    node: str
    part: str
    cause: str
    action: Action
    begun_at: float
    rungs: tuple[Rung, ...]
    status: Status
    since: float
    tried: tuple[Tried, ...] = ()
    evidence: tuple[Event, ...] = ()
    spent: tuple[Rung, ...] = ()

    @property
    def next(self) -> Rung:
        """The rung that is gone now, or next."""
        return self.rungs[0]

    @property
    def holds(self) -> bool:
        """Whether the node is out of service for it, or about to be: only before its drain, and after, it is not."""
        return self.status not in BACK and (self.status != "waiting" or bool(self.tried) or self.next != "drain")


def new_ladder(
    worst: Event, action: Action, now: float, evidence: tuple[Event, ...], spent: tuple[Rung, ...]
) -> Ladder:
    """Return the ladder of a node, without the rungs that are spent; what drains a node and ends a ladder stays."""
    rungs = tuple(rung for rung in RUNGS[action] if rung not in spent)
    cause = f"{worst.kind} {worst.code}"
    return Ladder(worst.node, worst.part, cause, action, now, rungs, "waiting", now, (), evidence, spent)


def spent_by(ladder: Ladder) -> tuple[Rung, ...]:
    """Return the rungs that a next ladder of the same node leaves out: those gone before, and all milder ones."""
    gone = {ORDER.index(rung) for rung in (*(tried.rung for tried in ladder.tried), *ladder.spent) if rung in ORDER}
    return ORDER[: max(gone, default=-1) + 1]


def untouched(ladder: Ladder) -> bool:
    """Tell whether nothing was done for it yet, so that it can still be withdrawn."""
    return ladder.status == "waiting" and not ladder.tried and ladder.next == "drain"


def withdrawn(ladder: Ladder, now: float) -> Ladder:
    """Return the ladder that nothing asks for any more, before anything was done."""
    return replace(ladder, status="withdrawn", since=now)


def given_back(ladder: Ladder, now: float) -> Ladder:
    """Return the ladder of a node that a person has mended: what is left is to give it back to its users."""
    return replace(ladder, status="waiting", since=now, rungs=("return",))


def begun(ladder: Ladder, now: float) -> Ladder:
    """Return the ladder with its next rung under way."""
    return replace(ladder, status="running", since=now)


def finished(ladder: Ladder, now: float, *, ok: bool, why: str = "") -> Ladder:
    """
    Return the ladder after its rung was gone, or could not be.

    A node that cannot be drained is not reset under its jobs: that is a ticket. A ticket that could not be written is
    written again.
    """
    rung = ladder.next
    if rung == "ticket":
        return _after(ladder, now, ok=ok, why=why, status="ticket") if ok else _waiting(ladder, now)
    if rung == "return":
        return _after(ladder, now, ok=True, why=why, status="recovered") if ok else _failed(ladder, now, why, "ticket")
    if not ok:
        return _failed(ladder, now, why, *(("ticket",) if rung == "drain" else ladder.rungs[1:]))
    if rung in CHECKED:
        return replace(ladder, status="checking", since=now)
    left = _after(ladder, now, ok=True, why=why, status="waiting", rungs=ladder.rungs[1:])
    return replace(left, status="checking") if left.next == "soak" else left


def checked(ladder: Ladder, now: float, *, good: bool, why: str) -> Ladder:
    """Return the ladder after the check of its rung: the way back, or the next rung."""
    if good:
        return _after(ladder, now, ok=True, why=why, status="waiting", rungs=("return",))
    return _failed(ladder, now, why, *ladder.rungs[1:])


def _after(  # noqa: PLR0913 - what may change at the end of a rung
    ladder: Ladder, now: float, *, ok: bool, why: str, status: Status, rungs: tuple[Rung, ...] | None = None
) -> Ladder:
    tried = (*ladder.tried, Tried(ladder.next, ok, why, now))
    return replace(ladder, status=status, since=now, tried=tried, rungs=rungs or ladder.rungs)


def _failed(ladder: Ladder, now: float, why: str, *left: Rung) -> Ladder:
    return _after(ladder, now, ok=False, why=why, status="waiting", rungs=left)


def _waiting(ladder: Ladder, now: float) -> Ladder:
    return replace(ladder, status="waiting", since=now)
