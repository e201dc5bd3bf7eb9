"""
A ladder of halls: power-on to accepted of 100, 1,000 and 4,500 hosts, phase by phase, and a sweep of concurrency.

Hosts are light ones (sim.light): a real SSH server, sudo and Python each, in namespaces and over a root of its own; no
init and no kernel of its own. They are containers, then, and no guests. BMCs are protocol-only: Redfish for one half
and IPMI for the other, from programs that answer at an address each, and turn the host on. GPUs, and the tools of
acceptance that ask them, are stand-ins. Times of firmware and of memory training, minutes on a real server, are not in
any figure: what is measured is our own part.

COLDAISLE_BENCH_LADDER makes the hall of the sweep smaller or larger than 100 hosts, and COLDAISLE_BENCH_FORKS lists
other concurrencies.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from coldaisle.cli.exit_codes import ExitCode
from components.play import DEFAULT_FORKS
from sim.hall import site as hall_site
from tests.bench import halls
from tests.bench.meter import ROOT, NotMeasuredError
from tests.hall_sites import Hall

RUNGS = (100, 1_000, 4_500)
SWEPT_HOSTS = int(os.environ.get("COLDAISLE_BENCH_LADDER", "100"))
SWEPT_FORKS = tuple(map(int, os.environ.get("COLDAISLE_BENCH_FORKS", f"5,10,{DEFAULT_FORKS},50,100").split(",")))
KEPT = ROOT / "build" / "bench"

PLAYS = {"power-on": "bmc", "os": "os", "gpu": "gpu", "verify": "verify"}
PHASES = ("power-on", "boot", "os", "gpu", "verify", "accept")
"""In their order: `boot` is from the end of power-on until the last SSH server answers."""

KINDS = (
    "hosts are light ones (containers: a real SSH server and Python in namespaces, no kernel of their own), none is a"
    " guest; BMCs are protocol-only, half Redfish and half IPMI; GPUs and acceptance tools are stand-ins"
)

HOST_MIB = 4.0
"""Memory of a light host and its BMC, with what the kernel keeps for them: 3.4 MiB in a hall of 1,000."""

ACCEPT = (
    "import coldaisle.cli.accept_run as run, sys\n"
    "from coldaisle.cli import main\n"
    "run.FORKS = int(sys.argv.pop(1))\n"
    "main()"
)
"""The command, with another concurrency than its own."""

ACCEPTED, ANSWERED = "accepted", (ExitCode.CLEAN, ExitCode.COULD_NOT_TELL, ExitCode.CHECK_FAILED)
"""The result of a host, and the exit statuses of a run that told of each: passed, not to be told, failed."""

TRIES = 2
"""Runs of a phase at most: one host in thousands that did not answer is done by a second one, as by a second `up`."""

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Climb:
    """
    One bring-up of a hall, from power-on to accepted.

    Args:
        hosts: Hosts of the hall.
        forks: Hosts that a play works on at once.
        wall_s: Seconds of each phase, in their order.
        cpu_s: CPU seconds of each phase, on the deploy host, the hosts and in the BMCs together.
        deploy_cpu_s: Those on the deploy host alone.
        memory_mib: Of hosts and BMCs when all are up.
        load: Load average of the machine before it began: what else it did.

    """

    hosts: int
    forks: int
    wall_s: dict[str, float]
    cpu_s: dict[str, float]
    deploy_cpu_s: dict[str, float]
    memory_mib: float
    load: float

    @property
    def total_s(self) -> float:
        """Seconds from power-on to accepted."""
        return sum(self.wall_s.values())


def rung(hosts: int) -> Figures:
    """Return the figures of a hall of so many hosts at the product's own settings."""
    _require_memory(hosts)
    with halls.up(hosts) as found:
        climbed = climb(found, hosts, DEFAULT_FORKS, accept_forks=None)
    sys.stderr.write(f"ladder_{hosts}: {KINDS}; load average before: {climbed.load:.1f}\n")
    return {
        f"ladder_{hosts}_s": climbed.total_s,
        **{f"ladder_{hosts}_{phase}_s": climbed.wall_s[phase] for phase in PHASES},
        f"ladder_{hosts}_cpu_s": sum(climbed.cpu_s.values()),
        f"ladder_{hosts}_deploy_cpu_s": sum(climbed.deploy_cpu_s.values()),
        f"ladder_{hosts}_host_mib": climbed.memory_mib / hosts,
    }


