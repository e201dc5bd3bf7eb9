"""Checks of feeds: each carries what is on it, in full and after the loss of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor

from coldaisle.check.finding import Finding
from coldaisle.check.places import circuit, draws, feeds_of, grouped_by, named, rack_finding, racks_of
from coldaisle.plan.model import FeedPlan, RackPlan, SitePlan
from coldaisle.spec.marks import Loc
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import percent, watts

Feed = tuple[RackPlan, int, FeedPlan]


def check_feed_capacity(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No feed carries more than its breaker may carry continuously."""
    over = [item for item in feeds_of(plan) if (item[2].load_w or 0) > item[2].capacity_w]
    for group in _alike(spec, over):
        _, _, feed = group[0]
        names = [rack.name for rack, _, _ in group]
        what = (
            f"{named(names)} need{'s' if len(names) == 1 else ''} {watts(feed.load_w)} on feed {feed.name}, "
            f"which carries {watts(feed.capacity_w)} ({circuit(feed)})"
        )
        yield _at_feed(spec, group[0], "power-over-budget", what, feed.load_w or 0)


def check_feed_loss(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """After the loss of any one feed, and of any one part of the chain above, the other feeds carry the load."""
    over = [
        item
        for item in feeds_of(plan)
        if (item[2].load_w or 0) <= item[2].capacity_w < (item[2].load_after_loss_w or 0)
    ]
    for group in _alike(spec, over):
        rack, at, feed = group[0]
        others = [other for place, other in enumerate(rack.feeds) if place != at]
        # A part of the chain above may take several feeds at once.
        above = ", or what feeds them," if len(others) > 1 and any(other.upstream for other in others) else ""
        names = [rack.name for rack, _, _ in group]
        load_w = feed.load_after_loss_w or 0
        what = (
            f"if feed {' or '.join(other.name for other in others)} of {named(names)}{above} fails, "
            f"feed {feed.name} carries {watts(load_w)}, "
            f"{percent(load_w, feed.capacity_w)} of its {watts(feed.capacity_w)} ({circuit(feed)})"
        )
        yield _at_feed(spec, group[0], "feed-loss-overload", what, load_w)


def _alike(spec: SiteSpec, feeds: Iterable[Feed]) -> list[list[Feed]]:
    """Return feeds of one line of the spec with one load as one group: they have one cause and one fix."""
    racks = racks_of(spec)

    def cause(item: Feed) -> tuple[Loc, int, float | None, float | None]:
        rack, at, feed = item
        return racks[rack.name].path, at, feed.load_w, feed.load_after_loss_w

    return list(grouped_by(feeds, cause).values())


def _at_feed(spec: SiteSpec, item: Feed, check: str, what: str, load_w: float) -> Finding:
    rack, at, feed = item
    amps = ceil(feed.breaker_a * load_w / feed.capacity_w)
    servers = _servers_to_move(rack, feed, load_w)
    cap = _cap_that_helps(rack, feed, load_w)
    move = (f"move {servers}, " if servers else "") + (f"cap each node at {watts(cap)}, " if cap else "")
    return rack_finding(
        spec,
        racks_of(spec)[rack.name],
        check,
        what=what,
        have=draws(spec, rack),
        fix=f"{move}{'or ' if move else ''}raise breaker_{feed.name} to {amps}",
        below=("power_feeds", at),
        path=f".power_feeds[{feed.name}]",
    )


def _servers_to_move(rack: RackPlan, feed: FeedPlan, load_w: float) -> str:
    """Return how many of the largest devices must go, in words, or nothing when their number does not help."""
    largest = max((device.max_power_w or 0.0 for device in rack.devices), default=0.0)
    if not largest or not rack.power_w:
        return ""
    on_this_feed = largest * load_w / rack.power_w
    count = ceil((load_w - feed.capacity_w) / on_this_feed)
    words = {1: "one server", 2: "two servers", 3: "three servers"}
    return words.get(count, f"{count} servers") if count < len(rack.devices) else ""


def _cap_that_helps(rack: RackPlan, feed: FeedPlan, load_w: float) -> float | None:
    """Return the power cap of each node that relieves a feed, in watts; None where it would take more than half."""
    nodes = [device.max_power_w or 0.0 for device in rack.devices if device.kind == "node"]
    if not nodes or not rack.power_w:
        return None
    excess_w = (load_w - feed.capacity_w) * rack.power_w / load_w
    cap_w = floor((sum(nodes) - excess_w) / len(nodes) / 10) * 10.0
    return cap_w if len(set(nodes)) == 1 and cap_w >= nodes[0] / 2 else None
