"""
What the provider does: Ansible plays as resources of a stack.

A Play's outputs are its hosts as they were last *seen*, so a difference to the inputs is something to do, whether the
plan has changed or the host has. After a run, the facts are read back: applied means verified.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from coldaisle.drift import reasons
from components.provider import changes
from components.provider.changing import changed
from components.provider.clock import Clock
from components.provider.execution import run_by_nodes, told
from components.provider.importing import Stack, planned
from components.provider.inputs import Failure, Hosts, PlayInputs, Unknown, problems
from components.provider.reading import Reader, Reading
from components.provider.run import Runner
from components.provider.site import Site, SiteProblemError, open_site, playbooks_dir
from components.provider.unread import remember_unread, unread
from components.provider.work import ACCEPT, SHOWN_HOSTS, Say, Shared, Telemetry, Tester, Work, seen_now, told_now

if TYPE_CHECKING:
    from components.provider.outcome import Trouble

Properties = dict[str, Any]


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

    def __init__(  # noqa: PLR0913 - what stands between the logic and the world
        self,
        say: Say,
        sites: Callable[[str], Site] = open_site,
        runner: Runner = run_by_nodes,
        *,
        clock: Callable[[], float] | None = None,
        tester: Tester | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        """
        Show lines by `say`, and find sites by `sites`.

        Run playbooks by `runner`, tell the time by `clock`, test hosts of waves by `tester`, and ask `telemetry`.
        """
        stop = asyncio.Event()
        self._stack = Stack()
        self._shared = Shared(
            say,
            sites,
            stop,
            Reader(stop, runner),
            runner=runner,
            clock=clock or Clock(),
            tester=tester,
            telemetry=telemetry,
        )

    def configure(self, stack: Stack) -> None:
        """Take what the stack says of its site, which an import needs."""
        self._stack = stack

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
        if not hosts:
            self._shared.say(urn, "to be read again")
            return
        line = f"{play.playbook} on {len(hosts)} of {len(play.hosts)} hosts: {shown}"
        self._shared.say(urn, line + self._through(play, hosts))
        if play.playbook == ACCEPT:
            try:
                self._shared.say(urn, self._shared.accepting().foreseen(Work(self._shared, urn, play, 0), hosts))
            except SiteProblemError as error:
                self._shared.say(urn, str(error))

    def _through(self, play: PlayInputs, hosts: list[str]) -> str:
        """Return through which execution nodes hosts are worked on; empty where the site has none."""
        try:
            names = told(self._shared.site(play.site), play.playbook, hosts)
        except SiteProblemError:  # the run tells it
            return ""
        return f", through {names}" if names else ""

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
        old = PlayInputs.of(outputs)
        readings = await Work(self._shared, urn, old, 0).read(old.hosts)
        self._tell_slow(urn, readings)
        hosts = {host: seen_now(facts, readings.get(host, Reading())) for host, facts in old.hosts.items()}
        lines = [line for host in sorted(readings) for line in _could_not_tell(host, readings[host])]
        self._remember_unread(old.site, resource_id, [host for host, reading in readings.items() if reading.errors])
        if lines:
            raise InitFailedError(resource_id, old.outputs(hosts), lines, inputs)
        return old.outputs(hosts)

    async def imported(self, urn: str, resource_id: str) -> tuple[Properties, Properties]:
        """
        Return inputs and outputs of a play that is in no state yet, by its name: what is planned, and what is seen.

        What a host does not tell is missing in the outputs, so that the engine does not take it for what is planned.
        """
        play = planned(self._stack, urn, resource_id)
        inputs = play.outputs(play.hosts)
        readings = await Work(self._shared, urn, play, 0).read(play.hosts)
        hosts = {host: told_now(facts, readings.get(host, Reading())) for host, facts in play.hosts.items()}
        lines = [line for host in sorted(readings) for line in _could_not_tell(host, readings[host])]
        if lines:
            raise InitFailedError(resource_id, play.outputs(hosts), lines, inputs)
        return inputs, play.outputs(hosts)

    async def delete(self, urn: str, outputs: Properties, timeout_s: float) -> None:
        """Undo the playbook, or forget the hosts where the program said so; anything else is refused."""
        old = PlayInputs.of(outputs)
        if old.on_delete == "forget":
            self._shared.say(urn, f"{len(old.hosts)} hosts stay as they are; only their record goes")
            return
        hosts = self._to_undo(old)
        if not hosts:
            self._shared.say(urn, "its hosts are retired or in maintenance; only their record goes")
            return
        undo = f"undo/{old.playbook}"
        if not (playbooks_dir() / f"{undo}.yml").is_file():
            raise PlayError(
                f"playbook {old.playbook} has no undo (playbooks/{undo}.yml), so its hosts would stay as they are\n"
                f"  fix: set on_delete='forget' on this Play and run 'up' once, if that is what you want"
            )
        trouble = (await Work(self._shared, urn, old, timeout_s).run(undo, hosts)).trouble
        if trouble:
            raise PlayError("\n".join(why.reason(host) for host, why in sorted(trouble.items())))

    def _to_undo(self, old: PlayInputs) -> list[str]:
        """Return the hosts of a play that an undo concerns: not who is retired, and not who is left alone."""
        try:
            retired = self._shared.site(old.site).retired
        except SiteProblemError:
            retired = frozenset()
        return sorted(old.hosts.keys() - retired - changes.left_alone(old).keys())

    def cancel(self) -> None:
        """Ask what is running to stop. The engine calls this at the end of every good run, too."""
        self._shared.stop.set()

    async def _apply(
        self, urn: str, resource_id: str, old: PlayInputs | None, new: PlayInputs, timeout_s: float
    ) -> Properties:
        """Make the hosts as planned; return the outputs."""
        work = Work(self._shared, urn, new, timeout_s)
        targets, alone = changes.hosts_to_run(old, new), changes.left_alone(new)
        # One that has failed so far and is left alone now was never seen.
        known = {host: facts for host, facts in old.hosts.items() if host in new.hosts} if old else {}
        seen: Hosts = {host: changes.owned(it, new.hosts[host]) for host, it in known.items() if host not in targets}
        trouble: dict[str, Trouble] = {}
        if not targets:  # the last read could not tell
            targets = sorted((new.hosts.keys() - alone.keys()) & self._unread(new.site, resource_id))
            seen = {host: facts for host, facts in seen.items() if host not in targets}
        if not targets:  # nor is it known of which: look again, and repair what is not as planned
            seen, trouble = work.judge(new.hosts, await work.read(new.hosts), sorted(new.hosts))
            targets = [host for host in trouble if host in seen and changes.differs(seen[host], new.hosts[host])]
        if targets:
            now, wrong = await changed(work, old, targets)
            seen = {host: facts for host, facts in seen.items() if host not in targets} | now
            trouble = {host: why for host, why in trouble.items() if host not in targets} | wrong
            self._remember_unread(new.site, resource_id, ())
        outputs = new.outputs(dict(sorted((seen | alone).items())))
        if trouble:
            lines = [why.reason(host) for host, why in sorted(trouble.items())]
            raise InitFailedError(resource_id, _incomplete(outputs, old, new), lines, new.outputs(new.hosts))
        return outputs

    def _unread(self, site: str, resource_id: str) -> set[str]:
        try:
            return unread(self._shared.site(site).state, resource_id)
        except SiteProblemError:  # it is told where the hosts are asked
            return set()

    def _remember_unread(self, site: str, resource_id: str, hosts: Iterable[str]) -> None:
        with contextlib.suppress(SiteProblemError, OSError):  # then all hosts are asked again
            remember_unread(self._shared.site(site).state, resource_id, hosts)

    def _tell_slow(self, urn: str, readings: Mapping[str, Reading]) -> None:
        """Say for which hosts a run of Ansible was needed, and why."""
        reasons_of = {why: host for host, reading in readings.items() if (why := reading.by_ansible)}
        for why, host in reasons_of.items():
            self._shared.say(urn, f"{host} and others like it were read by a run of Ansible: {why}")


def _incomplete(outputs: Properties, old: PlayInputs | None, new: PlayInputs) -> Properties:
    """Return the outputs of a run that has not come to every host: those that were left have the old code still."""
    if old is None or new.rollout is None or changes.same_code(old, new):
        return outputs
    return outputs | {"codeDigest": old.code_digest}


def _could_not_tell(host: str, reading: Reading) -> list[str]:
    """Return a line for each different reason why facts of a host could not be read."""
    by_reason: dict[str, list[str]] = {}
    for name, why in sorted(reading.errors.items()):
        by_reason.setdefault(why, []).append(name)
    return [reasons.write(reasons.Untold(host, tuple(names), why, reading.since)) for why, names in by_reason.items()]
