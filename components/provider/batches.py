"""
A job of thousands of hosts as runs of a few hundred each (`coldaisle.pace`).

A run begins when the one before it has begun with its last host, so that a host which does not answer holds back nobody
but the end of its own run.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import monotonic

from coldaisle.pace import shares
from components.provider.outcome import RunResult, Stopped
from components.provider.parts import End, OnEvent, end_of, joined
from components.provider.run import WORKER, Event, Job, run_playbook

RUNS_AT_ONCE = 4
"""Runs that wait for hosts which do not answer, and the one that goes on."""

APART = frozenset({"bmc", "os", "rdma", "gpu", "verify", "read"})
"""Playbooks in which no host waits for another one."""


def batches(job: Job) -> list[Job]:
    """Return a job as its runs; one where that is enough, or is asked for."""
    if job.playbook not in APART or job.worker != WORKER:
        return [job]
    return [replace(job, hosts=hosts) for hosts in shares(job.hosts)]


async def run_in_batches(job: Job, stop: asyncio.Event, on_event: OnEvent) -> RunResult:
    """
    Run a job to its end, or until `stop` is set. A run that fails as a whole fails its own hosts.

    Raises:
        RunError: as `run_playbook`, where no run of the job could be started.

    """
    parts = batches(job)
    if len(parts) == 1:
        return await run_playbook(job, stop, on_event)
    turns, deadline = asyncio.Semaphore(RUNS_AT_ONCE), monotonic() + job.timeout_s
    runs: list[asyncio.Task[End]] = []

    async def run(part: Job, begun: asyncio.Event) -> End:
        try:
            left_s = int(deadline - monotonic())
            if stop.is_set() or left_s <= 0:
                return _not_begun(part, job.timeout_s, stopped=stop.is_set())
            watched = _watched(part, begun, on_event)
            return await end_of(run_playbook(replace(part, timeout_s=left_s), stop, watched))
        finally:
            begun.set()
            turns.release()

    async with asyncio.TaskGroup() as tasks:
        for part in parts:
            await turns.acquire()
            begun = asyncio.Event()
            runs.append(tasks.create_task(run(part, begun)))
            await begun.wait()
    return joined(job.hosts, {part.hosts: each.result() for part, each in zip(parts, runs, strict=True)})


def _watched(job: Job, begun: asyncio.Event, on_event: OnEvent) -> OnEvent:
    """Return what takes the events of a run, and sets `begun` when its last host has begun."""
    waiting = set(job.hosts)

    def take(event: Event) -> None:
        if event["kind"] == "task":
            waiting.discard(event["host"])
            if not waiting:
                begun.set()
        on_event(event)

    return take


def _not_begun(job: Job, timeout_s: int, *, stopped: bool) -> RunResult:
    why = "stopped" if stopped else f"not finished after {timeout_s} s"
    return RunResult(job.hosts, dict.fromkeys(job.hosts, Stopped(f"{why} before its first task")))
