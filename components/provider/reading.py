"""
Asks hosts for facts, many plays at a time.

The engine reads resources side by side, and each process that reads costs a second of CPU before its first host.
Requests that come within a moment are therefore answered by one, each with the facts that it asked for: by the reader,
and for hosts that it cannot read by one run of a playbook of one task.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from coldaisle.drift.ages import READ_AT_FILE
from components.provider.counting import Count
from components.provider.execution import run_by_nodes
from components.provider.kept import keep, kept
from components.provider.outcome import Unreachable
from components.provider.run import READER, WORKER, Event, Job, RunError, Runner
from components.provider.site import SiteProblemError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from components.provider.outcome import RunResult
    from components.provider.site import Site

SILENT_SINCE = "silent-since.json"
READ_PLAYBOOK = "read"
WANTED_VARIABLE = "read_facts"
WINDOW_S = 0.2
TIMEOUT_S, TIMEOUT_OF_A_HOST_S = 300, 3
FORKS = 50

SETTINGS = {"ANSIBLE_SSH_RETRIES": "1", "ANSIBLE_TIMEOUT": "10"}
"""A silent host is told soon, and the next read asks again. 10 s for a connection is Ansible's own default."""

ALONE = {
    "ANSIBLE_SSH_ARGS": "-o ControlMaster=no -o ControlPath=none -o ServerAliveInterval=5 -o ServerAliveCountMax=2"
}
"""
A run of Ansible that reads has one task: it needs no connection that plays share, and would wait for half a minute
where the host died while one was open (asking.py).
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What one host said.

    `errors` has, by fact, why it could not be read; `since` is when the host was first found silent (ISO 8601).
    `by_ansible` is why it took a run of Ansible, where it did.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    since: str | None = None
    by_ansible: str | None = None


Wanted = dict[str, frozenset[str]]
"""By host, the facts that are asked for."""


@dataclass(slots=True)
class _Batch:
    site: Site
    wanted: dict[str, set[str]]
    answer: asyncio.Future[dict[str, Reading]]
    listeners: list[Callable[[str], None]] = field(default_factory=list)


class Reader:
    """Collects requests and answers them together."""

    def __init__(self, stop: asyncio.Event, runner: Runner = run_by_nodes) -> None:
        """Read by `runner` until `stop` is set."""
        self._stop = stop
        self._run = runner
        self._open: dict[str, _Batch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, site: Site, wanted: Wanted, say: Callable[[str], None] | None = None) -> dict[str, Reading]:
        """
        Return what each host says of the facts that are wanted of it; a failure is an error of each of its facts.

        `say` is told now and then how far it is, with all others that are read together with these.
        """
        batch = self._open.get(site.name)
        if batch is None:
            batch = _Batch(site, {}, asyncio.get_running_loop().create_future())
            self._open[site.name] = batch
            task = asyncio.create_task(self._answer(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        for host, names in wanted.items():
            batch.wanted.setdefault(host, set()).update(names)
        batch.listeners += [say] if say else []
        readings = await asyncio.shield(batch.answer)
        return {host: _only(readings[host], names) for host, names in wanted.items()}

    async def _answer(self, batch: _Batch) -> None:
        await asyncio.sleep(WINDOW_S)
        del self._open[batch.site.name]
        try:
            readings = await self._told(batch)
        except (RunError, SiteProblemError) as error:
            readings = {host: Reading(errors=dict.fromkeys(names, str(error))) for host, names in batch.wanted.items()}
        except Exception as error:  # noqa: BLE001 - every waiter must be answered, by this too
            batch.answer.set_exception(error)
            return
        batch.answer.set_result(remember_silence(batch.site.state, readings))

    async def _told(self, batch: _Batch) -> dict[str, Reading]:
        """Return what the reader was told, and by a run of Ansible what it passes on to one."""
        passed: dict[str, str] = {}
        count = Count(len(batch.wanted), batch.listeners)

        def take(event: Event) -> None:
            if event["kind"] == "pass":
                passed[event["host"]] = event["why"]
            else:
                count.take(event)

        wanted = {host: frozenset(names) for host, names in batch.wanted.items()}
        result = await self._run(job_of(batch.site, wanted, READER), self._stop, take)
        readings = {host: reading_of(result, host, names) for host, names in wanted.items() if host not in passed}
        if passed:
            rest = {host: wanted[host] for host in passed}
            result = await self._run(job_of(batch.site, rest, WORKER), self._stop, count.take)
            readings |= {host: reading_of(result, host, wanted[host], why) for host, why in passed.items()}
        return readings


def job_of(site: Site, wanted: Wanted, worker: Path) -> Job:
    """Return the job of a read: for the reader, or for a run of Ansible."""
    return Job(
        site=site,
        playbook=READ_PLAYBOOK,
        hosts=tuple(sorted(wanted)),
        what="a read",
        forks=FORKS,
        timeout_s=TIMEOUT_S + TIMEOUT_OF_A_HOST_S * len(wanted),
        lock=False,
        secrets=False,
        settings=SETTINGS if worker == READER else SETTINGS | ALONE,
        collect_facts=True,
        host_variables={host: {WANTED_VARIABLE: sorted(names)} for host, names in wanted.items()},
        worker=worker,
    )


def _only(reading: Reading, names: frozenset[str]) -> Reading:
    return Reading(
        {name: value for name, value in reading.facts.items() if name in names},
        {name: why for name, why in reading.errors.items() if name in names},
        reading.since,
        reading.by_ansible,
    )


def reading_of(result: RunResult, host: str, names: frozenset[str], by_ansible: str | None = None) -> Reading:
    """Return one host's answer: facts that came before it fell silent count, the others could not be read."""
    facts = {name: value for name, value in result.facts.get(host, {}).items() if name in names}
    errors = {name: why for name, why in result.errors.get(host, {}).items() if name in names}
    trouble = result.trouble.get(host)
    if trouble is not None:
        silent = isinstance(trouble, Unreachable)
        why = f"unreachable: {trouble.message}" if silent else trouble.message
        errors |= dict.fromkeys(names - facts.keys() - errors.keys(), why)
    return Reading(facts, errors, by_ansible=by_ansible)


def remember_silence(state: Path, readings: dict[str, Reading]) -> dict[str, Reading]:
    """
    Add to each reading since when its host does not answer, and remember it for the next one.

    When each host last told something is kept too: the drift report says by it how old a fact is. The files are no part
    of any state: without them, a host is silent since now, and nobody knows how old its facts are.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    silent = {host for host, reading in readings.items() if any(_is_silence(why) for why in reading.errors.values())}
    known = kept(state / SILENT_SINCE)
    others = {host: since for host, since in known.items() if host not in readings}
    after = keep(state / SILENT_SINCE, known, others | {host: known.get(host, now) for host in silent})
    told = kept(state / READ_AT_FILE)
    keep(state / READ_AT_FILE, told, told | {host: now for host, reading in readings.items() if reading.facts})
    return {host: replace(reading, since=after.get(host)) for host, reading in readings.items()}


def _is_silence(why: str) -> bool:
    return why.startswith("unreachable")
