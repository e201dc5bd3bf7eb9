"""
Many nodes that tell of the same at once: one finding of what they share, not many answers.

NVIDIA's own health service once flagged 77 healthy nodes in 11 racks, for Xids of jobs that ended (NVSentinel PR 1629).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coldaisle.health.events import Event, Kind
from coldaisle.health.topology import PartKind, SharedPart, Topology, explaining
from coldaisle.spec.health import HealthLimits

NAMED: tuple[PartKind, ...] = ("hall", "pool", "rack", "nvlink-domain")
"""Parts by which a burst is named that none of them explains: the widest first, so that a hall is one finding."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """
    A burst: `part` is what the nodes share.

    Args:
        part: Kind and name of the shared part.
        kind: What the events are of.
        code: What happened.
        nodes: Those that told of it.
        of: How many nodes the part serves.
        explains: Whether the part is the likelier fault, so that nothing is done to the nodes for it.
    """

    part: str
    kind: Kind
    code: str
    nodes: tuple[str, ...]
    of: int
    explains: bool

    @property
    def text(self) -> str:
        """Return the finding as a sentence."""
        told = f"{self.kind} {self.code} on {len(self.nodes)} of {self.of} nodes of {self.part} at once"
        if self.explains:
            return f"{told}: look at {self.part}; no node is drained for it"
        return f"{told}: one job or one change is likelier than {len(self.nodes)} faults"


@dataclass(frozen=True, slots=True)
class Bursts:
    """What was found, and the events that a shared part explains."""

    findings: tuple[Finding, ...]
    explained: frozenset[Event]


def find_bursts(events: Iterable[Event], site: Topology, limits: HealthLimits) -> Bursts:
    """Return the bursts among events, each by the first part that explains it, or else by the widest that has it."""
    by_cause: dict[tuple[Kind, str], list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda event: event.seen_at):
        by_cause[event.cause].append(event)
    findings: list[Finding] = []
    explained: set[Event] = set()
    for cause, told in sorted(by_cause.items()):
        left = told
        explain = explaining(cause)
        for part in _candidates(explain, site):
            at_once = burst([event for event in left if site.concerns(part, event)], part, limits)
            if at_once:
                findings.append(_finding(part, cause, at_once, explains=part.kind in explain))
                explained |= set(at_once) if findings[-1].explains else set()
                gone = {event.node for event in at_once}
                left = [event for event in left if event not in explained and event.node not in gone]
    return Bursts(tuple(sorted(findings)), frozenset(explained))


def burst(events: Sequence[Event], part: SharedPart, limits: HealthLimits) -> list[Event]:
    """
    Return the events, sorted by time, that belong to a burst of the part's nodes; none where there is no burst.

    An event belongs to one when it lies in some span of `burst_within_s` in which enough nodes tell.
    """
    needed = max(limits.burst_nodes, math.ceil(limits.burst_share * len(part.nodes)))
    inside: set[int] = set()
    first = done = 0
    told: dict[str, int] = defaultdict(int)
    for last, event in enumerate(events):
        told[event.node] += 1
        while event.seen_at - events[first].seen_at > limits.burst_within_s:
            told[events[first].node] -= 1
            if not told[events[first].node]:
                del told[events[first].node]
            first += 1
        if len(told) >= needed:
            inside.update(range(max(first, done), last + 1))
            done = last + 1
    return [event for at, event in enumerate(events) if at in inside]


def _candidates(explain: tuple[PartKind, ...], site: Topology) -> list[SharedPart]:
    """Return the parts that a burst may be named by: first those that explain it, then the widest."""
    order = (*explain, *(part for part in NAMED if part not in explain))
    parts = [part for part in site.parts if part.kind in order]
    return sorted(parts, key=lambda part: (order.index(part.kind), part.name))


def _finding(part: SharedPart, cause: tuple[Kind, str], events: Iterable[Event], *, explains: bool) -> Finding:
    nodes = tuple(sorted({event.node for event in events}))
    return Finding(part.text, *cause, nodes, len(part.nodes), explains)
