"""What may go wrong in a trial, how likely, and how long things take: every draw comes from one seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

SPREAD = 0.25
"""Of the logarithm of every duration: one of twenty takes half as long again."""

BASE_S = {
    "gpu": 240.0,
    "bmc_firmware": 900.0,
    "drain": 120.0,
    "uncordon": 5.0,
    "reboot": 420.0,
    "read": 4.0,
    "accept": 600.0,
}
"""Median seconds of a playbook on a host. Ours: of the order that operators tell of, and not a measurement."""

OTHER_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazards:
    """
    Probabilities, and rates an hour.

    `fails` and `silent` are for a host at a run; what is silent answers again after `silent_s` on average. `bad_change`
    is for a trial: what it installs breaks a share `bad_share` of the hosts; `slow_change` makes as many slower, which
    tests of acceptance alone can find. `dead` is for a host of a trial: it never takes the change. `kills_an_hour`,
    `stops_an_hour` and `losses_an_hour` are `kill -9` and ^C of the run, and power lost to all hosts of a feed.
    `half_dark` is for a wave that changes its hosts: half of the hall, its own hosts among them or not, loses its power
    before they are through.
    """

    fails: float = 0.004
    silent: float = 0.002
    silent_s: float = 1800.0
    dead: float = 0.002
    bad_change: float = 0.1
    bad_share: float = 0.6
    slow_change: float = 0.1
    kills_an_hour: float = 0.15
    stops_an_hour: float = 0.1
    losses_an_hour: float = 0.02
    half_dark: float = 0.01


CALM = Hazards(
    fails=0,
    silent=0,
    dead=0,
    bad_change=0,
    slow_change=0,
    kills_an_hour=0,
    stops_an_hour=0,
    losses_an_hour=0,
    half_dark=0,
)

OUTAGE_S = (60.0, 7200.0)
"""The shortest and the longest loss of power."""


class Dice:
    """The draws of one trial; each purpose has a stream of its own, so that a new one changes no other."""

    def __init__(self, seed: int) -> None:
        """Take the seed."""
        self._seed = seed
        self._streams: dict[str, random.Random] = {}

    def of(self, purpose: str) -> random.Random:
        """Return the stream of a purpose."""
        return self._streams.setdefault(purpose, random.Random(f"{self._seed} {purpose}"))  # noqa: S311 - no secret

    def happens(self, purpose: str, probability: float) -> bool:
        """Say whether something happens."""
        return self.of(purpose).random() < probability

    def after_s(self, purpose: str, an_hour: float) -> float:
        """Return seconds until something happens that does so many times an hour on average."""
        return self.of(purpose).expovariate(an_hour / 3600) if an_hour else float("inf")

    def takes_s(self, playbook: str) -> float:
        """Return how long a playbook takes on a host."""
        return BASE_S.get(playbook, OTHER_S) * self.of("durations").lognormvariate(0, SPREAD)
