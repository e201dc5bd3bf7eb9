"""Small floors for tests of waves, and a caller that does what a rollout asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coldaisle.plan.model import RolloutPlan
from coldaisle.waves import Change, Go, Reported, State, Target, Tick, from_json, step, to_json
from coldaisle.waves.state import Action, Event

NOON = 1_800_000_000.0
"""2027-01-15 08:00 UTC, a Friday."""


def policy(**changes: Any) -> RolloutPlan:  # noqa: ANN401 - fields of several types
    """Return the policy that a site has when it writes none of its own, without soaks, with some fields changed."""
    fields: dict[str, Any] = {
        "canary": 1,
        "wave_by": "rack",
        "max_at_once": 25,
        "max_unavailable": {"pool": "25%"},
        "max_failed": 0,
        "canary_soak_s": 0,
        "soak_s": 0,
        "windows": (),
        "timezone": "Etc/UTC",
        "wave_s": 0,
        "on_regression": "stop",
        "drain": True,
        "drain_timeout_s": 60,
    }
    return RolloutPlan(**(fields | changes))


def floor(racks: int, nodes: int) -> list[Target]:
    """Return hosts in racks, all of one pool; neighbouring racks share a feed."""
    return [
        Target(
            name=f"r{rack:02}-n{node:02}",
            domains={"rack": (f"r{rack:02}",), "feed": (f"ups-{rack // 2}",), "pool": ("train",)},
            gpus=8,
        )
        for rack in range(1, racks + 1)
        for node in range(1, nodes + 1)
    ]


def driver(targets: Iterable[Target], **more: Any) -> list[Change]:  # noqa: ANN401 - fields of several types
    """Return a driver's change on each target."""
    return [Change(target=target, kind="driver", drains=True, **more) for target in targets]


Answer = Callable[[Action], Mapping[str, str | None]]


def all_well(action: Action) -> Mapping[str, str | None]:
    """Report that a step went well on every host."""
    return dict.fromkeys(action.hosts)


@dataclass
class Caller:
    """Does what a rollout asks for, and keeps what it did; between two steps its state goes through JSON."""

    state: State
    answer: Answer = all_well
    now: float = NOON
    did: list[Action] = field(default_factory=list)

    def run(self, event: Event | None = None, limit: int = 10_000) -> State:
        """Give events until the rollout stops, ends, or waits for longer than a day."""
        event = event or Go()
        for _ in range(limit):
            self.state, actions = step(from_json(to_json(self.state)), event, self.now)
            self.did += actions
            following = self._next(actions)
            if following is None:
                return self.state
            event = following
        raise AssertionError("the rollout does not end")

    def _next(self, actions: Sequence[Action]) -> Event | None:
        if not actions:
            return None
        action = actions[-1]
        if action.kind == "stopped" or action.kind == "done":  # noqa: PLR1714 - mypy takes both away so
            return None
        if action.kind == "wait":
            if action.until is None or action.until > self.now + 86_400:
                return None
            self.now = action.until
            return Tick()
        return Reported(action.kind, self.answer(action))

    def hosts_of(self, kind: str) -> list[str]:
        """Return the hosts that a step was asked for, in order."""
        return [host for action in self.did if action.kind == kind for host in action.hosts]
