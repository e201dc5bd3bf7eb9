"""
What a play does with hosts: runs its playbook, reads facts back, and judges what it reads.

Many plays run at once in one process; what they share (the reader, whose turn a host is, the order to stop) comes in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from coldaisle.drift.answers import NOT_FACTS, CouldNotTell, Drifted, compare
from coldaisle.drift.equality import Fact, normal
from components.provider.clock import Clock
from components.provider.execution import run_by_nodes
from components.provider.inputs import HostFacts, Hosts, PlayInputs
from components.provider.outcome import Failed, RunResult, Trouble
from components.provider.reading import Reader, Reading
from components.provider.run import Event, Job, Runner
from components.provider.site import Site, SiteProblemError

if TYPE_CHECKING:
    from coldaisle.acceptance.standing import Standing
    from coldaisle.plan.model import TelemetryPlan, WaveAcceptancePlan
    from coldaisle.waves.telemetry import Answer

Say = Callable[[str, str], None]
"""Shows a line (second) at a resource (first, its URN)."""

_SHOWN_STATES = frozenset({"start", "ok", "changed", "failed", "unreachable"})
_ARGUMENT_CHECK = "Validating arguments against arg spec"
"""Ansible's own first task of each role: not worth a line as long as it passes."""

ACCEPT = "accept"
"""The playbook that tests hosts; what it makes true is told by signed evidence, and not by the hosts."""

NO_SECRETS = frozenset({"os", "rdma", "gpu", "verify", ACCEPT})
"""Playbooks that send hosts settings, public keys and questions, and no secret."""

SHOWN_HOSTS = 4
"""Hosts that a line of a preview names; the detailed difference names all of them."""

Limits = tuple[int, int]
"""Hosts that are worked on at once, and the longest time of a run in seconds."""

ABSENT = "absent"
"""What the outputs say of a thing that was looked for and is not there."""

Variables = dict[str, dict[str, Any]]
"""By host, variables over those of the inventory."""


Telemetry = Callable[["TelemetryPlan", list[str]], Awaitable["Answer"]]
"""Gives what a query says of hosts: `prometheus.ask`, or a rehearsal of it."""


class Tester(Protocol):
    """Tests hosts of waves: `accepting.Accepting`, or a rehearsal of it."""

    async def try_wave(
        self, work: Work, hosts: list[str], policy: WaveAcceptancePlan, *, before: bool
    ) -> dict[str, Trouble]:
        """Test hosts of a wave, or (`before`) measure those that nothing is known of, before the wave changes them."""


class Acceptor(Tester, Protocol):
    """Tests hosts for the play `accept`, and knows by their evidence which ones are accepted."""

    def told(self, work: Work, hosts: list[str]) -> dict[str, Reading]:
        """Return what the evidence says of hosts, as facts of the play `accept`."""

    def standings(self, work: Work, hosts: list[str]) -> dict[str, Standing]:
        """Return where hosts stand by their evidence."""

    def foreseen(self, work: Work, hosts: list[str]) -> str:
        """Return which of the hosts would be tested, and how long that takes."""

    async def accept(self, work: Work, hosts: list[str]) -> RunResult:
        """Test hosts by what their pool asks for."""


@dataclass(slots=True)
class Shared:
    """What all plays of a process share. `power` is whose turn it is to turn hosts on; `clock` tells epoch seconds."""

    say: Say
    site: Callable[[str], Site]
    stop: asyncio.Event
    reader: Reader
    turns: dict[str, asyncio.Lock] = field(default_factory=dict)
    power: asyncio.Lock = field(default_factory=asyncio.Lock)
    runner: Runner = run_by_nodes
    clock: Callable[[], float] = field(default_factory=Clock)
    acceptor: Acceptor | None = None
    tester: Tester | None = None
    telemetry: Telemetry | None = None

    async def ask(self, asked: TelemetryPlan, hosts: list[str]) -> Answer:
        """Return what telemetry says of hosts now."""
        if self.telemetry is not None:
            return await self.telemetry(asked, hosts)
        from components.provider.prometheus import ask  # noqa: PLC0415 - most runs ask nothing

        return await ask(asked, hosts)

    def testing(self) -> Tester:
        """Return who tests hosts of waves."""
        return self.tester or self.accepting()

    def accepting(self) -> Acceptor:
        """Return who tests hosts: most runs test none, and load nothing of it."""
        if self.acceptor is None:
            from components.provider.accepting import Accepting  # noqa: PLC0415

            self.acceptor = Accepting()
        return self.acceptor


