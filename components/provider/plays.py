"""
What the provider does: Ansible plays as resources of a stack.

A Play's outputs are its hosts as they were last *seen*, so a difference to the inputs is something to do, whether the
plan has changed or the host has. After a run, the facts are read back: applied means verified.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from coldaisle.drift import reasons
from coldaisle.drift.answers import NOT_FACTS, CouldNotTell, Drifted, compare
from coldaisle.drift.equality import Fact, normal
from components.provider import changes
from components.provider.inputs import Failure, HostFacts, Hosts, PlayInputs, Unknown, problems
from components.provider.outcome import Failed, RunResult, Trouble
from components.provider.reading import Reader, Reading
from components.provider.run import Event, Job, run_playbook
from components.provider.site import Site, SiteProblemError, open_site, playbooks_dir
from components.provider.unread import remember_unread, unread

Properties = dict[str, Any]

Say = Callable[[str, str], None]
"""Shows a line (second) at a resource (first, its URN)."""

SHOWN_HOSTS = 4
"""Hosts that a line of a preview names; the detailed difference names all of them."""

_SHOWN_STATES = frozenset({"start", "ok", "changed", "failed", "unreachable"})
_ARGUMENT_CHECK = "Validating arguments against arg spec"
"""Ansible's own first task of each role: not worth a line as long as it passes."""

ABSENT = "absent"
"""What the outputs say of a thing that was looked for and is not there."""


class InitFailedError(Exception):
    """The resource is there, but not as it should be; the engine keeps it and tries again next time."""

    def __init__(self, resource_id: str, outputs: Properties, reasons: list[str], inputs: Properties) -> None:
        """Take what the engine is to keep, and the reasons that it is to show."""
        super().__init__("; ".join(reasons))
        self.resource_id = resource_id
        self.outputs = outputs
        self.reasons = reasons
        self.inputs = inputs


class PlayError(Exception):
    """An operation was refused, or failed as a whole; the message is complete."""


