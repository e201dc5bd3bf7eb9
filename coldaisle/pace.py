"""How many hosts a run of Ansible has, and how often it looks for what they have done: the fewer hosts, the sooner."""

from __future__ import annotations

from configparser import ConfigParser
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOSTS_A_RUN = 250
"""
Ansible forks its own process for each task of each host, which has 75 MiB by itself and 0.15 MiB a host: from some
hundred on, the fork costs more than the task. A run takes two seconds of CPU before its first host.
"""

SHORTEST_S, LONGEST_S, HOSTS_A_SECOND = 0.001, 0.25, 10_000
"""
Ansible looks a thousand times a second by itself. Each look of its strategy host_pinned is at all hosts that are at
their end, 10 to 20 us of CPU each, so that with thousands of them it would do little else. With this it takes about a
tenth of a core, and no host waits for more than a few looks at a task.
"""


def shares(hosts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return hosts as those of runs of about the same number each; one where that is enough."""
    count = max(1, -(-len(hosts) // HOSTS_A_RUN))
    cuts = [number * len(hosts) // count for number in range(count + 1)]
    return [tuple(hosts[start:end]) for start, end in pairwise(cuts)]


def write_settings(file: Path, hosts: int, own: Path | None = None) -> None:
    """Write an ansible.cfg for a run on so many hosts, with all that `own` has, where that is a file."""
    settings = ConfigParser(interpolation=None)
    if own is not None:
        settings.read(own, encoding="utf-8")  # a file that is not there has no settings
    if not settings.has_section("defaults"):
        settings.add_section("defaults")
    wait_s = min(LONGEST_S, max(SHORTEST_S, hosts / HOSTS_A_SECOND))
    settings["defaults"].setdefault("internal_poll_interval", f"{wait_s:g}")
    with file.open("w", encoding="utf-8") as stream:
        settings.write(stream)
