"""
A rollout as a state machine: what has happened comes in, what is to be done next goes out.

It keeps no time and does nothing itself, so that one logic drives real hosts, and thousands of simulated ones in
virtual time. After each step the caller keeps the state; a run that was killed goes on with `Go`, and the step that was
under way is asked for once more, which steps must take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from coldaisle.plan.model import RolloutPlan
from coldaisle.waves.grouping import limits, plan_waves
from coldaisle.waves.records import Change, Target
from coldaisle.waves.state import (
    OUT,
    TO_DO,
    Action,
    Event,
    Go,
    HostState,
    Phase,
    Regressed,
    Reported,
    Resume,
    State,
    Step,
    Stop,
)
from coldaisle.waves.windows import local_text, opens_at

Answer = tuple[State, tuple[Action, ...]]

_RUNNING: frozenset[Phase] = frozenset({"drain", "apply", "reboot", "verify", "accept", "uncordon", "roll-back"})
"""Steps that the caller carries out and reports."""

UNTOLD = "nothing was reported of it"


def begin(
    changes: Sequence[Change], policy: RolloutPlan, everyone: Iterable[Target], out: frozenset[str] = frozenset()
) -> State:
    """
    Return a rollout that has not begun.

    Args:
        changes: What is to change.
        policy: The policy.
        everyone: All targets of the site: shares are of these.
        out: Targets that are out of service already; those that change are given back when they have.

    Raises:
        WavesError: a target can be in no wave, since others of its limit are out already.

    """
    bounds = limits(policy, everyone, changes, out)
    waves = plan_waves(changes, policy, bounds)
    targets = {change.target.name: change for change in changes}
    cordoned = tuple(sorted(out & targets.keys()))
    return State(policy=policy, limits=bounds, changes=targets, waves=waves, cordoned=cordoned)


def reopen(state: State, hosts: Iterable[str]) -> State:
    """Return a rollout that has hosts to do once more which it had done: something has changed them since."""
    again = tuple(hosts)
    ended: Phase = "ready" if state.phase == "done" else state.phase
    return replace(_marked(state, again, "waiting"), phase=ended) if again else state


def step(state: State, event: Event, now: float) -> Answer:
    """
    Return the state after an event, and what is to be done.

    Args:
        state: Where the rollout stands.
        event: What has happened; an event that does not fit the state changes nothing.
        now: Seconds since the epoch.

    """
    match event:
        case Stop(why):
            return _stop(state, why)
        case Regressed(why, hosts):
            return _regressed(state, why, hosts)
        case Reported(reported, results):
            told = {host: results.get(host, UNTOLD) for host in state.active}
            return _reported(state, told, now) if state.phase == reported else (state, ())
        case Resume():
            return _resume(state, now) if state.phase in {"stopped", "done"} else (state, ())
    asked = isinstance(event, Go) and state.phase in {*_RUNNING, "stopped", "soak"}
    return _again(state) if asked else _timed(state, now)


def _again(state: State) -> Answer:
    """Ask once more for what was asked for last."""
    if state.phase == "stopped":
        return state, (Action(kind="stopped", why=state.stopping),)
    if state.phase == "soak":
        return _watched(state)
    return state, (Action(kind=cast("Step", state.phase), hosts=state.active),)


def _timed(state: State, now: float) -> Answer:
    """Go on where only time was missing."""
    if state.phase in {"ready", "window"}:
        return _enter(state, now)
    if state.phase != "soak":
        return (state, (Action(kind="done"),)) if state.phase == "done" else (state, ())
    if state.until is not None and now < state.until:
        return _watched(state)
    return _release(_marked(state, state.active, "done"), now)


def _marked(state: State, hosts: Iterable[str], status: HostState) -> State:
    return replace(state, hosts={**state.hosts, **dict.fromkeys(hosts, status)})


def _begin_step(state: State, kind: Step, hosts: tuple[str, ...]) -> Answer:
    """Ask for a step; one without hosts has ended."""
    state = replace(state, phase=kind, active=hosts, until=None)
    return state, (Action(kind=kind, hosts=hosts),)


def _enter(state: State, now: float) -> Answer:
    """
    Start the first wave that has hosts left, as far as the limits let its hosts out beside those that failed.

    What is tried again goes before all others: it is out already, and may be all that may be out.
    """
    left = _first(state, "again") if state.with_status("again") else _first(state, *TO_DO)
    if left is None:
        return replace(state, wave=len(state.waves), phase="done", active=()), (Action(kind="done"),)
    state = replace(state, wave=left)
    opens = opens_at(state.policy.windows, state.policy.timezone, now, state.policy.wave_s)
    if opens > now:
        text = local_text(state.policy.timezone, opens) if opens != float("inf") else "never: none is long enough"
        why = f"the maintenance window is closed; the next one opens {text}"
        return replace(state, phase="window", until=opens, active=()), (Action(kind="wait", until=opens, why=why),)
    hosts, refused = _admitted(state)
    if not hosts:
        return _end(state, f"as many of {refused} as may be are out of service")
    return _begin_step(replace(state, active=hosts), "drain", hosts) if _drains(state, hosts) else _apply(state, hosts)


def _first(state: State, *statuses: HostState) -> int | None:
    """Return the first wave that has hosts in one of these states."""
    return next((at for at, wave in enumerate(state.waves) if state.with_status(*statuses, hosts=wave.hosts)), None)


def _admitted(state: State) -> tuple[tuple[str, ...], str]:
    out = frozenset(state.with_status(*OUT)) | frozenset(state.cordoned)
    hosts: list[str] = []
    refused = ""
    for host in state.with_status(*TO_DO, hosts=state.current.hosts):
        limit = state.limits.refuse(frozenset(hosts), out, host)
        refused = limit or refused
        if limit is None:
            hosts.append(host)
    return tuple(hosts), refused


def _drains(state: State, hosts: Iterable[str]) -> bool:
    return state.policy.drain and any(state.changes[host].drains for host in hosts)


def _apply(state: State, hosts: tuple[str, ...]) -> Answer:
    return _begin_step(_marked(state, hosts, "touched"), "apply", hosts)


def _reported(state: State, results: dict[str, str | None], now: float) -> Answer:
    """Take the results of the step that has ended, and go on with the hosts that it went well on."""
    bad = {host: _reason(state, host, why) for host, why in results.items() if why is not None}
    good = tuple(host for host in state.active if host not in bad)
    phase = state.phase
    if phase == "drain":
        state = replace(state, cordoned=_with(state.cordoned, state.active))
    state = _marked(replace(state, failed={**state.failed, **bad}), bad, "failed")
    if phase == "uncordon":
        gone = frozenset(good)
        state = replace(state, cordoned=tuple(host for host in state.cordoned if host not in gone))
        return _end_or_next(state, now)
    if phase == "roll-back":
        return _release(_marked(state, good, "rolled-back"), now)
    return _release(state, now) if state.stopping else _after(state, phase, good, now)


def _reason(state: State, host: str, why: str) -> str:
    """Return why a host failed; one that cannot be taken back either has two reasons."""
    first = f"{state.failed[host]}; " if state.phase == "roll-back" and host in state.failed else ""
    again = " again" if state.status(host) == "again" else ""
    return f"{first}{state.phase}{again}: {why}"


def _with(some: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))


def _after(state: State, phase: Phase, good: tuple[str, ...], now: float) -> Answer:
    """Go from a step of a wave to the next one; what a regression ends begins nothing more."""
    if phase == "drain":
        why = _too_many(state)
        return _retreat(state, why, now) if why or not good else _apply(state, good)
    if phase == "apply" and (reboots := tuple(host for host in good if state.changes[host].reboots)):
        return _begin_step(replace(state, active=good), "reboot", reboots)
    if phase in {"apply", "reboot"}:
        touched = state.with_status("touched", hosts=state.current.hosts)
        return _begin_step(state, "verify", touched) if touched else _retreat(state, _too_many(state), now)
    if why := _too_many(state):
        return _retreat(_marked(state, good, "done"), why, now)
    if phase == "verify" and state.policy.acceptance is not None and good:
        return _begin_step(state, "accept", good)
    return _soak(state, good, now) if good else _release(state, now)


def _soak(state: State, hosts: tuple[str, ...], now: float) -> Answer:
    soak_s = state.policy.canary_soak_s if state.current.canary else state.policy.soak_s
    state = replace(state, phase="soak", active=hosts, until=now + soak_s)
    return _watched(state) if state.policy.telemetry else _timed(state, now)


def _watched(state: State) -> Answer:
    """Ask for the hosts to be watched to the end of the soak, and looked at then: at once where there is none."""
    return state, (Action(kind="wait", until=state.until, why="soak"),)


def _too_many(state: State) -> str:
    """Return why the rollout has to stop, empty where it need not: a canary may not fail at all."""
    bad = [host for host in state.current.hosts if state.status(host) == "failed"]
    if state.current.canary and bad:
        return f"canary {bad[0]} failed: {state.failed[bad[0]]}"
    every = state.with_status("failed")
    if len(every) > state.policy.max_failed:
        last = (bad or every)[-1]
        return f"{len(every)} failed, {state.policy.max_failed} may; the last one is {last}: {state.failed[last]}"
    return ""


def _regressed(state: State, why: str, hosts: tuple[str, ...]) -> Answer:
    """Take a regression: in a soak the hosts of the wave are what it was seen on, else the step ends first."""
    if state.phase in {"stopped", "done"} or state.stopping:
        return state, ()
    if state.phase != "soak":
        return _stop(state, f"regression: {why}")
    blamed = tuple(host for host in state.active if host in hosts) or state.active
    state = replace(state, failed={**state.failed, **dict.fromkeys(blamed, f"regression: {why}")})
    state = _marked(_marked(state, state.active, "done"), blamed, "failed")
    return _retreat(state, f"regression on {', '.join(blamed)}: {why}", 0.0)


def _retreat(state: State, why: str, now: float) -> Answer:
    """End the wave: take back what the policy and the changes allow, and give back the hosts that are well."""
    state = replace(state, stopping=why)
    touched = [host for host in state.current.hosts if _was_touched(state, host)]
    back = tuple(host for host in touched if not state.changes[host].no_way_back and _is_out(state, host))
    if why and state.policy.on_regression == "roll-back" and back:
        return _begin_step(state, "roll-back", back)
    return _release(state, now)


def _is_out(state: State, host: str) -> bool:
    """Tell whether no work runs on a host, as far as that is asked for: one that was given back is well, and stays."""
    return host in state.cordoned or not _drains(state, (host,))


def _was_touched(state: State, host: str) -> bool:
    failed_before = state.failed.get(host, "").startswith(("drain: ", "drain again: "))
    return state.status(host) in {"touched", "done", "failed"} and not failed_before


def _release(state: State, now: float) -> Answer:
    """Give hosts back that are as planned, as before, or were never touched; the rest stays out of service."""
    fit = tuple(host for host in state.cordoned if _is_fit(state, host))
    return _begin_step(state, "uncordon", fit) if fit else _end_or_next(state, now)


def _is_fit(state: State, host: str) -> bool:
    never_touched = state.status(host) == "failed" and state.failed[host].startswith("drain: ")
    return state.status(host) in {"waiting", "done", "rolled-back"} or never_touched


def _end_or_next(state: State, now: float) -> Answer:
    why = state.stopping or _too_many(state)
    return _end(state, why) if why else _enter(replace(state, active=()), now)


def _stop(state: State, why: str) -> Answer:
    """Begin nothing more: at once where nothing runs, else when the step under way has been reported."""
    if state.phase in {"stopped", "done"}:
        return state, ()
    state = replace(state, stopping=state.stopping or why)
    if state.phase in _RUNNING:
        return state, ()
    return _release(_marked(state, state.active if state.phase == "soak" else (), "done"), 0.0)


def _end(state: State, why: str) -> Answer:
    state = replace(state, phase="stopped", stopping=why, active=(), until=None)
    return state, (Action(kind="stopped", why=why),)


def _resume(state: State, now: float) -> Answer:
    """Try again what has failed, and go on; what is done stays done, and is given back first."""
    state = _marked(state, state.with_status("rolled-back"), "waiting")
    state = replace(_marked(state, state.with_status("failed", "touched"), "again"), failed={}, stopping="")
    done = state.with_status("done", hosts=state.cordoned)
    return _begin_step(state, "uncordon", done) if done else _enter(state, now)
