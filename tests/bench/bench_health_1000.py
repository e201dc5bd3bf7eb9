"""
A reading of the health of 1,000 nodes, kernel logs, GPUs and the event logs of their BMCs, by `coldaisle health`.

The first reading takes a day of each kernel's log, and the second what has come since: the one that `--watch` has.
Hosts are light ones and BMCs protocol-only (see ladder.py). COLDAISLE_BENCH_SCAN makes it fewer of them; the figures'
names then have that number.
"""

from __future__ import annotations

import sys

from tests.bench import halls
from tests.bench.bench_drift_scan_1000 import HOSTS


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds of the second of two readings; every node has to answer, and to be well."""
    name = f"health_{HOSTS}"
    with halls.turned_on(HOSTS) as found:
        command = [sys.executable, "-m", "coldaisle", "health", str(found.folder), "--json"]
        halls.spent(found, command)
        again, _told = halls.spent(found, command)
    return {
        f"{name}_s": again.wall_s,
        f"{name}_deploy_cpu_s": again.deploy_cpu_s,
        f"{name}_hosts_cpu_s": again.hosts_cpu_s,
    }