def sweep() -> Figures:
    """Bring one hall up at several concurrencies, keep the measurements and their picture, and return the totals."""
    from tests.bench.ladder_picture import picture  # noqa: PLC0415 - it draws what is measured here

    done = []
    with halls.up(SWEPT_HOSTS) as found:
        for forks in SWEPT_FORKS:
            found.renew()
            done.append(climb(found, SWEPT_HOSTS, forks, accept_forks=forks))
            _keep(done)
    (KEPT / "ladder.svg").write_text(picture(done), encoding="utf-8")
    sys.stderr.write(f"ladder_sweep: {KINDS}; measurements and picture: {KEPT}/ladder.json, ladder.svg\n")
    return {f"ladder_sweep_{SWEPT_HOSTS}_forks_{each.forks}_s": each.total_s for each in done}


def _keep(done: Sequence[Climb]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / "ladder.json").write_text(json.dumps([asdict(each) for each in done], indent=1) + "\n", encoding="utf-8")


def climb(found: Hall, hosts: int, forks: int, *, accept_forks: int | None) -> Climb:
    """
    Bring up every host of a hall that is off, phase by phase.

    Acceptance has a concurrency of its own, which stays where `accept_forks` is None.
    """
    load = os.getloadavg()[0]
    found.plays("prepare", str(forks))
    spent = {}
    for phase in PHASES:
        if phase == "boot":
            spent[phase] = halls.booted(found)
        elif phase == "accept":
            spent[phase] = _accepted(found, hosts, accept_forks)
        else:
            spent[phase] = halls.plays(found, "apply", PLAYS[phase], tries=TRIES)
        sys.stderr.write(f"{hosts} hosts, {phase}: {spent[phase].wall_s:.1f} s, {spent[phase].cpu_s:.0f} CPU s\n")
    return Climb(
        hosts=hosts,
        forks=forks,
        wall_s={phase: each.wall_s for phase, each in spent.items()},
        cpu_s={phase: each.cpu_s + each.bmcs_cpu_s for phase, each in spent.items()},
        deploy_cpu_s={phase: each.deploy_cpu_s for phase, each in spent.items()},
        memory_mib=hall_site.status(found.name).memory_bytes / 2**20,
        load=load,
    )


def _accepted(found: Hall, hosts: int, forks: int | None) -> halls.Spent:
    """Run `coldaisle accept` with its quick tests; every host has to pass, in a second run of those that did not."""
    words = ["accept", str(found.folder), "--json"]
    command = ["-m", "coldaisle", *words] if forks is None else ["-c", ACCEPT, str(forks), *words]
    taken, results, short = halls.NOTHING, dict[str, str](), ""
    for _ in range(TRIES):
        left = [word for node, result in results.items() if result != ACCEPTED for word in ("--node", node)]
        once, told = halls.spent(found, [sys.executable, *command, *left], allowed=ANSWERED)
        taken += once
        results |= {node: body["result"] for node, body in json.loads(told)["nodes"].items()}
        accepted = sum(result == ACCEPTED for result in results.values())
        if accepted == hosts:
            return taken
        short = f"{accepted} of {hosts} hosts were accepted"
        sys.stderr.write(f"{short}\n")
    raise NotMeasuredError(short)


def _require_memory(hosts: int) -> None:
    """Refuse a hall that this machine has no memory for: a machine that runs out of it ends what others do."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    free_mib = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable:"))
    if hosts * HOST_MIB > free_mib:
        raise NotMeasuredError(f"{hosts} hosts take {hosts * HOST_MIB:.0f} MiB, and {free_mib:.0f} MiB are free")


FIGURES: dict[str, Callable[[], Figures]] = {
    **{f"ladder_{hosts}": partial(rung, hosts) for hosts in RUNGS},
    "ladder_sweep": sweep,
}
