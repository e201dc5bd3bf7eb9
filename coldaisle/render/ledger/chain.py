"""Sums of the power chain above the racks: what hangs on a part directly, in full and after the worst loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coldaisle.check.places import racks_of
from coldaisle.plan.model import SitePlan, UpstreamPlan
from coldaisle.plan.placement import Placed, loads_of
from coldaisle.plan.power.chain import NO_OUTAGE, Chain
from coldaisle.plan.power.racks import RackPowers
from coldaisle.plan.power.upstream import ChainPower
from coldaisle.render.ledger.racks import by_rack
from coldaisle.render.ledger.sums import Addend, Explanation, Figure, Sum, added, draw_figures
from coldaisle.spec.power import UpstreamPower
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import watts


class ChainLedger:
    """The loads of every part of the chain, in full and with any one part lost."""

    def __init__(self, spec: SiteSpec, plan: SitePlan, devices: Mapping[str, tuple[Placed, ...]]) -> None:
        """Take a site, and the devices of each of its racks."""
        self.spec, self.plan = spec, plan
        self.chain = Chain(spec.facility.power.upstream)
        racks = RackPowers(self.chain)
        self.powers = {
            name: racks.of(rack.spec.power_feeds, loads_of(devices.get(name, ())))
            for name, rack in racks_of(spec).items()
        }
        self.power = ChainPower(self.chain, self.powers.values())
        self.planned = {part.name: part for part in plan.facility.upstream}

    def explain(self, name: str) -> Explanation:
        """Return what a part of the chain carries, in full and after the worst loss of another part."""
        part, planned = self.chain.parts[name], self.planned[name]
        sums = [self._sum(part, None)]
        if planned.worst_loss is not None:
            sums.append(self._sum(part, planned.worst_loss))
        what = f"{part.kind} {name}" + (f", fed by {part.fed_by}" if part.fed_by else "")
        what += f", takes over for {', '.join(part.catcher_for)}" if part.catcher_for else ""
        return Explanation(target=name, what=what, sums=tuple(sums), figures=tuple(self._figures(part, planned)))

    def _where(self, part: UpstreamPower, key: str) -> str:
        names = [each.name for each in self.spec.facility.power.upstream]
        return self.spec.marks.where(("facility", "power", "upstream", names.index(part.name), key))

    def _sum(self, part: UpstreamPower, lost: str | None) -> Sum:
        name = "load" if lost is None else f"load after the loss of {lost}"
        caught = list(self._caught(part, lost))
        if part.allocated_w is not None:
            how = "set by hand, in place of what hangs below"
            where = self._where(part, "allocated_w")
            return added(name, "W", [Addend(item=part.name, how=how, value=part.allocated_w, source=where), *caught])
        return added(name, "W", [*self._children(part, lost), *caught, *self._circuits(part, lost)])

    def _children(self, part: UpstreamPower, lost: str | None) -> Iterator[Addend]:
        """Yield what each part draws that hangs on this one and is alive."""
        loads = self.power.loads_w(lost)
        dark = self.chain.outage(lost).dark if lost else NO_OUTAGE.dark
        for child in self.chain.parts.values():
            if child.fed_by == part.name and child.name not in dark:
                yield self._child(child, loads[child.name])

    def _child(self, child: UpstreamPower, load_w: float | None) -> Addend:
        source, how, drawn_w = f"explain {self.plan.name} {child.name}", "its load", load_w
        if child.efficiency is not None:
            how = f"its load of {watts(load_w)} / its efficiency of {child.efficiency:g}"
            drawn_w = None if load_w is None else load_w / child.efficiency
            source += f"; efficiency: {self._where(child, 'efficiency')}"
        return Addend(item=f"{child.kind} {child.name}", how=how, value=drawn_w, source=source)

    def _caught(self, part: UpstreamPower, lost: str | None) -> Iterator[Addend]:
        """Yield what hangs on each part that this one has taken over for."""
        outage = self.chain.outage(lost) if lost else NO_OUTAGE
        for name, catcher in (outage.moved or {}).items():
            if catcher == part.name:
                yield Addend(
                    item=f"{self.chain.parts[name].kind} {name}",
                    how="its load, taken over",
                    value=self.power.loads_w(lost)[name],
                    source=f"explain {self.plan.name} {name}; taken over: {self._where(part, 'catcher_for')}",
                )

    def _circuits(self, part: UpstreamPower, lost: str | None) -> Iterator[Addend]:
        values = (
            (rack, f", feed {feed.name}", load)
            for rack in self.plan.facility.racks
            for feed, load in zip(rack.feeds, self._loads_after(rack.name, lost), strict=True)
            if feed.upstream == part.name
        )
        return by_rack(self.spec, values, "of load", f"explain {self.plan.name} {{}}")

    def _loads_after(self, rack: str, lost: str | None) -> tuple[float | None, ...]:
        power = self.powers[rack]
        if lost is not None and lost in power.darkened_by:
            return (0.0,) * len(power.loads)
        return power.loads if lost is None else power.after_part(lost)

    def _figures(self, part: UpstreamPower, planned: UpstreamPlan) -> Iterator[Figure]:
        where = self._where(part, "capacity_w")
        how = "as written"
        if part.usable_w != part.capacity_w:
            spare = f" x {part.units - part.redundant} of {part.units} units" if part.redundant else ""
            how = f"{watts(part.capacity_w)}{spare}" + (f" x {100 * part.derating:g} %" if part.derating != 1 else "")
        yield Figure(name="capacity", unit="W", value=planned.capacity_w, how=how, source=where)
        if part.efficiency is not None:
            how = f"{watts(planned.load_w)} / {part.efficiency:g} - {watts(planned.load_w)}"
            yield Figure(name="losses", unit="W", value=planned.loss_w, how=how, source=self._where(part, "efficiency"))
        yield from draw_figures(planned.draws, "of what hangs below", "the racks and devices below it")
