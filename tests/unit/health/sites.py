"""A site of light hosts, its topology, and a way to run ticks on it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from coldaisle.health.events import Event, Kind
from coldaisle.health.limits import Step
from coldaisle.health.policy import Policy, policy_of
from coldaisle.health.state import State
from coldaisle.health.tick import Decision, Reading, begin, end, tick
from coldaisle.health.topology import Topology, topology_of
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.spec import load_site
from coldaisle.spec.health import HealthSpec
from sim.hall.spec import write

T0 = 1_795_000_000.0
GPU = "gpu 0000:58:00.0"


@cache
def plan(nodes: int) -> SitePlan:
    """Return the plan of a hall of so many hosts: racks of sixteen, one leaf."""
    with tempfile.TemporaryDirectory() as folder:
        return plan_site(load_site(write(Path(folder), nodes)))


@cache
def topology(nodes: int) -> Topology:
    """Return what the hosts of such a hall share."""
    return topology_of(plan(nodes))


def event(  # noqa: PLR0913 - what an event is of
    node: str, kind: Kind, code: str, at: float = T0, part: str = GPU, *, state: bool = False
) -> Event:
    """Return an event."""
    return Event(node, part, kind, code, 1, at, f"{kind} {code}", state)


@dataclass
class Hall:
    """A hall in time: readings go in, and every step is done as `outcome` says."""

    nodes: int = 10
    outcome: Callable[[Step], bool] = lambda _step: True
    spec: HealthSpec | None = None
    now: float = T0
    state: State = field(default_factory=State)
    done: list[tuple[str, str]] = field(default_factory=list)

    @property
    def site(self) -> Topology:
        """What its hosts share."""
        return topology(self.nodes)

    @property
    def policy(self) -> Policy:
        """Its rules and limits."""
        return policy_of(self.spec)

    def tick(self, events: Iterable[Event] = (), after_s: float = 60.0) -> Decision:
        """Let time pass, read every host, decide, and do what is decided."""
        self.now += after_s
        told = list(events)
        readings = [Reading(node, self.now, tuple(it for it in told if it.node == node)) for node in self.site.nodes]
        self.state, decision = tick(self.state, readings, self.now, self.policy, self.site)
        for step in decision.steps:
            self.state = begin(self.state, step, self.now, self.site)
            self.done.append((step.node, step.rung))
            self.state = end(self.state, step, self.now, ok=self.outcome(step), why="")
        return decision
