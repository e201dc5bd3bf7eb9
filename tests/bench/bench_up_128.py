"""
Light hosts brought up from nothing: boot order and power by their BMCs, SSH, and every role, by the provider's plays.

The peer is a plain ansible-playbook with the same roles on the same hosts, installed anew in between. The provider
reads back what each play has set, which the peer does not.
"""

from __future__ import annotations

from tests.bench import halls
from tests.bench.halls import HOSTS


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds (deploy host and hosts) of both."""
    found = halls.shared()
    found.renew()
    peer, _ = halls.spent(found, halls.playbooks(found))
    found.renew()
    ours = halls.plays(found, "apply")
    return {
        f"up_{HOSTS}_s": ours.wall_s,
        f"up_{HOSTS}_cpu_s": ours.cpu_s,
        f"up_{HOSTS}_playbook_s": peer.wall_s,
        f"up_{HOSTS}_playbook_cpu_s": peer.cpu_s,
        f"up_{HOSTS}_ratio": ours.wall_s / peer.wall_s,
    }
