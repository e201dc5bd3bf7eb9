"""
What each leaf sends upwards, when all stands and after a loss.

With three tiers it is taken that all traffic crosses the cores, so a spine passes on what its own uplinks carry. A loss
is worked out as a difference at the spines that it touches: a few hundred pairs of switches instead of all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from coldaisle.plan.survival.net import Loss, Net


class Rates:
    """Gb/s of each leaf upwards when all stands."""

    def __init__(self, net: Net) -> None:
        """Take the fabric."""
        self.net = net
        self.taken: defaultdict[str, float] = defaultdict(float)
        for spines in net.below.values():
            for spine, rate in spines.items():
                self.taken[spine] += rate
        above = {spine: sum(net.above.get(spine, {}).values()) for spine in self.taken}
        self.passed = {spine: self._share(above[spine], taken) for spine, taken in self.taken.items()}
        self.full = {
            leaf: sum(rate * self.passed[spine] for spine, rate in net.below.get(leaf, {}).items())
            for leaf in net.planes
        }

    def _share(self, upwards: float, taken: float) -> float:
        """Return the share of what a spine takes from below that it passes on: all of it where there are no cores."""
        if not self.net.above:
            return 1.0
        return min(1.0, upwards / taken) if taken else 0.0

    def after(self, loss: Loss, lost: Mapping[tuple[str, str], float]) -> dict[str, float]:
        """Return the rates after a loss; `lost` has the Gb/s that its cables carried, by lower and upper switch."""
        rates = dict(self.full)
        for spine in self._touched(loss):
            share = 0.0 if spine in loss.devices else self._share_after(spine, loss, lost)
            for leaf in self.net.met_by.get(spine, ()):
                rate = self.net.below[leaf][spine]
                rates[leaf] += (rate - lost.get((leaf, spine), 0.0)) * share - rate * self.passed[spine]
        return rates | {leaf: 0.0 for leaf in loss.devices if leaf in rates}

    def _share_after(self, spine: str, loss: Loss, lost: Mapping[tuple[str, str], float]) -> float:
        net, taken = self.net, self.taken[spine]
        taken -= sum(net.below[leaf].get(spine, 0.0) for leaf in loss.devices if leaf in net.below)
        taken -= sum(rate for (lower, upper), rate in lost.items() if upper == spine and lower not in loss.devices)
        cores = net.above.get(spine, {})
        upwards = sum(rate - lost.get((spine, core), 0.0) for core, rate in cores.items() if core not in loss.devices)
        return self._share(upwards, taken)

    def _touched(self, loss: Loss) -> set[str]:
        """Return the spines whose share or whose leaves a loss changes."""
        net = self.net
        names = loss.devices | {end.device for cable in loss.cables for end in (cable.a, cable.b)}
        spines = {name for name in names if net.roles.get(name) == "spine"}
        cores = [name for name in loss.devices if net.roles.get(name) == "core"]
        spines |= {spine for core in cores for spine in net.met_by.get(core, ())}
        return spines | {spine for name in loss.devices for spine in net.below.get(name, ())}
