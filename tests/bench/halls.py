"""
Halls of light hosts for the figures of scale, and what a command on one costs: wall time, and CPU of every side of it.

CPU is read from the cgroups of the simulation, so that what outlives a command (a shared SSH connection) is counted,
and what hosts and BMCs do for it is told apart. COLDAISLE_BENCH_HOSTS and COLDAISLE_BENCH_BMCS make a smaller hall, to
try the figures out; the names of the figures then have the smaller number.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass
from functools import cache
from itertools import count
from pathlib import Path

from sim.errors import SimError
from sim.hall.site import INVENTORY
from sim.processes import ProcessGroups
from tests.bench.meter import ROOT, NotMeasuredError
from tests.hall_sites import Hall, hall

HOSTS = int(os.environ.get("COLDAISLE_BENCH_HOSTS", "128"))
BMCS = int(os.environ.get("COLDAISLE_BENCH_BMCS", "256"))
PLAYBOOKS = ("bmc", "os", "gpu", "verify")
"""What brings a light host up, in the order of the plan's plays."""

SHOWN_CHARACTERS = 600

_numbers = count()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took: seconds, and CPU seconds on the deploy host, on the hosts, and in the simulated BMCs."""

    wall_s: float
    deploy_cpu_s: float
    hosts_cpu_s: float
    bmcs_cpu_s: float

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the deploy host and of the hosts; the BMCs are programs only here."""
        return self.deploy_cpu_s + self.hosts_cpu_s

    def __add__(self, other: Spent) -> Spent:
        """Return what this and another one took together."""
        mine, others = astuple(self), astuple(other)
        return Spent(*(one + another for one, another in zip(mine, others, strict=True)))


NOTHING = Spent(0.0, 0.0, 0.0, 0.0)


def spent(found: Hall, command: Sequence[str], allowed: Sequence[int] = (0,)) -> tuple[Spent, str]:
    """
    Run a command on the deploy host of a hall, and return what it took and what it printed.

    It begins without open connections, as a first command does, and none of its own is left.

    Raises:
        NotMeasuredError: it ended with a status that is not `allowed`.
    """
    groups, name = ProcessGroups(found.state.site), f"bench-{next(_numbers)}"
    before, started = _cpu_s(groups), time.monotonic()
    done = subprocess.run(
        groups.joined(name, found.command(*command)),
        cwd=ROOT,
        env=found.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, deploy, after = time.monotonic() - started, groups.cpu_s(name), _cpu_s(groups)
    groups.stop(name, grace_s=0)
    if done.returncode not in allowed:
        tail = " / ".join((done.stdout + done.stderr).strip().splitlines()[-6:])
        raise NotMeasuredError(f"`{' '.join(command[:4])}` exited {done.returncode}: {tail}")
    if deploy is None:
        raise NotMeasuredError("the kernel's cgroups do not count CPU time (cpu.stat of a cgroup2 tree)")
    return Spent(wall, deploy, after["hosts"] - before["hosts"], after["bmcs"] - before["bmcs"]), done.stdout


def _cpu_s(groups: ProcessGroups) -> dict[str, float]:
    """Return the CPU seconds of all hosts, and of all BMCs, since they were started."""
    found = {"hosts": 0.0, "bmcs": 0.0}
    for name in (name for name in groups.names() if not name.startswith("bench-")):
        found["bmcs" if name.startswith("bmc-") else "hosts"] += groups.cpu_s(name) or 0.0
    return found


def inventory(found: Hall) -> Path:
    """Return the inventory of a hall."""
    return found.state.folder / INVENTORY


def playbooks(found: Hall, *options: str, names: Sequence[str] = PLAYBOOKS) -> list[str]:
    """Return the words of a plain ansible-playbook on all hosts of a hall, with the project's ansible.cfg."""
    return ["ansible-playbook", "-i", str(inventory(found)), *options, *(f"playbooks/{name}.yml" for name in names)]


@cache
def shared() -> Hall:
    """Return the hall of light hosts that the figures of one run share; it is removed when the run ends."""
    stack = ExitStack()
    found = stack.enter_context(up(HOSTS))
    atexit.register(stack.close)
    found.plays("prepare")
    return found


@cache
def applied() -> Hall:
    """Return the shared hall with every play applied by the provider, and no connection left open by it."""
    found = shared()
    if not (found.folder / "outputs.json").exists():
        plays(found, "apply")
    return found


@contextmanager
def up(hosts: int) -> Iterator[Hall]:
    """Have a hall up; one that cannot be started is not measured."""
    try:
        with hall(hosts) as found:
            yield found
    except SimError as error:
        raise NotMeasuredError(str(error)) from error


@contextmanager
def turned_on(hosts: int) -> Iterator[Hall]:
    """Have a hall whose hosts are on and not set up."""
    with up(hosts) as found:
        found.plays("prepare")
        plays(found, "apply", "bmc")
        booted(found)
        yield found


def booted(found: Hall) -> Spent:
    """Wait until the SSH server of every host of a hall answers, and return what that took."""
    addresses = [node.management_address.partition("/")[0] for node in found.plan.nodes]
    return spent(found, [sys.executable, "-m", "tests.bench.answering", *addresses])[0]


def plays(found: Hall, verb: str, *arguments: str, tries: int = 1) -> Spent:
    """
    Run plays of a hall by the provider's own path (tests.hall_plays), and return what that took.

    With more `tries` they are run again where there was trouble, as by a second `up`; why is told on standard error.

    Raises:
        NotMeasuredError: there was trouble, or a difference, in the last one, too.
    """
    taken, trouble = NOTHING, ""
    for _ in range(tries):
        once, told = spent(found, found.plays_command(verb, *arguments))
        taken += once
        said = json.loads(told.splitlines()[-1])
        if not (said.get("reasons") or said.get("changes")):
            return taken
        trouble = f"the plays {' '.join(arguments)} did not end well: {str(said)[:SHOWN_CHARACTERS]}"
        sys.stderr.write(f"{trouble}\n")
    raise NotMeasuredError(trouble)
