"""
A reading of the health of 1,000 nodes, kernel logs, GPUs and the event logs of their BMCs, by `coldaisle health`.

The first reading takes a day of each kernel's log, and the second what has come since: the one that `--watch` has.

Hosts are light ones and BMCs protocol-only (see ladder.py), with logs that have nothing new. COLDAISLE_BENCH_SCAN makes
it fewer of them; the figures' names then have that number.
"""

from __future__ import annotations

import json
import sys

from coldaisle.cli.exit_codes import ExitCode
from tests.bench import halls
from tests.bench.bench_drift_scan_1000 import HOSTS
from tests.bench.halls import Spent
from tests.bench.meter import NotMeasuredError
from tests.hall_sites import Hall


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds of the second of two readings; every host has to answer."""
    name = f"health_{HOSTS}"
    with halls.turned_on(HOSTS) as found:
        _reading(found)
        again = _reading(found)
    return {
        f"{name}_s": again.wall_s,
        f"{name}_deploy_cpu_s": again.deploy_cpu_s,
        f"{name}_hosts_cpu_s": again.hosts_cpu_s,
    }


def _reading(found: Hall) -> Spent:
    command = [sys.executable, "-m", "coldaisle", "health", str(found.folder), "--json"]
    spent, told = halls.spent(found, command, allowed=(ExitCode.CLEAN, ExitCode.COULD_NOT_TELL))
    if missing := [f"{node}: {notes[0]}" for node, notes in json.loads(told)["not_told"].items()]:
        raise NotMeasuredError(f"not every host and BMC answered: {missing[0][:200]}")
    return spent
