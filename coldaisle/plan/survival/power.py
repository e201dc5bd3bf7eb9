"""
Which devices go dark when one feed of a rack, or one part of the power chain above the feeds, is lost.

A device stays up with the supplies that it needs to boot, or with those that it needs for full performance where no
document gives the former. One whose supplies nobody has documented, or that is left with fewer than it needs and no
word on whether it goes on, is not known to stay up: it is counted and not taken for dark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from coldaisle.plan.model import DevicePlacement, FacilityPlan, LossKind, RackPlan
from coldaisle.plan.power.arithmetic import shelf_supplies, spread_psus
from coldaisle.plan.power.chain import Chain
from coldaisle.plan.power.racks import RackPowers
from coldaisle.plan.survival.net import Loss
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Psus
from coldaisle.spec.facility import placed_racks


@dataclass(frozen=True, slots=True)
class PowerLosses:
    """Losses of power that darken something, and the devices of which it is not known, by kind of loss."""

    dark: dict[LossKind, tuple[Loss, ...]]
    unknown: dict[LossKind, frozenset[str]]


def power_losses(spec: SiteSpec, facility: FacilityPlan) -> PowerLosses:
    """Return every loss of power that darkens a device."""
    dark: defaultdict[tuple[LossKind, str], set[str]] = defaultdict(set)
    unknown: defaultdict[LossKind, set[str]] = defaultdict(set)
    rules = _Rules(spec)
    for rack in facility.racks:
        models = {(device.kind, device.model): device for device in rack.devices}
        for kind, part, feeds in rules.lost(rack):
            stays = {model: rules.stays_up(device, len(rack.feeds), feeds) for model, device in models.items()}
            for device in () if all(stays.values()) else rack.devices:
                if (found := stays[device.kind, device.model]) is None:
                    unknown[kind].add(device.device)
                elif not found:
                    dark[kind, part].add(device.device)
    chain = any(part.kind != "utility" for part in spec.facility.power.upstream)
    kinds: tuple[LossKind, ...] = ("feed", "upstream") if chain else ("feed",)
    return PowerLosses(
        {
            each: tuple(Loss(part, frozenset(names)) for (kind, part), names in sorted(dark.items()) if kind == each)
            for each in kinds
        },
        {each: frozenset(unknown[each]) for each in kinds},
    )


class _Rules:
    """What each loss takes of each rack, and how many supplies each model has; both worked out once."""

    def __init__(self, spec: SiteSpec) -> None:
        self.spec = spec
        self.powers = RackPowers(Chain(spec.facility.power.upstream))
        self.feeds = {rack.name: rack.spec.power_feeds for rack in placed_racks(spec.facility)}
        self.utilities = {part.name for part in spec.facility.power.upstream if part.kind == "utility"}
        self._psus: dict[tuple[str, float | None], Psus | None] = {}

    def lost(self, rack: RackPlan) -> Iterator[tuple[LossKind, str, frozenset[int]]]:
        """Yield each loss that takes feeds of a rack: its kind, its name, and the feeds. The utility is left out."""
        for at, feed in enumerate(rack.feeds):
            yield "feed", f"feed {feed.name} of {rack.name}", frozenset({at})
        power = self.powers.of(self.feeds[rack.name], ())
        every = frozenset(range(len(rack.feeds)))
        for part, feeds in (*power.lost_parts.items(), *((part, every) for part in power.darkened_by)):
            if part not in self.utilities:
                yield "upstream", part, feeds

    def stays_up(self, device: DevicePlacement, feeds: int, lost: Collection[int]) -> bool | None:
        """Tell whether a device goes on without some of its rack's feeds; None where it is not known."""
        psus = self._psus_of(device)
        if psus is None:
            return None if len(lost) < feeds else False
        kept = psus.count - sum(count for at, count in enumerate(spread_psus(psus.count, feeds)) if at in lost)
        if kept >= (psus.needed_to_boot or psus.needed):
            return True
        return None if kept and psus.needed_to_boot is None else False

    def _psus_of(self, device: DevicePlacement) -> Psus | None:
        key = device.model, device.max_power_w
        if key not in self._psus:
            self._psus[key] = self._supplies(device)
        return self._psus[key]

    def _supplies(self, device: DevicePlacement) -> Psus | None:
        if device.kind == "switch":
            return self.spec.catalog.switches[device.model].psus
        system = self.spec.catalog.systems[device.model]
        return system.psus or shelf_supplies(system, device.max_power_w)
