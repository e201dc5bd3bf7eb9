"""
A second run on hosts where nothing has changed: the provider reads all of them, compares, and runs no playbook.

The peer is a plain ansible-playbook, which runs every task of the same roles on the same hosts to find the same.
"""

from __future__ import annotations

from tests.bench import halls
from tests.bench.halls import HOSTS
from tests.bench.meter import NotMeasuredError


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds (deploy host and hosts) of both, and the ratio of the seconds."""
    found = halls.applied()
    ours = halls.plays(found, "read")
    peer, said = halls.spent(found, halls.playbooks(found))
    if said.count("changed=0 ") != said.count("changed="):
        raise NotMeasuredError("the plain ansible-playbook changed something: the hosts were not as planned")
    return {
        f"noop_{HOSTS}_s": ours.wall_s,
        f"noop_{HOSTS}_cpu_s": ours.cpu_s,
        f"noop_{HOSTS}_playbook_s": peer.wall_s,
        f"noop_{HOSTS}_playbook_cpu_s": peer.cpu_s,
        f"noop_{HOSTS}_ratio": ours.wall_s / peer.wall_s,
    }
