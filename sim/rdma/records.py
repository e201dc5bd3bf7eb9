"""What two guests showed, in the form that people and programs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.twin.records import Check, Status


@dataclass(frozen=True, slots=True)
class RdmaReport:
    """
    All that was found of two nodes.

    `plan` is the hash of the plan; `network` the tenant's network whose VLAN carried the traffic; `rates_mib_s` the
    rate of each program, which is that of emulation and says nothing of hardware; `left_out` what of the plan did not
    run.
    """

    site: str
    plan: str
    nodes: tuple[str, str]
    network: str
    checks: tuple[Check, ...]
    rates_mib_s: Mapping[str, float] = field(default_factory=dict)
    times_s: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        """Return how many checks ended in a way."""
        return sum(1 for each in self.checks if each.status == status)
