"""A job of many hosts as several runs: who is in which, when the next one begins, and how they end together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coldaisle import pace
from coldaisle.pace import HOSTS_A_RUN
from components.provider import batches as product
from components.provider.batches import RUNS_AT_ONCE, batches, run_in_batches
from components.provider.outcome import Failed, RunResult, Stopped
from components.provider.parts import OnEvent
from components.provider.plays import InitFailedError
from components.provider.run import READER, Event, Job, RunError
from components.provider.site import Site
from tests.provider.conftest import Engine, Floor


def job(hosts: int, playbook: str = "os", **changes: object) -> Job:
    """Return a job on so many hosts of a site that nobody asks."""
    names = tuple(f"n{number}" for number in range(hosts))
    return Job(Site("floor", {}, Path()), playbook, names, "a test", **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hosts", "sizes"),
    [
        (0, {0}),
        (1, {1}),
        (HOSTS_A_RUN, {HOSTS_A_RUN}),
        (HOSTS_A_RUN + 1, {125, 126}),
        (4_500, {250}),
        (4_501, {236, 237}),
    ],
)
def test_runs_have_about_the_same_number_of_hosts(hosts: int, sizes: set[int]) -> None:
    """No host is lost or twice, the order stays, and no run is larger than it has to be."""
    found = batches(job(hosts))
    assert {len(part.hosts) for part in found} == sizes
    assert tuple(host for part in found for host in part.hosts) == job(hosts).hosts


@pytest.mark.parametrize("one", [job(1_000, "accept"), job(1_000, "kubernetes"), job(1_000, "read", worker=READER)])
def test_hosts_that_need_each_other_stay_in_one_run(one: Job) -> None:
    """Tests between hosts go round by round; and what reads without Ansible forks nothing."""
    assert batches(one) == [one]


@dataclass
class Runs:
    """Stands where runs of Ansible do. A host in `silent` begins and ends only when `answer` is set."""

    silent: set[str] = field(default_factory=set)
    broken: Callable[[Job], bool] = lambda _job: False
    answer: asyncio.Event = field(default_factory=asyncio.Event)
    began: list[str] = field(default_factory=list)
    at_once: int = 0
    most: int = 0

    async def run(self, part: Job, stop: asyncio.Event, on_event: OnEvent) -> RunResult:
        """Begin with one host after the other, and wait for those that are silent."""
        self.began.append(part.hosts[0])
        if self.broken(part):
            raise RunError(f"no run of {part.hosts[0]}")
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        for host in part.hosts:
            on_event({"kind": "task", "host": host, "task": "x", "state": "start", "message": "", "where": ""})
            await asyncio.sleep(0)
        if self.silent & set(part.hosts):
            await asyncio.wait(
                [asyncio.create_task(self.answer.wait()), asyncio.create_task(stop.wait())],
                return_when=asyncio.FIRST_COMPLETED,
            )
        self.at_once -= 1
        return RunResult(part.hosts, changed=set(part.hosts))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Return runs of two hosts each."""
    found = Runs()
    monkeypatch.setattr(pace, "HOSTS_A_RUN", 2)
    monkeypatch.setattr(product, "run_playbook", found.run)
    return found


def test_a_silent_host_holds_back_only_its_own_run(runs: Runs) -> None:
    """The next run begins when the last host of the one before has begun; what all have told is one result."""
    runs.silent = {"n1"}
    seen: list[str] = []

    def take(event: Event) -> None:
        seen.append(event["host"])
        if event["host"] == "n5":
            runs.answer.set()

    result = asyncio.run(run_in_batches(job(6), asyncio.Event(), take))
    assert runs.began == ["n0", "n2", "n4"]
    assert seen == list(job(6).hosts) == result.done
    assert result.changed == set(job(6).hosts)


def test_only_so_many_runs_wait_at_once(runs: Runs) -> None:
    """Where each run has a silent host, a few of them wait, and no more are begun."""
    hosts = job(4 * RUNS_AT_ONCE)
    runs.silent = set(hosts.hosts)

    async def watched() -> RunResult:
        whole = asyncio.create_task(run_in_batches(hosts, asyncio.Event(), lambda _event: None))
        await asyncio.sleep(0.1)  # long enough for all of them, if nothing held them back
        assert len(runs.began) == RUNS_AT_ONCE
        runs.answer.set()
        return await whole

    assert asyncio.run(watched()).trouble == {}
    assert runs.most == RUNS_AT_ONCE
    assert len(runs.began) == 2 * RUNS_AT_ONCE


def test_a_run_that_cannot_be_started_fails_its_own_hosts(runs: Runs) -> None:
    """The others go on; where none can be started, the job cannot."""
    runs.broken = lambda part: "n2" in part.hosts
    result = asyncio.run(run_in_batches(job(6), asyncio.Event(), lambda _event: None))
    assert result.trouble == dict.fromkeys(("n2", "n3"), Failed("", "no run of n2", ""))
    runs.broken = lambda _part: True
    with pytest.raises(RunError, match="no run of n0"):
        asyncio.run(run_in_batches(job(6), asyncio.Event(), lambda _event: None))


def test_after_a_stop_no_run_begins(runs: Runs) -> None:
    """Hosts of runs that were not begun are told as stopped, so that the next run goes on with them."""

    async def stopped() -> RunResult:
        stop = asyncio.Event()
        return await run_in_batches(job(6), stop, lambda event: stop.set() if event["host"] == "n1" else None)

    result = asyncio.run(stopped())
    assert runs.began == ["n0"]
    assert result.trouble == dict.fromkeys(("n2", "n3", "n4", "n5"), Stopped("stopped before its first task"))


def test_no_run_begins_after_the_time_of_the_job(runs: Runs) -> None:
    """The limit is that of all runs together."""
    result = asyncio.run(run_in_batches(job(4, timeout_s=0), asyncio.Event(), lambda _event: None))
    assert (runs.began, result.done) == ([], [])
    assert result.trouble["n0"] == Stopped("not finished after 0 s before its first task")


def test_real_runs_side_by_side(floor: Floor, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hosts in two runs of Ansible: each is run on once, one that is silent is told, and the others are done."""
    monkeypatch.setattr(pace, "HOSTS_A_RUN", 2)
    monkeypatch.setattr(product, "APART", frozenset({"settle"}))
    floor.write_inventory(unreachable=("h2",))
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(floor.inputs()))
    assert [floor.runs(name) for name in floor.names] == [1, 0, 1, 1]
    assert [line.partition(":")[0] for line in caught.value.reasons] == ["h2"]
    assert sorted(caught.value.outputs["hosts"]) == ["h1", "h3", "h4"]
