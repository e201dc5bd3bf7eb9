"""
What looking for drift costs: the provider's read of hosts and BMCs beside check mode of the same playbooks.

CPU seconds are those of the deploy host and of the hosts together. A second, smaller measurement of each tells the cost
of a run apart from the cost of a host, and from both follow the figures of 1,000 and 10,000 hosts. What a login costs
that asks nothing is told beside them: no read of the hosts can cost less.
"""

from __future__ import annotations

import sys

from tests.bench import halls
from tests.bench.halls import HOSTS

FEW = max(1, HOSTS // 8)
RECKONED = (1_000, 10_000)


def figures() -> dict[str, float]:
    """Return the ratio, which shall be 0.1 at most, what it is made of, and what larger sites follow from it."""
    found = halls.applied()
    ours = {number: halls.plays(found, "read", str(number)) for number in (FEW, HOSTS)}
    few = ",".join(node.name for node in found.plan.nodes[:FEW])
    peer = {
        FEW: halls.spent(found, halls.playbooks(found, "--check", "--limit", few))[0],
        HOSTS: halls.spent(found, halls.playbooks(found, "--check"))[0],
    }
    logins, _ = halls.spent(found, [sys.executable, "-m", "tests.bench.logins", str(halls.inventory(found))])
    name = f"drift_{HOSTS}"
    return {
        f"{name}_cpu_ratio": ours[HOSTS].cpu_s / peer[HOSTS].cpu_s,
        f"{name}_s": ours[HOSTS].wall_s,
        f"{name}_deploy_cpu_s": ours[HOSTS].deploy_cpu_s,
        f"{name}_hosts_cpu_s": ours[HOSTS].hosts_cpu_s,
        f"{name}_logins_cpu_s": logins.cpu_s,
        f"{name}_check_s": peer[HOSTS].wall_s,
        f"{name}_check_deploy_cpu_s": peer[HOSTS].deploy_cpu_s,
        f"{name}_check_hosts_cpu_s": peer[HOSTS].hosts_cpu_s,
        **_reckoned({number: each.cpu_s for number, each in ours.items()}, "drift"),
        **_reckoned({number: each.cpu_s for number, each in peer.items()}, "check"),
    }


def _reckoned(cpu_s: dict[int, float], name: str) -> dict[str, float]:
    """Return CPU seconds of more hosts: the cost of a run, and so many times the cost of a host."""
    (few, low), (many, high) = sorted(cpu_s.items())
    a_host = (high - low) / (many - few) if many > few else high / many
    return {f"{name}_{hosts}_reckoned_cpu_s": high + a_host * (hosts - many) for hosts in RECKONED}
