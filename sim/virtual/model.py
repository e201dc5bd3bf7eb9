"""The hosts of a trial as they really are, and what they answer to a run of a playbook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from components.provider.outcome import Failed, NotAccepted, RunResult, Stopped, Trouble, Unreachable
from components.provider.reading import READ_PLAYBOOK, WANTED_VARIABLE
from sim.virtual.hazards import BASE_S, OUTAGE_S

if TYPE_CHECKING:
    from coldaisle.plan.model import WaveAcceptancePlan
    from components.provider.inputs import HostFacts
    from components.provider.run import Event, Job
    from components.provider.work import Work
    from sim.virtual.hazards import Dice, Hazards
    from sim.virtual.watch import Watch

CHANGED = {"gpu": "driver", "bmc_firmware": "firmware"}
"""By play that a trial may change something of, the kind of fact that it changes."""

SLOWER = "host-copies: device_to_host_gb_s is 40, was 55: -27 %, 5 % may be lost"
"""What tests say of a host that a change makes slower: no fact of it shows that."""

BROKEN: HostFacts = {"gpu_count": 7}
"""What a bad change does to a host: one of its GPUs no longer answers."""


@dataclass(slots=True)
class Host:
    """One host: its facts, when it answers again, when it last lost its power, and whether work may run on it."""

    facts: HostFacts
    dead: bool = False
    fragile: bool = False
    sluggish: bool = False
    silent_until: float = 0.0
    dark_at: float = -1.0
    drained: bool = False


@dataclass(slots=True)
class Model:
    """
    All hosts of a trial, and the playbook that changes the fact `changed` of them.

    `new` is the version that a bad change breaks fragile hosts with; `outages` counts halves of the hall gone dark.
    """

    hosts: dict[str, Host]
    playbook: str
    changed: str
    new: str
    dice: Dice
    hazards: Hazards
    watch: Watch
    calm: bool = False
    feeds: dict[str, list[str]] = field(default_factory=dict)
    outages: int = 0

    async def run(self, job: Job, stop: asyncio.Event, on_event: Callable[[Event], None]) -> RunResult:
        """Answer as a run of a playbook does, after as long as its slowest host takes, or when it is stopped."""
        del on_event  # a model has no tasks to tell of
        if job.playbook == READ_PLAYBOOK:
            return await self._read(job)
        if stop.is_set():
            return RunResult(job.hosts, trouble={name: Stopped("stopped before it began") for name in job.hosts})
        self.watch.starts(job.playbook, job.hosts, self)
        doing = {asyncio.create_task(self._host(job, name)): name for name in job.hosts}
        stopped = asyncio.create_task(stop.wait())
        outage = asyncio.create_task(self._half_dark(job.playbook))
        try:
            working = set(doing)
            while working and not stopped.done():
                done, _ = await asyncio.wait({*working, stopped}, return_when=asyncio.FIRST_COMPLETED)
                working -= done
        finally:
            stopped.cancel()
            outage.cancel()
            for task in doing:
                task.cancel()
        ended = {name: task.result() for task, name in doing.items() if task.done() and not task.cancelled()}
        trouble: dict[str, Trouble] = {name: why for name, why in ended.items() if why is not None}
        trouble |= {name: Stopped("stopped") for name in job.hosts if name not in ended}
        return RunResult(job.hosts, trouble=trouble, changed=set(job.hosts) - set(trouble))

    async def _host(self, job: Job, name: str) -> Trouble | None:
        """Do one playbook on one host; None where it went well."""
        host, playbook = self.hosts[name], job.playbook
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(self.dice.takes_s(playbook))
        if self._falls_silent(host) or host.dark_at >= began:
            return Unreachable("no route to host")
        if playbook == self.playbook:
            facts = f"{playbook}_facts"
            planned = job.site.inventory["all"]["hosts"][name][facts]
            wanted = job.host_variables.get(name, {}).get(facts, planned)
            return self._change(name, host, str(wanted[self.changed]))
        if self._fails():
            return Failed(playbook, "it did not go well", "the model's dice")
        if playbook in {"drain", "uncordon"}:
            host.drained = playbook == "drain"
        return None

    def _falls_silent(self, host: Host) -> bool:
        now = asyncio.get_running_loop().time()
        if host.silent_until <= now and not self.calm and self.dice.happens("silence", self.hazards.silent):
            host.silent_until = now + self.dice.of("silence").expovariate(1 / self.hazards.silent_s)
        return host.silent_until > now

    def _fails(self) -> bool:
        return not self.calm and self.dice.happens("failures", self.hazards.fails)

    def _change(self, name: str, host: Host, wanted: str) -> Trouble | None:
        """Install a version: half of what fails has been done."""
        if host.dead:
            return Failed(self.playbook, "it does not install", "the model's dice")
        failed = self._fails()
        if failed and self.dice.happens("halves", 0.5):
            return Failed(self.playbook, "it failed before it began", "the model's dice")
        self.watch.installs(name, wanted, host)
        host.facts[self.changed] = wanted
        host.facts |= BROKEN if host.fragile and wanted == self.new else {"gpu_count": 8}
        return Failed(self.playbook, "it failed at its end", "the model's dice") if failed else None

    async def try_wave(
        self, work: Work, hosts: list[str], policy: WaveAcceptancePlan, *, before: bool
    ) -> dict[str, Trouble]:
        """Answer as tests do: a host that the new version makes slower has lost more than any policy lets it."""
        del policy
        if before:
            return {}
        stopped = asyncio.create_task(work.shared.stop.wait())
        await asyncio.wait({stopped}, timeout=max(self.dice.takes_s("accept") for _ in hosts))
        stopped.cancel()
        if work.stopped:
            return {name: Stopped("stopped") for name in hosts}
        return {name: why for name in hosts if (why := self._tested(name)) is not None}

    def _tested(self, name: str) -> Trouble | None:
        host = self.hosts[name]
        if self._falls_silent(host):
            return Unreachable("no route to host")
        slow = host.sluggish and host.facts[self.changed] == self.new
        self.watch.tests(name, str(host.facts[self.changed]), slow=slow)
        return NotAccepted(SLOWER) if slow else None

    async def _read(self, job: Job) -> RunResult:
        await asyncio.sleep(self.dice.takes_s(READ_PLAYBOOK))
        result = RunResult(job.hosts)
        for name in job.hosts:
            if self._falls_silent(self.hosts[name]):
                result.trouble[name] = Unreachable("no route to host")
                continue
            wanted = job.host_variables[name][WANTED_VARIABLE]
            result.facts[name] = {fact: self.hosts[name].facts.get(fact) for fact in wanted}
        return result

    async def _half_dark(self, playbook: str) -> None:
        """Take the power from half of the hall in the middle of a change, if it comes to that."""
        if playbook != self.playbook or self.calm or not self.dice.happens("half dark", self.hazards.half_dark):
            return
        dice = self.dice.of("half dark")
        await asyncio.sleep(dice.uniform(0, BASE_S[playbook]))
        names = sorted(self.hosts)
        half = dice.choice((names[: len(names) // 2], names[len(names) // 2 :]))
        self.outages += 1
        self.lose_power(half, dice.uniform(*OUTAGE_S))

    def lose_power(self, names: Iterable[str], seconds: float) -> None:
        """Take hosts away for a while; they come back with what they had on disk."""
        now = asyncio.get_running_loop().time()
        for name in names:
            host = self.hosts[name]
            host.silent_until, host.dark_at = max(host.silent_until, now + seconds), now