class Plays:
    """
    What the engine may ask of resources of type `coldaisle:ansible:Play`, in plain values.

    Inputs and outputs are dictionaries as `PlayInputs` has them; `urn` names the resource.
    """

    def __init__(self, say: Say, sites: Callable[[str], Site] = open_site) -> None:
        """Show lines by `say`; find sites by `sites`."""
        self._say = say
        self._site = sites
        self._stop = asyncio.Event()
        self._reader = Reader(self._stop)
        self._turns: dict[str, asyncio.Lock] = {}

    def check(self, inputs: Properties) -> list[Failure]:
        """Return every problem of the inputs at once. What is not known yet is left for the run to judge."""
        known = {name: value for name, value in inputs.items() if not isinstance(value, Unknown)}
        return [each for each in problems(known, playbooks_dir()) if not isinstance(inputs.get(each[0]), Unknown)]

    def diff(self, outputs: Properties, inputs: Properties) -> dict[str, str]:
        """Compare what was last seen with what is now planned; nothing ever needs a replacement."""
        return changes.detailed(outputs, inputs)

    def preview(self, urn: str, outputs: Properties | None, inputs: Properties) -> None:
        """Show on which hosts a run would work."""
        if isinstance(inputs.get("hosts"), Unknown) or isinstance(inputs.get("codeDigest"), Unknown):
            return
        play = PlayInputs.of(inputs)
        hosts = changes.hosts_to_run(PlayInputs.of(outputs) if outputs is not None else None, play)
        shown = ", ".join(hosts[:SHOWN_HOSTS]) + (", …" if len(hosts) > SHOWN_HOSTS else "")
        self._say(
            urn, f"{play.playbook} on {len(hosts)} of {len(play.hosts)} hosts: {shown}" if hosts else "to be read again"
        )

    async def create(self, urn: str, inputs: Properties, timeout_s: float) -> tuple[str, Properties]:
        """Run the playbook on every host. It is the playbook that makes a second creation harmless."""
        resource_id = urn.rsplit("::", 1)[-1]
        return resource_id, await self._apply(urn, resource_id, None, PlayInputs.of(inputs), timeout_s)

    async def update(
        self, urn: str, resource_id: str, outputs: Properties, inputs: Properties, timeout_s: float
    ) -> Properties:
        """Run the playbook on the hosts that differ, or on all where the code has changed."""
        return await self._apply(urn, resource_id, PlayInputs.of(outputs), PlayInputs.of(inputs), timeout_s)

    async def read(self, urn: str, resource_id: str, outputs: Properties, inputs: Properties) -> Properties:
        """Ask the hosts. Those that do not answer keep what was last seen, and make the resource incomplete."""
        if not inputs:
            raise PlayError(f"a Play cannot be imported; write it in the program, and 'up' will run it ({urn})")
        old = PlayInputs.of(outputs)
        readings = await self._read(old, old.hosts)
        self._tell_slow(urn, readings)
        hosts = {host: _seen(facts, readings.get(host, Reading())) for host, facts in old.hosts.items()}
        lines = [line for host in sorted(readings) for line in _could_not_tell(host, readings[host])]
        self._remember_unread(old.site, resource_id, [host for host, reading in readings.items() if reading.errors])
        if lines:
            raise InitFailedError(resource_id, old.outputs(hosts), lines, inputs)
        return old.outputs(hosts)

    async def delete(self, urn: str, outputs: Properties, timeout_s: float) -> None:
        """Undo the playbook, or forget the hosts where the program said so; anything else is refused."""
        old = PlayInputs.of(outputs)
        if old.on_delete == "forget":
            self._say(urn, f"{len(old.hosts)} hosts stay as they are; only their record goes")
            return
        undo = f"undo/{old.playbook}"
        if not (playbooks_dir() / f"{undo}.yml").is_file():
            raise PlayError(
                f"playbook {old.playbook} has no undo (playbooks/{undo}.yml), so its hosts would stay as they are\n"
                f"  fix: set on_delete='forget' on this Play and run 'up' once, if that is what you want"
            )
        trouble = (await self._run(urn, old, undo, sorted(old.hosts), timeout_s)).trouble
        if trouble:
            raise PlayError("\n".join(why.reason(host) for host, why in sorted(trouble.items())))

    def cancel(self) -> None:
        """Ask what is running to stop. The engine calls this at the end of every good run, too."""
        self._stop.set()

    async def _apply(
        self, urn: str, resource_id: str, old: PlayInputs | None, new: PlayInputs, timeout_s: float
    ) -> Properties:
        """Make the hosts as planned; return the outputs."""
        targets = changes.hosts_to_run(old, new)
        seen: Hosts = {
            host: _owned(old.hosts[host], new.hosts[host]) for host in new.hosts if old and host not in targets
        }
        trouble: dict[str, Trouble] = {}
        if not targets:  # the last read could not tell
            targets = sorted(new.hosts.keys() & self._unread(new.site, resource_id))
            seen = {host: facts for host, facts in seen.items() if host not in targets}
        if not targets:  # nor is it known of which: look again, and repair what is not as planned
            seen, trouble = self._judge(new, await self._read(new, new.hosts), sorted(new.hosts))
            targets = [host for host in trouble if host in seen and changes.differs(seen[host], new.hosts[host])]
        if targets:
            result = await self._run(urn, new, new.playbook, targets, timeout_s)
            readings = {} if self._stop.is_set() else await self._read_back(new, result)
            now, wrong = self._judge(new, readings, result.done)
            seen = {host: facts for host, facts in seen.items() if host not in targets} | now
            trouble = {host: why for host, why in trouble.items() if host not in targets} | result.trouble | wrong
            self._remember_unread(new.site, resource_id, ())
        outputs = new.outputs(dict(sorted(seen.items())))
        if trouble:
            lines = [why.reason(host) for host, why in sorted(trouble.items())]
            raise InitFailedError(resource_id, outputs, lines, new.outputs(new.hosts))
        return outputs

    async def _run(self, urn: str, play: PlayInputs, playbook: str, hosts: list[str], timeout_s: float) -> RunResult:
        """Run a playbook on some hosts of a play, with a line for each task."""
        limit_s = min(play.timeout_s, int(timeout_s)) if timeout_s else play.timeout_s
        job = Job(
            site=self._site(play.site),
            playbook=playbook,
            hosts=tuple(hosts),
            what=f"the play {urn.rsplit('::', 1)[-1]}",
            forks=play.forks,
            timeout_s=limit_s,
            collect_facts=True,
        )
        async with AsyncExitStack() as turns:
            for host in sorted(hosts):  # plays of one run that share a host take turns, in one order
                await turns.enter_async_context(self._turns.setdefault(host, asyncio.Lock()))
            result = await run_playbook(job, self._stop, lambda event: self._tell(urn, playbook, event))
        for host in result.done:
            self._say(urn, f"{host} {playbook} | done{' (changed)' if host in result.changed else ''}")
        return result

    def _tell(self, urn: str, playbook: str, event: Event) -> None:
        if event["kind"] != "task" or event["state"] not in _SHOWN_STATES or event["task"].startswith(_ARGUMENT_CHECK):
            return
        state = "…" if event["state"] == "start" else f"… {event['state']}"
        task = event["task"].removeprefix(f"{playbook.capitalize()} | ")
        self._say(urn, f"{event['host']} {playbook} | {task} {state}")

    async def _read(self, play: PlayInputs, hosts: Mapping[str, HostFacts]) -> dict[str, Reading]:
        """Ask the hosts that the site (still) has; of one that has left the plan, the last word stays."""
        wanted = {host: frozenset(facts) - NOT_FACTS for host, facts in hosts.items()}
        try:
            site = self._site(play.site)
        except SiteProblemError as error:
            return {host: Reading(errors=dict.fromkeys(names, str(error))) for host, names in wanted.items()}
        asked = {host: names for host, names in wanted.items() if names and site.has(host)}
        return await self._reader.read(site, asked) if asked else {}

    def _unread(self, site: str, resource_id: str) -> set[str]:
        try:
            return unread(self._site(site).state, resource_id)
        except SiteProblemError:  # it is told where the hosts are asked
            return set()

    def _remember_unread(self, site: str, resource_id: str, hosts: Iterable[str]) -> None:
        with contextlib.suppress(SiteProblemError, OSError):  # then all hosts are asked again
            remember_unread(self._site(site).state, resource_id, hosts)

    def _tell_slow(self, urn: str, readings: Mapping[str, Reading]) -> None:
        """Say for which hosts a run of Ansible was needed, and why."""
        reasons_of = {why: host for host, reading in readings.items() if (why := reading.by_ansible)}
        for why, host in reasons_of.items():
            self._say(urn, f"{host} and others like it were read by a run of Ansible: {why}")

    async def _read_back(self, play: PlayInputs, result: RunResult) -> dict[str, Reading]:
        """
        Return the facts of the hosts that are done: what the run has read after it had set it, and the rest anew.

        A module that settles facts reads them back on the host, by the functions that a read uses.
        """
        told = {host: result.facts.get(host, {}) for host in result.done}
        rest = {host: _without(play.hosts[host], told[host]) for host in result.done}
        readings = await self._read(play, rest)
        return {host: _with(told[host], readings.get(host, Reading())) for host in result.done}

    def _judge(
        self, play: PlayInputs, readings: dict[str, Reading], hosts: list[str]
    ) -> tuple[Hosts, dict[str, Trouble]]:
        """Compare what was read back with the plan: return what was seen, and the hosts that are not as planned."""
        seen: Hosts = {}
        trouble: dict[str, Trouble] = {}
        for host in hosts:
            planned, reading = play.hosts[host], readings.get(host, Reading())
            answers = compare(planned, reading.facts, reading.errors, reading.since)
            wrong = [_wrong(name, answer) for name, answer in answers.items() if not _good(answer)]
            unread = {name for name, answer in answers.items() if isinstance(answer, CouldNotTell)}
            seen[host] = {name: value for name, value in _seen(planned, reading).items() if name not in unread}
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


def _seen(last: HostFacts, reading: Reading) -> HostFacts:
    """Return a host's facts as seen now; what was not read stays as it was last."""
    return {name: _now(value, reading.facts[name]) if name in reading.facts else value for name, value in last.items()}


def _now(last: Fact, read: Fact) -> Fact:
    """Return what was read, in the spelling that the state has already: 9000 and "9000" are no change."""
    if normal(read) == normal(last):
        return last
    return ABSENT if read is None else read


def _owned(seen: HostFacts, planned: HostFacts) -> HostFacts:
    """Return the facts that the plan (still) owns."""
    return {name: value for name, value in seen.items() if name in planned}


def _could_not_tell(host: str, reading: Reading) -> list[str]:
    """Return a line for each different reason why facts of a host could not be read."""
    by_reason: dict[str, list[str]] = {}
    for name, why in sorted(reading.errors.items()):
        by_reason.setdefault(why, []).append(name)
    return [reasons.write(reasons.Untold(host, tuple(names), why, reading.since)) for why, names in by_reason.items()]
