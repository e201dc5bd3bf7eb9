"""Sums of a feed: the part of each device's draw that its supplies take from it, in full and after the worst loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coldaisle.check.places import circuit, racks_of
from coldaisle.plan.model import FeedPlan, RackPlan, SitePlan
from coldaisle.plan.placement import Placed, loads_of
from coldaisle.plan.power.arithmetic import feed_shares, spread_psus
from coldaisle.plan.power.chain import Chain
from coldaisle.plan.power.racks import RackPower, RackPowers
from coldaisle.render.ledger.banks import bank_figures, bank_sums
from coldaisle.render.ledger.racks import alike, draw_source, item, kind_of
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum, added, draw_figures, figure_source
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import counted, watts

NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Circuit:
    """A feed of a rack with what hangs on it."""

    spec: SiteSpec
    plan: SitePlan
    rack: RackPlan
    at: int
    devices: tuple[Placed, ...]

    @property
    def feed(self) -> FeedPlan:
        """Return the feed itself."""
        return self.rack.feeds[self.at]


def explain_feed(spec: SiteSpec, plan: SitePlan, rack: RackPlan, at: int, devices: tuple[Placed, ...]) -> Explanation:
    """Return what a feed carries, in full and after the worst loss, and what it may carry."""
    here = _Circuit(spec, plan, rack, at, devices)
    sums = [added("load", "W", _addends(here, NOTHING)), *bank_sums(spec, rack, at, devices)]
    lost = _worst_loss(here)
    if lost is not None:
        sums.append(_sum_after(here, *lost))
    placed = racks_of(spec)[rack.name]
    where = spec.marks.where((*placed.path, "power_feeds", at))
    root = "sqrt(3) x " if here.feed.phases != 1 and here.feed.voltage_reference == "line-to-line" else ""
    capacity = Figure(
        name="capacity", unit="W", value=here.feed.capacity_w, how=f"{root}{circuit(here.feed)}", source=where
    )
    what = f"feed {here.feed.name} of rack {rack.name}, from {here.feed.upstream or 'nothing that is named'}"
    return Explanation(
        target=f"{rack.name}.feed_{here.feed.name}",
        what=what,
        sums=tuple(sums),
        figures=(capacity, *_more_figures(here)),
    )


def _more_figures(here: _Circuit) -> Iterator[Figure]:
    yield from draw_figures(here.feed.draws, "through the same supplies", f"explain {here.plan.name} {here.rack.name}")
    yield from bank_figures(here.spec, here.rack, here.at)


def _sum_after(here: _Circuit, label: str, lost: frozenset[int]) -> Sum:
    return added(f"load after the loss of {label}", "W", _addends(here, lost))


def _worst_loss(here: _Circuit) -> tuple[str, frozenset[int]] | None:
    """Return the loss that leaves the feed most to carry, by name, or None where no loss touches it."""
    power = _power(here)
    losses = dict(_losses(here, power))
    after = {label: power.after[lost][here.at] for label, lost in losses.items()}
    unknown = [label for label, load in after.items() if load is None]
    label = unknown[0] if unknown else max(after, key=lambda name: after[name] or 0.0, default=None)
    return None if label is None else (label, losses[label])


def _power(here: _Circuit) -> RackPower:
    feeds = racks_of(here.spec)[here.rack.name].spec.power_feeds
    return RackPowers(Chain(here.spec.facility.power.upstream)).of(feeds, loads_of(here.devices))


def _losses(here: _Circuit, power: RackPower) -> Iterator[tuple[str, frozenset[int]]]:
    """Yield each loss that leaves this feed alive: of a feed, or of a part of the chain with all feeds below it."""
    for other, feed in enumerate(here.rack.feeds):
        if other != here.at:
            yield f"feed {feed.name}", frozenset({other})
    for part, lost in power.lost_parts.items():
        if here.at not in lost:
            yield part, lost


def _addends(here: _Circuit, lost: frozenset[int]) -> Iterator[Addend]:
    for group in alike(here.devices):
        share, how = _share(here, group[0], lost)
        each = group[0].placement.max_power_w
        yield Addend(
            item=item(group),
            how=f"{watts(each)} each, {how}",
            value=None if each is None or share is None else len(group) * share * each,
            source=_source(here, group[0]),
        )


def _share(here: _Circuit, placed: Placed, lost: frozenset[int]) -> tuple[float | None, str]:
    """Return the part of a device's draw that this feed carries, and how it comes about."""
    feeds = len(here.rack.feeds)
    if feeds == 1:
        return 1.0, "all of it"
    if placed.psus is None:
        return None, "an unknown part: how many supplies it has is not known"
    count = placed.psus.count
    share, spread = feed_shares(count, feeds, lost)[here.at], spread_psus(count, feeds)
    live = sum(spread[at] for at in range(feeds) if at not in lost)
    if not live:
        return share, f"{100 * share:g} % of it, plugged over after the loss"
    if lost and live == 1:
        return share, "through the supply that is left" if share else "through none: the supply left is elsewhere"
    left = f"the {live} supplies left" if lost else counted(live, "supply", "supplies")
    return share, f"through {spread[here.at]} of {left}"


def _source(here: _Circuit, placed: Placed) -> str:
    draw = draw_source(here.spec, here.plan, placed)
    if len(here.rack.feeds) == 1:
        return draw
    supplies = figure_source(here.spec, kind_of(placed), placed.placement.model, "psus")
    return f"{draw}; supplies: {supplies}"
