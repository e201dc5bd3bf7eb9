"""One tick: readings come in, and what should be done now comes out. The same readings in any order give the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from coldaisle.health.bursts import Finding, find_bursts
from coldaisle.health.conditions import Condition, conditions_of
from coldaisle.health.events import Event
from coldaisle.health.ladder import (
    BACK,
    Ladder,
    Rung,
    begun,
    checked,
    finished,
    new_ladder,
    spent_by,
    untouched,
    withdrawn,
)
from coldaisle.health.limits import HOUR_S, Budget, Held, Step, Taken, hall_of, let_through
from coldaisle.health.policy import DRAINS, Policy, severity, without_cancelled
from coldaisle.health.state import State
from coldaisle.health.topology import Topology

EVIDENCE = 20
"""Events that a ladder keeps: the newest of its node."""


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What a node told when it was asked at `at`, in seconds since 1970.

    `complete` says that all sources answered; of one that is not, no state counts as ended, and no check as passed.
    `parts` tells its parts from others.
    """

    node: str
    at: float
    events: tuple[Event, ...] = ()
    complete: bool = True
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows: rungs that may be gone now, those that limits hold back, bursts, and all conditions."""

    steps: tuple[Step, ...]
    held: tuple[Held, ...]
    findings: tuple[Finding, ...]
    conditions: tuple[Condition, ...]


def tick(  # noqa: PLR0913, PLR0917 - all that a decision depends on
    state: State,
    readings: Iterable[Reading],
    now: float,
    policy: Policy,
    site: Topology,
    down: frozenset[str] = frozenset(),
) -> tuple[State, Decision]:
    """
    Return the state after readings, and what is to be done.

    Args:
        state: What was known before.
        readings: At most one a node.
        now: Seconds since 1970.
        policy: Rules and limits.
        site: What nodes share.
        down: Nodes that are out of service for another reason; they count against the limits.
    """
    heard = sorted(readings, key=lambda reading: reading.node)
    events = _events(state, heard, now, policy)
    bursts = find_bursts([event for event in events if policy.action(event) != "ignore"], site, policy.limits)
    own = [event for event in events if event not in bursts.explained]
    ladders = {ladder.node: ladder for ladder in state.ladders}
    for reading in heard:
        _check(ladders, reading, own, now, policy)
    _give_up(ladders, now, policy)
    events = _since_recovery(events, ladders.values())
    _start(ladders, _since_recovery(own, ladders.values()), now, policy, site)
    taken = tuple(act for act in state.taken if now - act.at < HOUR_S)
    out = {ladder.node for ladder in ladders.values() if ladder.holds} | down
    waiting = [ladder for ladder in ladders.values() if ladder.status == "waiting"]
    steps, held = let_through(waiting, Budget(policy.limits, site, out, taken))
    conditions = conditions_of(state.conditions, [it for it in events if policy.action(it) != "ignore"], now)
    parts = {**state.parts, **{it.node: {**state.parts.get(it.node, {}), **it.parts} for it in heard if it.parts}}
    after = State(tuple(events), conditions, tuple(ladders[name] for name in sorted(ladders)), taken, parts)
    return after, Decision(steps, held, bursts.findings, conditions)


def begin(state: State, step: Step, now: float, site: Topology) -> State:
    """Return the state with a step under way, which counts against the limits from now on."""
    ladder = _of(state, step.node)
    act = Taken(step.node, hall_of(site, step.node), step.rung, now)
    return replace(_with(state, begun(ladder, now)), taken=(*state.taken, act))


def end(state: State, step: Step, now: float, *, ok: bool, why: str) -> State:
    """Return the state after a step was done, or could not be."""
    return _with(state, finished(_of(state, step.node), now, ok=ok, why=why))


def _of(state: State, node: str) -> Ladder:
    ladder = state.ladder(node)
    if ladder is None:
        raise KeyError(f"{node} has no ladder")
    return ladder


def _with(state: State, ladder: Ladder) -> State:
    return replace(state, ladders=tuple(ladder if it.node == ladder.node else it for it in state.ladders))


def _events(state: State, readings: list[Reading], now: float, policy: Policy) -> list[Event]:
    """Return all events that still count, sorted: a state is what the newest complete reading says."""
    told_anew = {reading.node for reading in readings if reading.complete}
    kept = [event for event in state.events if not (event.state and event.node in told_anew)]
    # A clock that is ahead must not make an event count for longer.
    fresh = [replace(event, seen_at=min(event.seen_at, now)) for reading in readings for event in reading.events]
    counted = [event for event in (*kept, *fresh) if now - event.seen_at <= policy.window_s(event)]
    return sorted(without_cancelled(counted))


def _drains(event: Event, policy: Policy) -> bool:
    return severity(policy.action(event)) >= DRAINS


def _check(ladders: dict[str, Ladder], reading: Reading, events: list[Event], now: float, policy: Policy) -> None:
    """Judge the rung of a node by what it told after it; a soak lasts as long as a check may take."""
    ladder = ladders.get(reading.node)
    if ladder is None or ladder.status != "checking" or reading.at <= ladder.since:
        return
    bad = [it for it in events if it.node == ladder.node and it.seen_at > ladder.since and _drains(it, policy)]
    soaks = ladder.next == "soak" and now - ladder.since < policy.limits.check_timeout_s
    if bad:
        why = f"after it: {bad[0].part}: {bad[0].text or bad[0].code}"
        ladders[ladder.node] = checked(ladder, now, good=False, why=why)
    elif reading.complete and not soaks:
        ladders[ladder.node] = checked(ladder, now, good=True, why="nothing was told after it")


def _give_up(ladders: dict[str, Ladder], now: float, policy: Policy) -> None:
    """A node that cannot be read after its rung, or whose rung was cut off, goes on with the next one."""
    limit_s = policy.limits.check_timeout_s
    why = f"no answer that could be judged in {2 * limit_s} s"
    for name, ladder in ladders.items():
        if now - ladder.since <= 2 * limit_s:
            continue
        if ladder.status == "checking":
            ladders[name] = checked(ladder, now, good=False, why=why)
        elif ladder.status == "running":
            ladders[name] = finished(ladder, now, ok=False, why=why)


def _since_recovery(events: Iterable[Event], ladders: Iterable[Ladder]) -> list[Event]:
    """Leave out what a node told before it recovered: that is over."""
    clean = {ladder.node: ladder.since for ladder in ladders if ladder.status == "recovered"}
    return [event for event in events if event.seen_at > clean.get(event.node, float("-inf"))]


def _start(ladders: dict[str, Ladder], events: Iterable[Event], now: float, policy: Policy, site: Topology) -> None:
    """Begin a ladder for every planned node that needs one; one that nothing was done for yet follows the events."""
    by_node: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_node[event.node].append(event)
    for node in sorted({*by_node, *ladders} & set(site.nodes)):
        before, told = ladders.get(node), by_node[node]
        if before is not None and not (before.status in BACK or untouched(before)):
            continue
        worst = _worst(told, policy)
        if worst is not None:
            evidence = tuple(sorted(told, key=lambda event: event.seen_at)[-EVIDENCE:])
            since = before.begun_at if before and untouched(before) else now
            ladders[node] = new_ladder(worst, policy.action(worst), since, evidence, _spent(before, now, policy))
        elif before is not None and untouched(before):
            ladders[node] = withdrawn(before, now)


def _spent(before: Ladder | None, now: float, policy: Policy) -> tuple[Rung, ...]:
    """Return what a ladder leaves out, after one that ended only lately."""
    return spent_by(before) if before and now - before.since <= policy.limits.relapse_s else ()


def _worst(events: list[Event], policy: Policy) -> Event | None:
    """Return the first of the worst events that were told often enough to drain a node, None where none was."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        counts[event.part, *event.cause] += event.count
    enough = [
        event
        for event in events
        if _drains(event, policy) and counts[event.part, *event.cause] >= policy.rule(event).at_least
    ]
    return min(enough, key=lambda event: (-severity(policy.action(event)), event.seen_at, event), default=None)
