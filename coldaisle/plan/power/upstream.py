"""What the parts of the power chain carry for the racks: in full, and after the loss of any one part of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from coldaisle.plan.model import DrawsPlan, UpstreamPlan
from coldaisle.plan.power.chain import NO_OUTAGE, Chain, Tally, chain_loads, chain_loads_after, loss_w, tally
from coldaisle.plan.power.racks import KINDS, RackPower
from coldaisle.spec.power import UpstreamPower

Change = tuple[RackPower, int]
"""Racks that are alike, and how many."""


class ChainPower:
    """The loads of a chain; what is asked for is computed once."""

    def __init__(self, chain: Chain, powers: Iterable[RackPower]) -> None:
        """Take the chain, and what each rack draws from it; racks that are alike share one object."""
        self.chain = chain
        counts: dict[int, Change] = {}
        for power in powers:
            counts[id(power)] = power, counts.get(id(power), (power, 0))[1] + 1
        self._racks = tuple(counts.values())
        self._after: dict[str, dict[str, Tally]] = {}

    @cached_property
    def full(self) -> dict[str, Tally]:
        """Return what each part gives when all stands."""
        return chain_loads(self.chain, self._hanging(None))

    @cached_property
    def _touched(self) -> Mapping[str, list[Change]]:
        """Return the racks that keep some of their feeds when a part is lost, by the part."""
        touched: defaultdict[str, list[Change]] = defaultdict(list)
        for power, count in self._racks:
            for part in power.lost_parts:
                touched[part].append((power, count))
        return touched

    def after(self, lost: str) -> dict[str, Tally]:
        """Return what each part gives when one is lost: those whose load changes."""
        if lost not in self._after:
            self._after[lost] = chain_loads_after(self.chain, lost, self.full, self._changes(lost))
        return self._after[lost]

    def loads_w(self, lost: str | None) -> dict[str, float | None]:
        """
        Return what hangs on each part, in watts, with one of them lost; on those that are dark, nothing.

        What hangs on a part that was taken over for is then given by what took over.
        """
        loads = self.full if lost is None else {**self.full, **self.after(lost)}
        outage = NO_OUTAGE if lost is None else self.chain.outage(lost)
        return {name: found.load_w if outage.feeds(name) else 0.0 for name, found in loads.items()}

    @cached_property
    def worst(self) -> Mapping[str, tuple[float | None, str | None]]:
        """Return each part's largest load and the loss that causes it: None for none, or unknown if any is."""
        worst: dict[str, tuple[float | None, str | None]] = {
            name: (found.load_w, None) for name, found in self.full.items()
        }
        for lost in sorted(self.chain.parts):
            dark = self.chain.outage(lost).dark
            for name, found in self.after(lost).items():
                if name in dark:
                    continue
                so_far, load_w = worst[name][0], found.load_w
                if so_far is not None and (load_w is None or load_w > so_far):
                    worst[name] = load_w, lost
        return worst

    @cached_property
    def draws(self) -> Mapping[str, Mapping[str, Tally]]:
        """Return what each part gives of each other kind of draw, by kind and part."""
        return {kind: chain_loads(self.chain, self._hanging(kind)) for kind in KINDS}

    def _hanging(self, kind: str | None) -> dict[str, Tally]:
        """Return the loads of the circuits that hang on each part directly: the maximum, or another kind of draw."""
        hanging: defaultdict[str, Tally] = defaultdict(Tally)
        for power, count in self._racks:
            loads = power.loads if kind is None else power.draws[kind]
            for upstream, load in zip(power.upstreams, loads, strict=True):
                if upstream is not None:
                    hanging[upstream] += tally(load).of(count)
        return hanging

    def _changes(self, lost: str) -> dict[str, Tally]:
        """Return how the loads of circuits that still have power change when a part is lost."""
        outage = self.chain.outage(lost)
        changes: defaultdict[str, Tally] = defaultdict(Tally)
        for power, count in self._touched.get(lost, ()):
            for upstream, before, after in zip(power.upstreams, power.loads, power.after_part(lost), strict=True):
                if upstream is not None and outage.feeds(upstream):
                    changes[upstream] += (tally(after) + tally(before).of(-1)).of(count)
        return changes


def plan_upstream(power: ChainPower) -> tuple[UpstreamPlan, ...]:
    """Return every part of a chain with what it may carry and what it carries, sorted by name."""
    return tuple(_part(power, part) for _, part in sorted(power.chain.parts.items()))


def _part(power: ChainPower, part: UpstreamPower) -> UpstreamPlan:
    load_w = power.full[part.name].load_w
    after_w, lost = power.worst[part.name]
    return UpstreamPlan(
        name=part.name,
        kind=part.kind,
        capacity_w=part.usable_w,
        load_w=load_w,
        load_after_loss_w=after_w,
        fed_by=part.fed_by,
        efficiency=part.efficiency,
        loss_w=loss_w(part, load_w),
        catcher_for=tuple(part.catcher_for),
        worst_loss=lost,
        draws=DrawsPlan(**{kind: loads[part.name].load_w for kind, loads in power.draws.items()}),
        model=part.model,
        units=part.units,
    )


def heat_of_losses(parts: Iterable[UpstreamPower], plans: Iterable[UpstreamPlan]) -> dict[str, list[float | None]]:
    """Return the losses of a chain, in watts, by the cooling that takes them; those that nothing takes are left out."""
    losses = {plan.name: plan.loss_w for plan in plans}
    heat: defaultdict[str, list[float | None]] = defaultdict(list)
    for part in parts:
        if part.heat_to is not None:
            heat[part.heat_to].append(losses[part.name])
    return heat
