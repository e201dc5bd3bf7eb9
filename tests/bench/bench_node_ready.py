"""
From a host's power-on to its node Ready, in the simulated site: one guest by itself, and all guests at once.

Each round turns guests off at their BMCs and takes their nodes out of the cluster. `pulumi up` then finds them silent,
turns them on, and brings them up from the network by every play; net-booted hosts keep nothing but their keys. Counted
is from the start of the guest's process to the node's own record of when it became Ready, not what the engine does
before and after.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from datetime import datetime
from pathlib import Path

from coldaisle.check import open_site
from coldaisle.toolchain import site
from sim.processes import ProcessGroups
from tests.bench.meter import NotMeasuredError
from tests.e2e.terminal import SITE, Terminal

ROUNDS = 5
OFF_S = 3


def figures() -> dict[str, float]:
    """Return the median of some rounds with one guest, and one round with all of them."""
    if not site.is_up():
        raise NotMeasuredError("the simulated site is not up: make up")
    terminal = Terminal(open_site(Path("inventory", "sim")).plan)
    guests = [node.name for node in terminal.plan.nodes if node.boot == "network"]
    alone = [brought_up(terminal, guests[:1]) for _ in range(ROUNDS)]
    return {
        "node_ready_s": statistics.median(alone),
        "node_ready_slowest_s": max(alone),
        f"node_ready_{len(guests)}_s": brought_up(terminal, guests),
    }


def brought_up(terminal: Terminal, names: list[str], *more: str) -> float:
    """Turn guests off, bring them up again by `pulumi up` with more words, and return the seconds of the slowest."""
    for name in names:
        terminal.power(name, "off")
        terminal.kubectl("delete", "node", name)
    time.sleep(OFF_S)
    terminal.up(*more)
    return max(_ready_since(terminal, name) - _started(name) for name in names)


def _ready_since(terminal: Terminal, name: str) -> float:
    """Return when a node became Ready, as seconds since the epoch."""
    conditions = json.loads(terminal.kubectl("get", "node", name, "-o", "json"))["status"]["conditions"]
    [ready] = [each for each in conditions if (each["type"], each["status"]) == ("Ready", "True")]
    return datetime.fromisoformat(ready["lastTransitionTime"]).timestamp()


def _started(name: str) -> float:
    """Return when a guest's emulator was started: its BMC's last power-on, as seconds since the epoch."""
    emulator = min(ProcessGroups(SITE).pids(name))
    since_boot_s = int(Path(f"/proc/{emulator}/stat").read_text().rpartition(") ")[2].split()[19]) / os.sysconf(
        "SC_CLK_TCK"
    )
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + since_boot_s
