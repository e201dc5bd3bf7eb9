"""
Carries out what a rollout asks for: each step is a playbook on the hosts of a wave, or a read of their facts.

The logic is `coldaisle.waves`; here are its hands. Where it stands is kept before each step, so that a run that was
killed, stopped by ^C or ended by a regression goes on where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coldaisle.locks import FOLDER, InUseError, lock_all, of_pool
from coldaisle.plan.model import RolloutPlan
from coldaisle.render.ansible import SHARED
from coldaisle.waves import (
    Change,
    Go,
    Regressed,
    Reported,
    Resume,
    State,
    Target,
    Tick,
    WavesError,
    begin,
    reopen,
    step,
)
from coldaisle.waves.effects import REBOOTS, change_of
from coldaisle.waves.state import Action, Event
from coldaisle.waves.telemetry import Answer, worse
from components.provider import changes
from components.provider.accept_play import GATES
from components.provider.outcome import Failed, NotStarted, Stopped, TakenBack
from components.provider.reading import Reading
from components.provider.rollout_files import Kept, RolloutFiles, target_of
from components.provider.run import RunError
from components.provider.work import ACCEPT

if TYPE_CHECKING:
    from components.provider.inputs import HostFacts, Hosts, PlayInputs
    from components.provider.outcome import RunResult, Trouble
    from components.provider.site import Site
    from components.provider.work import Variables, Work

HEALTH = frozenset({"gpu_count", "amd_gpu_count", "fabric_state"})
"""Facts that a change of something else may break: what was as planned before a wave must be so after it."""

REBOOT_TIMEOUT_S = 900
"""For a host whose pool names no time from power-on to SSH: a switch, a service host."""

SKIPPED = "is in no cluster: nothing to drain"
Results = dict[str, str | None]


@dataclass(slots=True)
class Rollout:
    """
    A play's change of hosts that were set up before.

    `before` has the facts of the hosts as they were last seen; `seen` and `trouble` are what the engine is to keep and
    to show.
    """

    work: Work
    policy: RolloutPlan
    files: RolloutFiles
    before: Hosts
    seen: Hosts = field(default_factory=dict)
    trouble: dict[str, Trouble] = field(default_factory=dict)
    _healthy: dict[str, HostFacts] = field(default_factory=dict)
    _telemetry: dict[str, Answer] = field(default_factory=dict)

    @property
    def play(self) -> PlayInputs:
        """Return what is planned."""
        return self.work.play

    async def run(self, hosts: list[str]) -> tuple[Hosts, dict[str, Trouble]]:
        """
        Change the hosts in waves, as far as it goes well.

        Raises:
            RunError: another rollout works on these hosts' pool, or where this one stands cannot be kept.

        """
        site = self.work.site()
        pools = {name for host in hosts for name in _target(site, host).domains.get("pool", (self.work.name,))}
        try:
            locks = lock_all(site.state / FOLDER, map(of_pool, pools), f"the play {self.work.name}")
        except InUseError as error:
            raise RunError(str(error)) from None
        try:
            await self._drive(site, await self._state(site, hosts))
        finally:
            for lock in locks:
                lock.close()
        return self.seen, self.trouble

    async def _state(self, site: Site, hosts: list[str]) -> State:
        """Return the rollout that was under way, with what has changed since, or a new one."""
        kept = self.files.load()
        self.before = {**(kept.before if kept else {}), **self.before}
        if kept and kept.target == target_of(self.play) and set(hosts) <= set(kept.state.changes):
            done = list(kept.state.with_status("done", hosts=hosts))
            changed = await self._see(done)
            return reopen(kept.state, changed)
        out = frozenset(kept.state.cordoned) if kept else frozenset()
        first = out | frozenset(kept.state.failed) if kept else out  # they are out already: that is what they wait for
        everyone = [_target(site, host) for host in site.inventory["all"]["hosts"]]
        changing = [self._change(site, host, retry=host in first) for host in hosts]
        try:
            return begin(changing, self.policy, everyone, out)
        except WavesError as error:
            raise RunError(str(error)) from None

    async def _see(self, done: list[str]) -> list[str]:
        """Read hosts that are done; return those that something has changed since. A silent one has told nothing."""
        planned = {host: self.play.hosts[host] for host in done}
        readings = await self.work.read(planned)
        seen, wrong = self.work.judge(planned, readings, done)
        self.seen |= {host: seen[host] for host in done if host not in wrong}
        return [host for host in wrong if not readings.get(host, Reading()).errors]

    def _change(self, site: Site, host: str, *, retry: bool) -> Change:
        before = self.before.get(host, {})
        facts = [name for name, _ in changes.fact_changes(before, self.play.hosts[host])]
        return change_of(_target(site, host), self.play.playbook, facts, before, retry=retry)

    async def _drive(self, site: Site, state: State) -> None:
        """Give the rollout what happens, until it ends, stops, or waits for a window."""
        target = target_of(self.play)
        before = {host: self.before[host] for host in state.changes if host in self.before}
        event: Event = Resume() if state.phase in {"stopped", "done"} else Go()
        while True:
            state, (action,) = step(state, event, self.work.shared.clock())
            self.files.keep(Kept(target, state, before))
            self._record(state, action, action.kind)
            if action.kind in {"stopped", "done"} or state.phase == "window":
                break
            started = self.work.shared.clock()
            event = await self._do(site, state, action)
            if self.work.stopped:
                break
            self._record(state, action, f"{action.kind} ended")
            self.files.took(f"{self.play.playbook}.{state.phase}", self.work.shared.clock() - started)
        if not self.work.stopped:  # hosts that another run has verified before it was cut off
            await self._see([host for host in state.with_status("done") if host not in self.seen])
        self._tell(state, "the run was stopped" if self.work.stopped else state.stopping or action.why)

    def _record(self, state: State, action: Action, what: str) -> None:
        hosts, wave = list(action.hosts), state.wave + 1
        self.files.record(
            self.work.shared.clock(), what, hosts=hosts, wave=wave, waves=len(state.waves), why=action.why
        )

    async def _do(self, site: Site, state: State, action: Action) -> Event:
        """Do what is asked for, and return what came of it."""
        done = f"{len(state.with_status('done'))} of {len(state.changes)} done"
        self.work.note = f"wave {state.wave + 1}/{len(state.waves)}"
        self.work.say(f"({state.current.why}): {action.why or action.kind} {', '.join(action.hosts)}; {done}")
        hosts = list(action.hosts)
        match action.kind:
            case "wait":
                return await self._soak(state, action)
            case "apply":
                return Reported("apply", await self._apply(site, state, hosts))
            case "verify":
                return Reported("verify", await self._verify(state, hosts))
            case "accept":
                return Reported("accept", await self._accept(hosts))
            case "roll-back":
                return Reported("roll-back", await self._roll_back(site, hosts))
            case "drain" | "reboot" | "uncordon":
                return Reported(action.kind, await self._service(site, action.kind, hosts))
        raise AssertionError(action.kind)  # the caller has ended before

    async def _soak(self, state: State, action: Action) -> Event:
        """Wait, unless the run is stopped; then ask the hosts of the wave whether they are as they were verified."""
        with suppress(TimeoutError):
            await asyncio.wait_for(
                self.work.shared.stop.wait(), max(0.0, (action.until or 0.0) - self.work.shared.clock())
            )
            return Tick()
        results = await self._verify(state, list(state.active))
        bad = {host: why for host, why in results.items() if why is not None}
        if bad:
            return Regressed("; ".join(dict.fromkeys(bad.values())), tuple(bad))
        return await self._ask(list(state.active))

    async def _ask(self, hosts: list[str]) -> Event:
        """Ask telemetry about the hosts of the wave; what is beyond its limits has regressed."""
        texts: list[str] = []
        blamed: list[str] = []
        for asked in self.policy.telemetry:
            before = self._telemetry.get(asked.name, "it was not asked before the wave")
            text, named = worse(asked, before, await self.work.shared.ask(asked, hosts), hosts)
            texts, blamed = [*texts, text] if text else texts, [*blamed, *named]
        return Regressed("; ".join(texts), tuple(dict.fromkeys(blamed))) if texts else Tick()

    async def _apply(self, site: Site, state: State, hosts: list[str]) -> Results:
        """Run the playbook; where a reboot follows, without the facts that come true by it."""
        planned = {host: _health(site, host) for host in hosts}
        now = await self.work.read(planned)
        _, wrong = self.work.judge(planned, now, hosts)
        self._healthy = {host: planned[host] for host in hosts if host not in wrong}
        self._telemetry = {asked.name: await self.work.shared.ask(asked, hosts) for asked in self.policy.telemetry}
        refused = await self._baseline(hosts)
        hosts = [host for host in hosts if host not in refused]
        variables: Variables = {}
        for host in hosts:
            if state.changes[host].reboots:
                facts = self._own_facts(site, host)
                later = {name: value for name, value in facts.items() if name.partition(".")[0] not in REBOOTS}
                variables[host] = {f"{self.play.playbook}_facts": later}
        return refused | (self._results(await self.work.perform(hosts, variables), hosts) if hosts else {})

    def _own_facts(self, site: Site, host: str) -> dict[str, Any]:
        facts: dict[str, Any] = site.inventory["all"]["hosts"][host].get(f"{self.play.playbook}_facts", {})
        return facts

    async def _verify(self, state: State, hosts: list[str]) -> Results:
        """Read back what the play makes true, and what it may have broken; after a reboot, run it to its end first."""
        rebooted = [host for host in hosts if state.changes[host].reboots and state.phase == "verify"]
        failed = self._results(await self.work.run(self.play.playbook, rebooted), rebooted) if rebooted else {}
        good = [host for host in hosts if failed.get(host) is None]
        planned = {host: {**self.play.hosts[host], **self._healthy.get(host, {})} for host in good}
        seen, wrong = self.work.judge(planned, await self.work.read(planned), good)
        for host in good:
            self.seen[host] = {name: value for name, value in seen[host].items() if name in self.play.hosts[host]}
        self.trouble |= wrong
        return dict.fromkeys(hosts) | failed | {host: _short(host, why) for host, why in wrong.items()}

    async def _accept(self, hosts: list[str]) -> Results:
        """Test hosts by what the policy names, and hold what they reach against what they reached before."""
        assert self.policy.acceptance is not None  # noqa: S101 - the step is asked for by a policy that has it
        wrong = await self.work.shared.testing().try_wave(self.work, hosts, self.policy.acceptance, before=False)
        self.trouble |= wrong
        return dict.fromkeys(hosts) | {host: _short(host, why) for host, why in wrong.items()}

    async def _baseline(self, hosts: list[str]) -> Results:
        """Measure hosts that were never accepted, before they change; who fails already is not changed."""
        if self.policy.acceptance is None:
            return {}
        wrong = await self.work.shared.testing().try_wave(self.work, hosts, self.policy.acceptance, before=True)
        self.trouble |= wrong
        return {host: f"before the change: {_short(host, why)}" for host, why in wrong.items()}

    async def _roll_back(self, site: Site, hosts: list[str]) -> Results:
        """Run the playbook with the facts that the hosts had before, as far as they are known."""
        before = {host: _before(self.before[host], self._own_facts(site, host)) for host in hosts}
        variables = {host: {f"{self.play.playbook}_facts": facts} for host, facts in before.items()}
        result = await self.work.run(self.play.playbook, hosts, variables)
        for host in result.done:
            self.seen[host] = self.before[host]
        return self._results(result, hosts)

    async def _service(self, site: Site, kind: str, hosts: list[str]) -> Results:
        """Drain, reboot, or give back; a host that is in no cluster is passed over, and that is said."""
        known = site.inventory["all"]["hosts"]
        mine = hosts if kind == "reboot" else [host for host in hosts if "drain_node" in known[host]]
        for host in hosts:
            if host not in mine:
                self.work.say(f"{host} {kind} | {SKIPPED}")
        why = f"the play {self.work.name} changes it"
        variables: Variables = {
            host: {
                "drain_why": why,
                "drain_timeout_s": self.policy.drain_timeout_s,
                "reboot_why": why,
                **({"drain_acceptance": GATES[kind]} if self.play.playbook == ACCEPT and kind in GATES else {}),
                "reboot_timeout_s": known[host].get("up_timeout_s", REBOOT_TIMEOUT_S),
            }
            for host in mine
        }
        skipped: Results = {host: None for host in hosts if host not in mine}
        return skipped | (self._results(await self.work.run(kind, mine, variables), mine) if mine else {})

    def _results(self, result: RunResult, hosts: list[str]) -> Results:
        self.trouble |= result.trouble
        return {host: _short(host, result.trouble[host]) if host in result.trouble else None for host in hosts}

    def _tell(self, state: State, why: str) -> None:
        """
        Settle what is told of each host: one that is neither done nor as before is in no state that was seen.

        It stays among the hosts all the same: one that the engine does not know would be set up at once, undrained.
        """
        for host in state.changes:
            status = state.status(host)
            if status == "done" and host in self.seen:
                self.trouble.pop(host, None)
                continue
            as_before = status in {"waiting", "rolled-back", "done"}
            self.seen[host] = changes.owned(self.before.get(host, {}), self.play.hosts[host]) if as_before else {}
            self.trouble[host] = self._trouble(state, host, why)

    def _trouble(self, state: State, host: str, why: str) -> Trouble:
        status, known = state.status(host), self.trouble.get(host)
        if status == "done":
            return Stopped("it has changed, and was not read back")
        if status == "rolled-back":
            return TakenBack(why)
        if status == "failed":
            failed = known or Failed("", state.failed[host], "")
            return _with_way_back(failed, state.changes[host].no_way_back, self.policy.on_regression)
        return known if known is not None and status != "waiting" else NotStarted(why)


def _target(site: Site, host: str) -> Target:
    return Target.of(host, site.inventory["all"]["hosts"].get(host, {}).get(SHARED, {}))


def _health(site: Site, host: str) -> HostFacts:
    planned: Mapping[str, Any] = site.inventory["all"]["hosts"][host].get("verify_facts", {})
    return {name: value for name, value in planned.items() if name in HEALTH}


def _before(seen: HostFacts, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Return planned facts with the values that they had; records of files are of those that are written now."""
    known = {name: value for name, value in seen.items() if name in planned and not name.startswith("files.")}
    return {**planned, **known}


def _short(host: str, why: Trouble) -> str:
    return why.reason(host).removeprefix(f"{host}: ")


def _with_way_back(why: Trouble, no_way_back: str, on_regression: str) -> Trouble:
    """Add to a failure that it was not taken back, and why not."""
    if not isinstance(why, Failed) or on_regression == "stop" or not no_way_back:
        return why
    return Failed(why.task, f"{why.message}; there is no way back: {no_way_back}", why.look_at)
