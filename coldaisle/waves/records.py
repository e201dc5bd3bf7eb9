"""What waves are made of: things that change, what they share, the waves, and the limits that hold at every moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coldaisle.plan.model import Amount

Kind = Literal["kernel", "firmware", "driver", "operator", "switch", "settings"]

AT_ONCE = "at once"
"""The limit of hosts that are worked on in one wave; one that has failed is out, and no longer worked on."""


class WavesError(Exception):
    """No waves can be made of a change; the message is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    A host or a switch: what it shares with others.

    `domains` has the names of its domains by kind (`rack`, `feed`, `leaf` …). `partners` names groups of which one
    member at most may be out: both leaves of a bond, both feeds of a rack.
    """

    name: str
    domains: Mapping[str, tuple[str, ...]]
    partners: tuple[str, ...] = ()
    gpus: int = 0
    is_switch: bool = False

    @classmethod
    def of(cls, name: str, shared: Mapping[str, Any]) -> Target:
        """Return a target by what the plan says that it shares (coldaisle.plan.rollout.shared_of)."""
        return cls(
            name=name,
            domains={kind: tuple(names) for kind, names in shared.get("domains", {}).items()},
            partners=tuple(shared.get("partners", ())),
            gpus=shared.get("gpus", 0),
            is_switch=shared.get("switch", False),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What a play would do to one target.

    `drains` says that work on it is disturbed (a reboot, a reset of GPUs or links), `no_way_back` why it cannot be
    taken back (empty where it can), and `retry` that it failed before, so that it goes first.
    """

    target: Target
    kind: Kind
    facts: tuple[str, ...] = ()
    reboots: bool = False
    drains: bool = False
    no_way_back: str = ""
    retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Targets that change together, and why just these."""

    hosts: tuple[str, ...]
    canary: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many may be out for each limit by its name, and which limits each target counts for."""

    allowed: Mapping[str, int] = field(default_factory=dict)
    counted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def refuse(self, working: frozenset[str], out: frozenset[str], one: str) -> str | None:
        """Return the limit that one more target would pass, None where it passes none."""
        for name in self.counted.get(one, ()):
            others = working if name == AT_ONCE else working | out
            if sum(name in self.counted.get(other, ()) for other in others - {one}) >= self.allowed[name]:
                return name
        return None


def at_most(amount: Amount, population: int) -> int:
    """Return a limit as a count: a share is rounded down, and one host is always allowed."""
    return max(1, _share(amount, population)) if isinstance(amount, str) else amount


def at_least(amount: Amount, population: int) -> int:
    """Return how many a count or a share asks for, rounded up."""
    wanted = -_share(amount, -population) if isinstance(amount, str) else amount
    return min(wanted, population)


def _share(amount: str, population: int) -> int:
    return int(amount.removesuffix("%")) * population // 100
