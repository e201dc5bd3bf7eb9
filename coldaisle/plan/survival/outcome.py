"""What one loss does to a fabric: nodes that are cut off, ports that they lose, and the bandwidth that is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coldaisle.plan.connected import connected
from coldaisle.plan.survival.net import Loss, Net
from coldaisle.plan.survival.rates import Rates


@dataclass(frozen=True, slots=True, order=True)
class Outcome:
    """How bad a loss is: the greater, the worse. `bisection_lost` is a share."""

    hosts_cut_off: int = 0
    rails_lost: int = 0
    bisection_lost: float = 0.0


Pairs = Mapping[tuple[str, str], float]
"""Gb/s that cables which are lost carried, by their lower and their upper end."""


class Losses:
    """A fabric that one loss after the other is tried on."""

    def __init__(self, net: Net) -> None:
        """Take the fabric."""
        self.net, self.rates = net, Rates(net)
        self.before = _half(self.rates.full)

    def outcome(self, loss: Loss) -> Outcome:
        """Return what a loss does."""
        lost: defaultdict[tuple[str, str], float] = defaultdict(float)
        for cable in loss.cables:
            lost[cable.a.device, cable.b.device] += cable.rate_gbps
        apart = _apart(self.net, loss, lost)
        touched = {node for leaf in apart for node in self.net.on.get(leaf, ())}
        touched |= {name for name in loss.devices if name in self.net.links}
        touched |= {cable.a.device for cable in loss.cables if cable.a.device in self.net.links}
        ports = {node: self._ports_lost(node, loss, apart) for node in touched}
        cut = sum(count == len(self.net.links[node]) for node, count in ports.items())
        return Outcome(cut, max(ports.values(), default=0), self._bisection_lost(loss, lost, apart))

    def _ports_lost(self, node: str, loss: Loss, apart: frozenset[str]) -> int:
        if node in loss.devices:
            return len(self.net.links[node])
        return sum(cable.b.device in apart or cable in loss.cables for cable in self.net.links[node])

    def _bisection_lost(self, loss: Loss, lost: Pairs, apart: frozenset[str]) -> float:
        if not self.before:
            return 0.0
        after = self.rates.after(loss, lost) | dict.fromkeys(apart, 0.0)
        return 1 - _half(after) / self.before


def _half(rates: Mapping[str, float]) -> float:
    """Return what the half of the leaves with the least has together: any other half has as much or more."""
    return sum(sorted(rates.values())[: len(rates) // 2])


# -- what is apart ------------------------------------------------------------------------------------------------
def _apart(net: Net, loss: Loss, lost: Pairs) -> frozenset[str]:
    """Return the leaves that are lost, or that no path leads from to most nodes of their plane."""
    dark = frozenset(leaf for leaf in net.planes if leaf in loss.devices)
    single = len(loss.devices & net.roles.keys()) + bool(loss.cables) <= 1
    if not net.below or (net.whole and single and _keep_a_link(net, lost)):
        return dark
    return dark | frozenset(_outside(net, loss, lost))


def _keep_a_link(net: Net, lost: Pairs) -> bool:
    """Tell whether each switch that loses cables upwards keeps one."""
    for lower, _ in lost:
        uppers = net.below.get(lower) or net.above.get(lower)
        if uppers and all(rate <= lost.get((lower, upper), 0.0) for upper, rate in uppers.items()):
            return False
    return True


def _outside(net: Net, loss: Loss, lost: Pairs) -> Iterator[str]:
    """Yield the leaves outside of the part of their plane that most nodes' ports hang on."""
    part = connected(pair for pair in _pairs(net, lost) if loss.devices.isdisjoint(pair))
    parts: defaultdict[int | None, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for leaf in net.planes.keys() - loss.devices:
        parts[net.planes[leaf]][part.get(leaf, leaf)].append(leaf)
    ports = Counter(cable.b.device for cables in net.links.values() for cable in cables)
    for of_plane in parts.values():
        main = max(of_plane, key=lambda name: (sum(ports[leaf] for leaf in of_plane[name]), name))
        yield from (leaf for name, leaves in of_plane.items() if name != main for leaf in leaves)


def _pairs(net: Net, lost: Pairs) -> Iterator[tuple[str, str]]:
    """Yield the pairs of switches that still carry something."""
    for rates in (net.below, net.above):
        for lower, uppers in rates.items():
            yield from ((lower, upper) for upper, rate in uppers.items() if rate > lost.get((lower, upper), 0.0))
