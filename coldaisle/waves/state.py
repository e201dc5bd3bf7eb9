"""What a rollout remembers, what happens to it, and what it asks for: plain data that survives the process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from coldaisle.plan.model import RolloutPlan
from coldaisle.waves.codec import Codec
from coldaisle.waves.records import Change, Limits, Wave

Step = Literal["drain", "apply", "reboot", "verify", "accept", "soak", "uncordon", "roll-back"]
"""What is done with the hosts of a wave, in the order of a good one; `roll-back` takes the place of the rest."""

Phase = Literal["ready", "window", "stopped", "done"] | Step

HostState = Literal["waiting", "touched", "done", "failed", "again", "rolled-back"]
"""
`touched`: the change was begun and is not verified. `failed`: it was tried; the host is left out of service. `again`:
it is to be tried once more, and out of service until then.
"""

TO_DO: tuple[HostState, ...] = ("waiting", "again")
OUT: tuple[HostState, ...] = ("touched", "failed", "again")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    A rollout between two steps.

    `active` are the hosts of the step that is under way, `cordoned` those that are out of service because of us, and
    `failed` why hosts failed. `until` is when a soak or the wait for a window ends, in seconds since the epoch.
    `stopping` is why the rollout ends after the step that is under way, or has ended.
    """

    policy: RolloutPlan
    limits: Limits
    changes: Mapping[str, Change]
    waves: tuple[Wave, ...]
    wave: int = 0
    phase: Phase = "ready"
    hosts: Mapping[str, HostState] = field(default_factory=dict)
    active: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    until: float | None = None
    stopping: str = ""

    def status(self, host: str) -> HostState:
        """Return where a host stands."""
        return self.hosts.get(host, "waiting")

    def with_status(self, *statuses: HostState, hosts: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the hosts (of all, or of some) in one of these states, in the order of the waves."""
        among = [host for wave in self.waves for host in wave.hosts] if hosts is None else hosts
        return tuple(host for host in among if self.status(host) in statuses)

    @property
    def current(self) -> Wave:
        """Return the wave that is under way, or that was last."""
        return self.waves[min(self.wave, len(self.waves) - 1)]


def moved(state: State, by_s: float) -> State:
    """
    Return a state by a clock that was set by so many seconds; positive is forward.

    A soak has as long to go as it had. A window opens by the clock as it is now.
    """
    return replace(state, until=state.until + by_s) if state.phase == "soak" and state.until is not None else state


@dataclass(frozen=True, slots=True)
class Go:
    """Begin, or go on where an interrupted run was: the step that was under way is asked for again."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A step has ended: by host, why it failed, or None."""

    step: Step
    results: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


@dataclass(frozen=True, slots=True)
class Regressed:
    """Acceptance, telemetry or a person says that the change makes something worse; on some hosts, or in general."""

    why: str
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """An operator, or a signal, asks for a stop: nothing new starts."""

    why: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a stop: hosts that failed are tried again."""


Event = Go | Reported | Tick | Regressed | Stop | Resume


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """
    What the caller is to do now. A step is reported when it has ended; `wait` ends with a Tick at `until`.

    `kind` is a step, `wait`, `stopped` (`why` says what stopped it) or `done`.
    """

    kind: Step | Literal["wait", "stopped", "done"]
    hosts: tuple[str, ...] = ()
    until: float | None = None
    why: str = ""


_CODEC = Codec(State)
to_json, from_json = _CODEC.to_json, _CODEC.from_json
