"""
One trial: an operator rolls a new driver, or firmware, through a pool, `up` after `up`, while things go wrong.

The operator does what people do: runs `up` again after a stop, repairs a host that never takes the change, and plans a
better version when the first one breaks hosts. After some tries nothing goes wrong any more, so that every trial ends.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.render.ansible import SHARED
from coldaisle.waves.policies import policy_json
from coldaisle.waves.records import at_least, at_most
from components.provider.plays import InitFailedError, Plays, Properties
from components.provider.run import RunError
from sim.virtual.hazards import OUTAGE_S, Dice, Hazards
from sim.virtual.loop import VirtualLoop, wall
from sim.virtual.model import CHANGED, Host, Model
from sim.virtual.watch import Watch

if TYPE_CHECKING:
    from coldaisle.plan.model import PlayPlan, RolloutPlan
    from components.provider.site import Site

OLD, NEW, BETTER = "570.86.15", "580.95.05", "580.105.08"
"""Versions of a trial; they are names, and nothing of theirs is meant."""

CALM_AFTER, LAST_UP, REPAIR_AFTER = 5, 24, 2
"""So many times `up` runs until nothing goes wrong any more, at most, and until the operator repairs what is broken."""

PAUSE_S = 1800.0
"""From one `up` to the next: somebody reads what was told."""

MEMORY = "/dev/shm"  # noqa: S108 - what is kept is synced at every step, and hundreds of trials need no disk

URN = "urn:pulumi:virtual::virtual::coldaisle:ansible:Play::change"


@dataclass(slots=True)
class Outcome:
    """What came of a trial. `broken` has what must never happen, in sentences; a good trial has none."""

    seed: int
    hosts: int
    bad_change: bool
    slow_change: bool
    ups: int = 0
    kills: int = 0
    stops: int = 0
    losses: int = 0
    outages: int = 0
    hours: float = 0.0
    told: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def run_trial(site: Site, play: PlayPlan, policy: RolloutPlan, seed: int, hazards: Hazards) -> Outcome:
    """Run the trial of a seed; the same seed gives the same trial."""
    with (
        tempfile.TemporaryDirectory(prefix="coldaisle-virtual-", dir=MEMORY) as folder,
        asyncio.Runner(loop_factory=VirtualLoop) as runner,
    ):
        trial = Trial(replace(site, state=Path(folder)), play, policy, Dice(seed), hazards)
        return runner.run(trial.run(seed))


def changed_fact(play: PlayPlan) -> str:
    """Return the fact of a play that a trial changes: the driver, or the first item of the firmware."""
    facts = next(iter(play.facts.values()))
    return next(name for name in facts if name.partition(".")[0] == CHANGED[play.playbook])


class Trial:
    """The operator, the hosts, and what happens to them."""

    def __init__(self, site: Site, play: PlayPlan, policy: RolloutPlan, dice: Dice, hazards: Hazards) -> None:
        """Put the old version on every host."""
        self.site, self.play, self.dice, self.hazards = site, play, dice, hazards
        self.policy, self.playbook = policy, play.playbook
        self.fact = changed_fact(play)
        names = sorted(play.facts)
        known = site.inventory["all"]["hosts"]
        domains = {name: known[name][SHARED]["domains"] for name in names}
        for name in names:
            known[name][f"{self.playbook}_facts"][self.fact] = NEW
        watch = Watch(
            limits=policy.max_unavailable,
            domains=domains,
            changing=self.playbook,
            fact=self.fact,
            canaries=at_least(policy.canary, len(names)),
            soak_s=policy.canary_soak_s,
            at_once=at_most(policy.max_at_once, len(names)),
            may_fail=policy.max_failed,
        )
        self.bad = dice.happens("bad change", hazards.bad_change)
        self.slow = dice.happens("slow change", hazards.slow_change)
        hosts = {
            name: Host(
                facts={**known[name].get("verify_facts", {}), **play.facts[name], self.fact: OLD},
                dead=dice.happens("dead", hazards.dead),
                fragile=self.bad and dice.happens("fragile", hazards.bad_share),
                sluggish=self.slow and dice.happens("sluggish", hazards.bad_share),
            )
            for name in names
        }
        feeds: dict[str, list[str]] = {}
        for name in names:
            for feed in domains[name].get("feed", ()):
                feeds.setdefault(feed, []).append(name)
        self.model = Model(hosts, self.playbook, self.fact, NEW, dice, hazards, watch, feeds=feeds)
        self.version = NEW

    async def run(self, seed: int) -> Outcome:
        """Let the operator work until the hosts are as planned, and judge what came of it."""
        found = self.outcome = Outcome(seed, len(self.model.hosts), self.bad, self.slow)
        outputs = self._inputs(OLD)
        trouble = asyncio.create_task(self._lose_power())
        while found.ups < LAST_UP and not self._ended(outputs):
            found.ups += 1
            self.model.calm = found.ups > CALM_AFTER
            outputs = await self._up(outputs)
            await asyncio.sleep(PAUSE_S)
            self._repair()
        trouble.cancel()
        found.outages = self.model.outages
        found.hours = asyncio.get_running_loop().time() / 3600
        self._judge_end(outputs)
        found.broken += self.model.watch.broken
        return found

    def _inputs(self, version: str) -> Properties:
        return {
            "site": "virtual",
            "playbook": self.playbook,
            "codeDigest": "0",
            "hosts": {name: {**facts, self.fact: version} for name, facts in self.play.facts.items()},
            "rollout": policy_json(self.policy),
        }

    def _ended(self, outputs: Properties) -> bool:
        wanted = self._inputs(self.version)["hosts"]
        return bool(outputs["hosts"] == wanted) and not any(host.drained for host in self.model.hosts.values())

    async def _up(self, outputs: Properties) -> Properties:
        """Run `up` once: to its end, until somebody stops it, or until it is killed. Return what the engine keeps."""
        watch, found = self.model.watch, self.outcome
        if self.policy.on_regression == "roll-back":  # who was taken back is no longer out, and its wave is tried again
            watch.refused.clear()
        before = asyncio.all_tasks()
        plays = Plays(lambda _urn, _line: None, lambda _site: self.site, self.model.run, clock=wall, tester=self.model)
        task = asyncio.create_task(plays.update(URN, "change", outputs, self._inputs(self.version), 0))
        kill = asyncio.create_task(asyncio.sleep(self._after("kills", self.hazards.kills_an_hour)))
        stop = asyncio.create_task(asyncio.sleep(self._after("stops", self.hazards.stops_an_hour)))
        await asyncio.wait({task, kill, stop}, return_when=asyncio.FIRST_COMPLETED)
        if stop.done() and not task.done():
            found.stops += 1
            plays.cancel()
            watch.stopped = True
            await asyncio.wait({task, kill}, return_when=asyncio.FIRST_COMPLETED)
        found.kills += not task.done()
        left = asyncio.all_tasks() - before
        for each in left:  # what a process takes with it
            each.cancel()
        await asyncio.wait(left)
        watch.stopped = False
        return self._kept(task, outputs)

    def _after(self, purpose: str, an_hour: float) -> float:
        never = 365 * 86400.0
        return never if self.model.calm else min(never, self.dice.after_s(purpose, an_hour))

    def _kept(self, task: asyncio.Task[Properties], outputs: Properties) -> Properties:
        """Return the engine's state after a run: a killed one leaves it as it was."""
        if task.cancelled():
            return outputs
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, InitFailedError):
            self.outcome.told += error.reasons
            return error.outputs
        if isinstance(error, RunError):
            self.outcome.told.append(str(error))
            return outputs
        raise error

    def _repair(self) -> None:
        """Repair what never takes the change, and plan a better version where this one breaks hosts."""
        if self.outcome.ups < REPAIR_AFTER:
            return
        for host in self.model.hosts.values():
            host.dead = False
        if (self.bad or self.slow) and self.version == NEW:
            self.version = BETTER
            known = self.site.inventory["all"]["hosts"]
            for name in self.play.facts:
                known[name][f"{self.playbook}_facts"][self.fact] = BETTER

    async def _lose_power(self) -> None:
        while True:
            wait_s = self.dice.after_s("losses", self.hazards.losses_an_hour)
            if wait_s == float("inf") or not self.model.feeds:
                return
            await asyncio.sleep(wait_s)
            if not self.model.calm:
                self.outcome.losses += 1
                feed = self.dice.of("losses").choice(sorted(self.model.feeds))
                self.model.lose_power(self.model.feeds[feed], self.dice.of("losses").uniform(*OUTAGE_S))

    def _judge_end(self, outputs: Properties) -> None:
        """Judge what is told against what is, and that all is as planned at the end."""
        add = self.outcome.broken.append
        for name, host in self.model.hosts.items():
            told = outputs["hosts"].get(name, {}).get(self.fact)
            if told is not None and told != host.facts[self.fact]:
                add(f"{name} is told to have {told}, and has {host.facts[self.fact]}")
            if host.facts[self.fact] != self.version:
                add(f"{name} still has {host.facts[self.fact]} after {self.outcome.ups} times up")
            if host.drained:
                add(f"{name} was never given back")
        if self.policy.on_regression == "stop":
            for what, times in self.model.watch.installed.items():
                if times > 1:
                    add(f"{what} was installed {times} times")
