"""
What a change will cost, before anything is touched: reboots, waves, time, GPU-hours, and what has no way back.

Times are those that steps of earlier waves took at this site, where there are any, else stated guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from coldaisle.plan.model import PlayPlan, RolloutPlan
from coldaisle.waves.records import Change, Wave

WAVES_FOLDER = "waves"
"""Below a site's folder for state."""

DURATIONS_FILE = "durations.json"
KEPT = 9
"""Durations that are kept of each step; an estimate takes their median."""

GUESSES_S: Mapping[str, float] = {
    "drain": 300,
    "apply": 300,
    "reboot": 600,
    "verify": 60,
    "accept": 600,
    "uncordon": 15,
}
"""Seconds of a step of one wave where none was measured. Ours: a server with eight GPUs takes minutes for its tests."""

Durations = Mapping[str, Sequence[float]]
"""Seconds that steps took, by playbook and step, such as `gpu.apply`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """
    What one play's change costs.

    `guessed` names the steps whose times are guesses; `gpu_hours` is what hosts cannot work, from drain to uncordon.
    """

    play: str
    hosts: int
    reboots: int
    drains: int
    waves: tuple[Wave, ...]
    seconds: float
    gpu_hours: float
    guessed: tuple[str, ...]
    no_way_back: Mapping[str, int]


def with_duration(known: Durations, what: str, seconds: float) -> dict[str, list[float]]:
    """Return durations with one more, the oldest ones left out."""
    more = [*known.get(what, ()), round(seconds, 1)][-KEPT:]
    return {name: list(values) for name, values in known.items()} | {what: more}


def estimate(play: PlayPlan, changes: Mapping[str, Change], waves: Sequence[Wave], durations: Durations) -> Estimate:
    """Return what the waves of a play cost; without a policy they are one, and nothing is drained or rebooted."""
    playbook, policy = play.playbook, play.rollout
    seconds = gpu_hours = 0.0
    guessed: set[str] = set()
    for wave in waves:
        members = [changes[host] for host in wave.hosts]
        steps = _steps(members, policy)
        guessed |= {name for name in steps if not durations.get(f"{playbook}.{name}")}
        took_s = sum(_seconds(durations, playbook, name) for name in steps) + _soak_s(wave, policy)
        seconds += took_s
        gpu_hours += took_s / 3600 * sum(change.target.gpus for change in members if change.drains)
    reasons = [change.no_way_back for change in changes.values() if change.no_way_back]
    return Estimate(
        play=play.name,
        hosts=len(changes),
        reboots=sum(change.reboots for change in changes.values()),
        drains=sum(change.drains for change in changes.values()),
        waves=tuple(waves),
        seconds=seconds,
        gpu_hours=round(gpu_hours, 2),
        guessed=tuple(sorted(guessed)),
        no_way_back={why: reasons.count(why) for why in sorted(set(reasons))},
    )


def _steps(members: Sequence[Change], policy: RolloutPlan | None) -> list[str]:
    drained = policy is not None and policy.drain and any(change.drains for change in members)
    rebooted = policy is not None and any(change.reboots for change in members)
    accepted = policy is not None and policy.acceptance is not None
    before = [*(["drain"] if drained else []), "apply", *(["reboot"] if rebooted else []), "verify"]
    return [*before, *(["accept"] if accepted else []), *(["uncordon"] if drained else [])]


def _seconds(durations: Durations, playbook: str, step: str) -> float:
    measured = durations.get(f"{playbook}.{step}")
    return median(measured) if measured else GUESSES_S[step]


def _soak_s(wave: Wave, policy: RolloutPlan | None) -> int:
    if policy is None:
        return 0
    return policy.canary_soak_s if wave.canary else policy.soak_s