@dataclass(slots=True)
class Work:
    """One play at work. `note` goes before each line that it shows, such as `wave 2/5`."""

    shared: Shared
    urn: str
    play: PlayInputs
    timeout_s: float
    note: str = ""

    @property
    def stopped(self) -> bool:
        """Say whether the run was asked to stop."""
        return self.shared.stop.is_set()

    @property
    def name(self) -> str:
        """Return the resource's name."""
        return self.urn.rsplit("::", 1)[-1]

    def site(self) -> Site:
        """Return the play's site; SiteProblemError where its spec cannot be used."""
        return self.shared.site(self.play.site)

    def say(self, line: str) -> None:
        """Show a line at the resource."""
        self.shared.say(self.urn, f"{self.note} {line}" if self.note else line)

    async def settle(self, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
        """Run the playbook on hosts, and return what was seen of them after it, and what is wrong."""
        result = await self.perform(hosts)
        readings = {} if self.stopped else await self._read_back(result)
        seen, wrong = self.judge(self.play.hosts, readings, result.done)
        return seen, result.trouble | wrong

    async def perform(self, hosts: list[str], variables: Variables | None = None) -> RunResult:
        """Do with hosts what the play is for."""
        if self.play.playbook == ACCEPT:
            return await self.shared.accepting().accept(self, hosts)
        return await self.run(self.play.playbook, hosts, variables)

    async def run(
        self,
        playbook: str,
        hosts: list[str],
        variables: Variables | None = None,
        limits: Limits | None = None,
        **groups: list[str],
    ) -> RunResult:
        """Run a playbook on some hosts of the play, with a line for each task; `groups` are some of them by name."""
        forks, most_s = limits or (self.play.forks, self.play.timeout_s)
        limit_s = min(most_s, int(self.timeout_s)) if self.timeout_s else most_s
        job = Job(
            site=self.site(),
            playbook=playbook,
            hosts=tuple(hosts),
            what=f"the play {self.name}",
            forks=forks,
            timeout_s=limit_s,
            collect_facts=True,
            secrets=playbook not in NO_SECRETS,
            host_variables=variables or {},
            groups=groups,
        )
        async with AsyncExitStack() as turns:
            for host in sorted(hosts):  # plays of one run that share a host take turns, in one order
                await turns.enter_async_context(self.shared.turns.setdefault(host, asyncio.Lock()))
            result = await self.shared.runner(job, self.shared.stop, lambda event: self._tell(playbook, event))
        for host in result.done:
            self.say(f"{host} {playbook} | done{' (changed)' if host in result.changed else ''}")
        return result

    def _tell(self, playbook: str, event: Event) -> None:
        if event["kind"] == "node":
            self.say(event["text"])
        if event["kind"] != "task" or event["state"] not in _SHOWN_STATES or event["task"].startswith(_ARGUMENT_CHECK):
            return
        state = "…" if event["state"] == "start" else f"… {event['state']}"
        task = event["task"].removeprefix(f"{playbook.capitalize()} | ")
        self.say(f"{event['host']} {playbook} | {task} {state}")

    async def read(self, hosts: Mapping[str, HostFacts]) -> dict[str, Reading]:
        """Ask the hosts that the site (still) has; of one that has left the plan, the last word stays."""
        wanted = {host: frozenset(facts) - NOT_FACTS for host, facts in hosts.items()}
        if self.play.playbook == ACCEPT:
            return self._accepted(wanted)
        try:
            site = self.site()
        except SiteProblemError as error:
            return {host: Reading(errors=dict.fromkeys(names, str(error))) for host, names in wanted.items()}
        asked = {host: names for host, names in wanted.items() if names and site.has(host)}
        return await self.shared.reader.read(site, asked, self.say) if asked else {}

    def _accepted(self, wanted: Mapping[str, frozenset[str]]) -> dict[str, Reading]:
        try:
            return self.shared.accepting().told(self, [host for host, names in wanted.items() if names])
        except SiteProblemError as error:
            return {host: Reading(errors=dict.fromkeys(names, str(error))) for host, names in wanted.items()}

    async def _read_back(self, result: RunResult) -> dict[str, Reading]:
        """
        Return the facts of the hosts that are done: what the run has read after it had set it, and the rest anew.

        A module that settles facts reads them back on the host, by the functions that a read uses.
        """
        told = {host: result.facts.get(host, {}) for host in result.done}
        rest = {host: _without(self.play.hosts[host], told[host]) for host in result.done}
        readings = await self.read(rest)
        return {host: _with(told[host], readings.get(host, Reading())) for host in result.done}

    @staticmethod
    def judge(
        planned: Mapping[str, HostFacts], readings: Mapping[str, Reading], hosts: list[str]
    ) -> tuple[Hosts, dict[str, Trouble]]:
        """Compare what was read back with the plan: return what was seen, and the hosts that are not as planned."""
        seen: Hosts = {}
        trouble: dict[str, Trouble] = {}
        for host in hosts:
            facts, reading = planned[host], readings.get(host, Reading())
            answers = compare(facts, reading.facts, reading.errors, reading.since)
            wrong = [_wrong(name, answer) for name, answer in answers.items() if not _good(answer)]
            unread = {name for name, answer in answers.items() if isinstance(answer, CouldNotTell)}
            seen[host] = {name: value for name, value in seen_now(facts, reading).items() if name not in unread}
            if wrong:
                trouble[host] = Failed("read back", "; ".join(wrong), "the host, and the playbook that sets it")
        return seen, trouble


def _without(facts: HostFacts, told: Mapping[str, Fact]) -> HostFacts:
    return {name: value for name, value in facts.items() if name not in told}


def _with(told: Mapping[str, Fact], reading: Reading) -> Reading:
    return Reading({**told, **reading.facts}, reading.errors, reading.since)


def _good(answer: object) -> bool:
    return not isinstance(answer, Drifted | CouldNotTell)


def _wrong(name: str, answer: object) -> str:
    if isinstance(answer, Drifted):
        return f"{name} is {answer.seen} after the run, planned {answer.planned}"
    return f"{name} could not be read: {answer.why}" if isinstance(answer, CouldNotTell) else ""


def seen_now(last: HostFacts, reading: Reading) -> HostFacts:
    """Return a host's facts as seen now; what was not read stays as it was last."""
    return {name: _now(value, reading.facts[name]) if name in reading.facts else value for name, value in last.items()}


def told_now(planned: HostFacts, reading: Reading) -> HostFacts:
    """Return a host's facts as seen now, in the plan's spelling, and without those that were not read."""
    seen = seen_now(planned, reading)
    return {name: value for name, value in seen.items() if name in reading.facts or name in NOT_FACTS}


def _now(last: Fact, read: Fact) -> Fact:
    """Return what was read, in the spelling that the state has already: 9000 and "9000" are no change."""
    if normal(read) == normal(last):
        return last
    return ABSENT if read is None else read
