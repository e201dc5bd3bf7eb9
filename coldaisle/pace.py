"""How often a run of Ansible looks for what its hosts have done: the fewer hosts, the sooner."""

from __future__ import annotations

from configparser import ConfigParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SHORTEST_S, LONGEST_S, HOSTS_A_SECOND = 0.001, 0.25, 10_000
"""
Ansible looks a thousand times a second by itself. Each look of its strategy host_pinned is at all hosts that are at
their end, 10 to 20 us of CPU each, so that with thousands of them it would do little else. With this it takes about a
tenth of a core, and no host waits for more than a few looks at a task.
"""


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
