"""
Which machine runs a playbook for which hosts: execution nodes near them where the site names some, else this one.

A job is split by the nodes of its hosts, and the parts run side by side, each with the locks of its own hosts. Where a
node is lost, its hosts are run again by the next node that serves them, then by the runner, as the site says; a run is
harmless to a host that was done already. What nobody took is told by host, and the next run goes on there.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from components.provider.batches import run_in_batches
from components.provider.outcome import RunResult, Stopped
from components.provider.parts import OnEvent, end_of, joined, line
from components.provider.run import READER, WORKER, Job, NodeLostError, run_playbook

if TYPE_CHECKING:
    from components.provider.site import ExecutionNode, Site

ONE_PLACE = frozenset({"bmc_firmware", "undo/bmc_firmware"})
"""
Playbooks that take one failure domain of the whole site after the other (bmc_turns of our collection): the order is
kept on the runner, and two nodes would each keep their own.
"""

RUNNER = "the runner"


def candidates(site: Site, playbook: str, host: str) -> tuple[str, ...]:
    """Return the execution nodes that a playbook goes through to a host, in order; none is the runner itself."""
    return () if playbook in ONE_PLACE else site.through(host)


def split(job: Job) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts of a job by their execution nodes."""
    found: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for host in job.hosts:
        found[candidates(job.site, job.playbook, host)].append(host)
    return {nodes: tuple(hosts) for nodes, hosts in found.items()}


def told(site: Site, playbook: str, hosts: Iterable[str]) -> str:
    """Return through what hosts are worked on, as a line shows it; empty where the site has no execution nodes."""
    if not site.execution_nodes:
        return ""
    count = Counter((candidates(site, playbook, host) or (RUNNER,))[0] for host in hosts)
    return ", ".join(f"{name} ({number})" for name, number in sorted(count.items()))


async def run_by_nodes(job: Job, stop: asyncio.Event, on_event: OnEvent) -> RunResult:
    """
    Run a job through the execution nodes of its hosts, to its end or until `stop` is set.

    Raises:
        RunError: as `run_playbook`, where no part of the job could be run.

    """
    parts = split(job)
    if set(parts) <= {()}:
        return await run_in_batches(job, stop, on_event)
    jobs = {hosts: _by_one_of(replace(job, hosts=hosts), nodes, stop, on_event) for nodes, hosts in parts.items()}
    ends = await asyncio.gather(*map(end_of, jobs.values()))
    return joined(job.hosts, dict(zip(jobs, ends, strict=True)))


async def _by_one_of(job: Job, names: tuple[str, ...], stop: asyncio.Event, on_event: OnEvent) -> RunResult:
    known, changed, why = job.site.execution_nodes, set[str](), ""
    nodes: list[ExecutionNode | None] = [known[name] for name in names]
    nodes += [None] if not nodes or job.site.runner_stands_in else []
    for node in nodes:
        if stop.is_set() and why:
            break
        try:
            run = run_in_batches if node is None else run_playbook
            done = await run(_through(job, node), stop, on_event)
        except NodeLostError as error:
            name = node.name if node else RUNNER
            why = f"execution node {name} was lost: {line(error)}"
            on_event({"kind": "node", "text": f"{why}; its {len(job.hosts)} hosts are taken up again"})
            changed |= error.result.changed
            continue
        return replace(done, changed=done.changed | changed)
    return RunResult(job.hosts, dict.fromkeys(job.hosts, Stopped(why)), changed=changed)


def _through(job: Job, node: ExecutionNode | None) -> Job:
    """Return a job for a node: what reads without a run of Ansible works from this machine only."""
    worker = WORKER if node is not None and job.worker == READER else job.worker
    return replace(job, node=node, worker=worker)
