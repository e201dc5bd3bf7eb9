"""
A scan for drift of 1,000 hosts and their BMCs, and how long a change of one of them stays unseen.

Hosts are light ones and BMCs protocol-only (see ladder.py); they are turned on and not set up, so that nearly every
fact differs: a scan asks each for all facts of its plays whatever the answers are. Two connections a BMC are the
product's own limit. A change shows in the scan that begins after it: with one scan after another, it is found after two
of them at most. COLDAISLE_BENCH_SCAN makes it fewer hosts; the figures' names then have that number.
"""

from __future__ import annotations

import json
import os

from tests.bench import halls
from tests.bench.halls import Spent
from tests.bench.meter import NotMeasuredError
from tests.hall_sites import Hall

HOSTS = int(os.environ.get("COLDAISLE_BENCH_SCAN", "1000"))


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds of a scan, and of a scan of the BMCs alone."""
    name = f"drift_scan_{HOSTS}"
    with halls.turned_on(HOSTS) as found:
        bmcs, whole = _scan(found, "bmc"), _scan(found, "bmc", "os", "gpu", "verify")
    return {
        f"{name}_s": whole.wall_s,
        f"{name}_deploy_cpu_s": whole.deploy_cpu_s,
        f"{name}_hosts_cpu_s": whole.hosts_cpu_s,
        f"{name}_found_after_s": 2 * whole.wall_s,
        f"{name}_bmcs_s": bmcs.wall_s,
        f"{name}_bmcs_deploy_cpu_s": bmcs.deploy_cpu_s,
    }


def _scan(found: Hall, *playbooks: str) -> Spent:
    """Read all plays of some playbooks, as though they had been seen as planned before; every host has to answer."""
    kept, asked = found.folder / "inputs.json", found.folder / "outputs.json"
    inputs = json.loads(kept.read_text())
    asked.write_text(json.dumps({play: it for play, it in inputs.items() if it["playbook"] in playbooks}))
    spent, told = halls.spent(found, found.plays_command("read", str(HOSTS)))
    reasons = json.loads(told.splitlines()[-1])["reasons"]
    if silent := [reason for each in reasons.values() for reason in each if "unreachable" in reason]:
        raise NotMeasuredError(f"not every host answered: {silent[0][:200]}")
    return spent
