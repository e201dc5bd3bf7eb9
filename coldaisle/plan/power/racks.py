"""What the feeds of a rack carry: in full, and after the loss of any one feed or any one part of the chain above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coldaisle.plan.model import DrawsPlan, FeedPlan
from coldaisle.plan.placement import Placed
from coldaisle.plan.power.arithmetic import Load, feed_capacity_w, feed_loads_w, worst
from coldaisle.plan.power.banks import plan_banks
from coldaisle.plan.power.chain import Chain
from coldaisle.spec.facility import Rack
from coldaisle.spec.power import Power, PowerFeed

OtherDraw = Literal["typical_w", "transient_w", "startup_w"]
KINDS: tuple[OtherDraw, ...] = ("typical_w", "transient_w", "startup_w")
"""Draws beside the maximum."""


@dataclass(frozen=True, slots=True)
class RackPower:
    """
    What the feeds of a rack carry; racks that are alike share one.

    `upstreams` are what each feed hangs on, and `loads` their watts when all stands. `after` has the loads by the feeds
    that are lost, and `lost_parts` the feeds that the loss of a part of the chain takes; a part whose loss darkens the
    rack is in `darkened_by` instead. `draws` are the feeds' loads of other kinds, by the name in DrawsPlan.
    """

    upstreams: tuple[str | None, ...]
    loads: tuple[float | None, ...]
    after: Mapping[frozenset[int], tuple[float | None, ...]]
    lost_parts: Mapping[str, frozenset[int]]
    darkened_by: tuple[str, ...]
    draws: Mapping[str, tuple[float | None, ...]]

    def after_part(self, lost: str) -> tuple[float | None, ...]:
        """Return the feeds' loads after the loss of a part of the chain."""
        return self.after[self.lost_parts[lost]] if lost in self.lost_parts else self.loads

    def losses(self, at: int) -> tuple[frozenset[int], ...]:
        """Return the sets of feeds whose loss a feed outlives."""
        return tuple(lost for lost in self.after if at not in lost)


class RackPowers:
    """Computes what racks' feeds carry, once for racks that are alike."""

    def __init__(self, chain: Chain) -> None:
        """Take the chain above the racks."""
        self.chain = chain
        self._known: dict[tuple[tuple[str | None, ...], tuple[Load, ...]], RackPower] = {}
        self._feeds: dict[tuple[int, int], tuple[FeedPlan, ...]] = {}

    def of(self, feeds: Sequence[PowerFeed], loads: tuple[Load, ...]) -> RackPower:
        """Return what feeds carry for devices."""
        key = tuple(feed.upstream for feed in feeds), loads
        if key not in self._known:
            self._known[key] = _rack_power(self.chain, *key)
        return self._known[key]

    def feeds(self, rack: Rack, power: RackPower, settings: Power, devices: Sequence[Placed]) -> tuple[FeedPlan, ...]:
        """
        Return the planned feeds of a rack.

        Racks of one line of the spec with one load share them, but for those with banks, which name their own supplies.

        Args:
            rack: The rack's line, which the spec keeps.
            power: What its feeds carry, as `of` gave it.
            settings: The site's rules.
            devices: What stands in it.
        """
        key = id(rack), id(power)
        if key in self._feeds:
            return self._feeds[key]
        feeds = tuple(plan_feed(rack, at, power, settings, devices) for at in range(len(power.loads)))
        if not any(feed.banks for feed in feeds):
            self._feeds[key] = feeds
        return feeds


def _rack_power(chain: Chain, upstreams: tuple[str | None, ...], loads: tuple[Load, ...]) -> RackPower:
    count = len(upstreams)
    parts = sorted({part for name in upstreams for part in chain.above(name)})
    taken = {
        part: frozenset(at for at, name in enumerate(upstreams) if not chain.outage(part).feeds(name)) for part in parts
    }
    lost_parts = {part: lost for part, lost in taken.items() if 0 < len(lost) < count}
    # With one feed there is no other that would carry more, and a part above all feeds darkens the rack.
    singles = [frozenset({at}) for at in range(count)] if count > 1 else []
    return RackPower(
        upstreams,
        feed_loads_w(loads, count),
        {lost: feed_loads_w(loads, count, lost) for lost in dict.fromkeys([*singles, *lost_parts.values()])},
        lost_parts,
        tuple(part for part, lost in taken.items() if lost and len(lost) == count),
        {kind: feed_loads_w([load.of_kind(kind) for load in loads], count) for kind in KINDS},
    )


def feed_derating(feed: PowerFeed, settings: Power) -> float:
    """Return the part of a feed's breakers that may be drawn continuously: the feed's own rule, or the site's."""
    return settings.derating if feed.derating is None else feed.derating


def plan_feed(rack: Rack, at: int, power: RackPower, settings: Power, devices: Sequence[Placed]) -> FeedPlan:
    """Return one feed of a rack with what it may carry and what it carries, down to its banks and phases."""
    feed = rack.power_feeds[at]
    derating = feed_derating(feed, settings)
    banks = plan_banks(feed, at, len(power.loads), devices, derating, power.losses(at))
    return FeedPlan(
        name=feed.name,
        voltage_v=feed.voltage_v,
        voltage_reference=feed.voltage_reference,
        phases=feed.phases,
        breaker_a=feed.breaker_a,
        derating=derating,
        power_factor=feed.power_factor,
        capacity_w=feed_capacity_w(
            voltage_v=feed.voltage_v,
            voltage_reference=feed.voltage_reference,
            phases=feed.phases,
            breaker_a=feed.breaker_a,
            derating=derating,
            power_factor=feed.power_factor,
        ),
        load_w=power.loads[at],
        load_after_loss_w=worst([power.loads[at], *(power.after[lost][at] for lost in power.losses(at))]),
        upstream=feed.upstream,
        draws=DrawsPlan(**{kind: loads[at] for kind, loads in power.draws.items()}),
        banks=banks.banks,
        phase_loads=banks.phases,
        unplugged=banks.unplugged,
        pdu=feed.pdu,
    )
