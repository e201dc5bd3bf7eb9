"""Sums of the power chain above the racks: what hangs on a part directly, in full and after the worst loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.check.places import racks_of
from coldaisle.plan.facility import RackPower, hanging_w, rack_power
from coldaisle.plan.model import SitePlan
from coldaisle.plan.placement import Placed
from coldaisle.plan.power import ancestors, chain_loads_w
from coldaisle.render.ledger.racks import by_rack
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum, added
from coldaisle.spec.power import UpstreamPower
from coldaisle.spec.sections import SiteSpec


class Chain:
    """The loads of every part of the chain, in full and with any one part lost."""

    def __init__(self, spec: SiteSpec, plan: SitePlan, devices: Mapping[str, tuple[Placed, ...]]) -> None:
        """Take a site, and the devices of each of its racks."""
        self.spec, self.plan = spec, plan
        self.parts = {part.name: part for part in spec.facility.power.upstream}
        racks = racks_of(spec)
        self.powers = {name: rack_power(racks[name], devices.get(name, ()), self.parts) for name in racks}

    def explain(self, name: str) -> Explanation:
        """Return what a part of the chain carries, in full and after the worst loss of a part beside it."""
        part = self.parts[name]
        at = list(self.parts).index(name)
        sums = [self._sum(part, at, None)]
        lost = self._worst_loss(name)
        if lost is not None:
            sums.append(self._sum(part, at, lost))
        where = self.spec.marks.where(("facility", "power", "upstream", at, "capacity_w"))
        capacity = Figure(name="capacity", unit="W", value=part.capacity_w, how="as written", source=where)
        what = f"{part.kind} {name}" + (f", fed by {part.fed_by}" if part.fed_by else "")
        return Explanation(target=name, what=what, sums=tuple(sums), figures=(capacity,))

    def _loads(self, lost: str | None) -> dict[str, float | None]:
        return chain_loads_w(self.spec.facility.power.upstream, hanging_w(self.powers.values(), lost))

    def _worst_loss(self, name: str) -> str | None:
        """Return the part whose loss leaves most to carry here, or None where that is no more than in full."""
        beside = {
            lost
            for power in self.powers.values()
            for lost in power.lost_part
            if lost not in ancestors(name, self.parts) and name not in ancestors(lost, self.parts)
        }
        loads = {lost: self._loads(lost)[name] for lost in sorted(beside)}
        unknown = [lost for lost, load in loads.items() if load is None]
        return unknown[0] if unknown else max(loads, key=lambda lost: loads[lost] or 0.0, default=None)

    def _sum(self, part: UpstreamPower, at: int, lost: str | None) -> Sum:
        name = "load" if lost is None else f"load after the loss of {lost}"
        if part.allocated_w is not None:
            where = self.spec.marks.where(("facility", "power", "upstream", at, "allocated_w"))
            how = "set by hand, in place of what hangs below"
            return added(name, "W", [Addend(item=part.name, how=how, value=part.allocated_w, source=where)])
        return added(name, "W", [*self._children(part, lost), *self._circuits(part, lost)])

    def _children(self, part: UpstreamPower, lost: str | None) -> Iterator[Addend]:
        loads = self._loads(lost)
        for child in self.parts.values():
            if child.fed_by == part.name:
                source = f"explain {self.plan.name} {child.name}"
                yield Addend(item=f"{child.kind} {child.name}", how="its load", value=loads[child.name], source=source)

    def _circuits(self, part: UpstreamPower, lost: str | None) -> Iterator[Addend]:
        values = (
            (rack, f", feed {feed.name}", load)
            for rack in self.plan.facility.racks
            for feed, load in zip(rack.feeds, _loads_after(self.powers[rack.name], lost), strict=True)
            if feed.upstream == part.name
        )
        return by_rack(self.spec, values, "of load", f"explain {self.plan.name} {{}}")


def _loads_after(power: RackPower, lost: str | None) -> tuple[float | None, ...]:
    return power.loads if lost is None else power.lost_part.get(lost, power.loads)
