"""
Every play of bring-up, cut off at the beginning of each of its steps: by `kill -9` of its runner, and by ^C.

The hosts are real ones of the simulated site, with something of what the play manages broken by hand before each cut.
The next run must end as planned, which its last step reads back; the one after the last finds nothing to do. Nothing
may have happened twice: the machine was not turned off and on again, and its node in the cluster is the same object.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coldaisle.drift.equality import same
from coldaisle.paths import state_dir
from coldaisle.render.digests import play_hosts
from components.provider.orphans import MARK, marked
from components.provider.outcome import RunResult, Stopped
from components.provider.reading import Reader
from components.provider.run import Event, Job, RunError, run_playbook
from components.provider.site import open_site
from tests.e2e.terminal import SITE, Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.drill]

HOST, GUEST, LEAF, PROVISIONER = "r01-n02", "r01-n01", "leaf01", "prov01"
ARGUMENT_CHECK = "Validating arguments"


@dataclass(frozen=True)
class Subject:
    """A play as the plan names it, its playbook, a host of it, and how something of it is broken on that host."""

    play: str
    playbook: str
    host: str
    wreck: Callable[[Terminal], object]


SUBJECTS = (
    Subject("pxe", "pxe", PROVISIONER, lambda site: site.on(PROVISIONER, _gone("pxe_files", PROVISIONER))),
    Subject(
        "bmc-light", "bmc", HOST, lambda site: site.run("coldaisle", "sim", "fault", SITE, "boot-order-drift", HOST)
    ),
    Subject("os-light", "os", HOST, lambda site: site.on(HOST, f"ip link set rail0 mtu 1400; {_gone('os_files')}")),
    Subject("rdma-guests", "rdma", GUEST, lambda site: site.on(GUEST, _gone("rdma_files", GUEST))),
    Subject("gpu-light", "gpu", HOST, lambda site: site.on(HOST, _gone("gpu_files"))),
    Subject(
        "kubernetes-light",
        "kubernetes",
        HOST,
        lambda site: site.kubectl("label", "node", HOST, "coldaisle.io/rack=r99", "--overwrite"),
    ),
    Subject(
        "fabric-compute",
        "fabric",
        LEAF,
        lambda site: site.on(LEAF, "vtysh -c 'configure terminal' -c 'interface swp1' -c 'description mine'"),
    ),
)


def _gone(variable: str, host: str = HOST) -> str:
    """Return the command that removes the first file which a play writes on a host."""
    files = open_site(f"inventory/{SITE}").inventory["all"]["hosts"][host][variable]
    return f"rm -f {files[0]['path']}"


@pytest.fixture
def subject(request: pytest.FixtureRequest, site: Terminal, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """Return a play, with the environment in which its provider would run."""
    for name, value in site.env.items():
        monkeypatch.setenv(name, value)
    found: Subject = request.param
    return found


@pytest.mark.parametrize("subject", SUBJECTS, indirect=True, ids=[each.play for each in SUBJECTS])
def test_a_play_cut_off_at_any_step_ends_as_planned_later(site: Terminal, subject: Subject) -> None:
    """Whichever step was cut off, and however: the next run repairs, the one after it has nothing to do."""
    before = identity(site, subject)
    steps = _steps(subject)
    assert steps
    for step in range(len(steps)):
        for cut in (kill_the_worker, ask_to_stop):
            subject.wreck(site)
            cut(subject, step)
            again = run(subject)
            assert not again.trouble, f"{cut.__name__} at {steps[step]}: {again.trouble}"
    assert unlike_the_plan(site, subject) == []
    assert not run(subject).changed
    assert identity(site, subject) == before


def identity(site: Terminal, subject: Subject) -> tuple[str, str]:
    """Return what changes when a machine is turned off and on, or joins its cluster once more."""
    if subject.host == LEAF:
        return site.on(LEAF, "pgrep -o bgpd"), ""
    if subject.host == PROVISIONER:
        return site.on(PROVISIONER, "stat -c %Y /proc/1"), ""
    node = site.kubectl("get", "node", subject.host, "-o", "jsonpath={.metadata.uid}")
    return site.on(subject.host, "stat -c %Y /proc/1"), node


def unlike_the_plan(site: Terminal, subject: Subject) -> list[str]:
    """Read what the play manages back, and return the facts that are not as planned."""
    planned = {k: v for k, v in play_hosts(site.plan)[subject.play][subject.host].items() if k != "varsDigest"}

    async def seen() -> dict[str, Any]:
        wanted = {subject.host: frozenset(planned)}
        return (await Reader(asyncio.Event()).read(open_site(f"inventory/{SITE}"), wanted))[subject.host].facts

    facts = asyncio.run(seen())
    return [name for name, value in planned.items() if name not in facts or not same(name, value, facts[name])]


def run(
    subject: Subject, on_event: Callable[[Event], None] = lambda _: None, stop: asyncio.Event | None = None
) -> RunResult:
    """Run the play on its host as the provider does."""
    job = Job(open_site(f"inventory/{SITE}"), subject.playbook, (subject.host,), "a test", timeout_s=300)

    async def played() -> RunResult:
        return await run_playbook(job, stop or asyncio.Event(), on_event)

    return asyncio.run(played())


def kill_the_worker(subject: Subject, step: int) -> None:
    """Kill the runner at the beginning of a step; what it had started must end with it."""
    with pytest.raises(RunError, match="ended without a result"):
        run(subject, _at(step, lambda: os.kill(_worker(), signal.SIGKILL)))
    assert not _left_over()


def ask_to_stop(subject: Subject, step: int) -> None:
    """Stop as ^C does, at the beginning of a step; a last step may have ended before it was told."""
    stop = asyncio.Event()
    trouble = run(subject, _at(step, stop.set), stop).trouble
    assert all(isinstance(why, Stopped) for why in trouble.values()), trouble


def _at(step: int, do: Callable[[], object]) -> Callable[[Event], None]:
    seen = 0

    def on_event(event: Event) -> None:
        nonlocal seen
        if _starts(event):
            seen += 1
            if seen == step + 1:
                do()

    return on_event


def _steps(subject: Subject) -> list[str]:
    found: list[str] = []
    run(subject, lambda event: found.append(event["task"]) if _starts(event) else None)
    return found


def _starts(event: Event) -> bool:
    return event["kind"] == "task" and event["state"] == "start" and ARGUMENT_CHECK not in event["task"]


def _worker() -> int:
    """Return the process that runs the play now."""
    [found] = [pid for pid in _children(os.getpid()) if b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return found


def _left_over() -> list[int]:
    """Return the processes that belong to a run of the site, whoever their parent is now."""
    wanted = f"{MARK}={state_dir(SITE) / 'runs'}/".encode()
    return marked(lambda line: line.startswith(wanted))


def _children(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for path in tasks for pid in path.read_text().split()]
