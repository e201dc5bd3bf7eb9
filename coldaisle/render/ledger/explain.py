"""Which of a site's ledgers a name means, and that ledger written out with its sources."""

from __future__ import annotations

from collections.abc import Callable

from coldaisle.plan.model import CoolingPlan, RackPlan, SitePlan
from coldaisle.plan.placement import placed_devices
from coldaisle.render.ledger.chain import Chain
from coldaisle.render.ledger.feeds import explain_feed
from coldaisle.render.ledger.racks import by_rack, explain_rack, site_sum
from coldaisle.render.ledger.sums import Explanation, Figure, added
from coldaisle.spec.base import near_miss
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import watts


def targets(plan: SitePlan) -> tuple[str, ...]:
    """Return everything that can be explained: the site, its racks and feeds, the power chain, cooling."""
    facility = plan.facility
    names = [plan.name]
    names += [part.name for part in facility.upstream] + [unit.name for unit in facility.cooling]
    for rack in facility.racks:
        names += [rack.name, *(f"{rack.name}.feed_{feed.name}" for feed in rack.feeds)]
    return tuple(dict.fromkeys(names))


def explain(spec: SiteSpec, plan: SitePlan, target: str) -> Explanation:
    """
    Return the sums behind one of a site's ledgers.

    Args:
        spec: The site.
        plan: Its plan.
        target: `r03.feed_a`, or the name of a rack, of a part of the power chain, of cooling, or of the site. Where
            two things share a name, `upstream.NAME` and `cooling.NAME` say which is meant.

    Raises:
        LookupError: there is nothing of that name; the message names the nearest.
    """
    explainers = _explainers(spec, plan)
    if target not in explainers:
        raise LookupError(f"nothing of {plan.name} is named {target}: {near_miss(target, list(targets(plan)))}")
    return explainers[target]()


def _explainers(spec: SiteSpec, plan: SitePlan) -> dict[str, Callable[[], Explanation]]:
    """Return what explains each name; of things with one name, the first of rack, power and cooling has it."""
    devices = placed_devices(spec, plan.fabrics)
    found: dict[str, Callable[[], Explanation]] = {}

    def add(names: tuple[str, ...], explainer: Callable[[], Explanation]) -> None:
        for name in names:
            found.setdefault(name, explainer)

    def add_rack(rack: RackPlan) -> None:
        placed = devices.get(rack.name, ())
        add((rack.name,), lambda: explain_rack(spec, plan, rack, placed))
        for at, feed in enumerate(rack.feeds):
            names = (f"{rack.name}.feed_{feed.name}", f"{rack.name}.{feed.name}")
            add(names, lambda at=at: explain_feed(spec, plan, rack, at, placed))  # type: ignore[misc]  # bound now

    for rack in plan.facility.racks:
        add_rack(rack)
    for part in plan.facility.upstream:
        add((part.name, f"upstream.{part.name}"), lambda name=part.name: Chain(spec, plan, devices).explain(name))  # type: ignore[misc]  # bound now
    for unit in plan.facility.cooling:
        add((unit.name, f"cooling.{unit.name}"), lambda unit=unit: _cooling(spec, plan, unit))  # type: ignore[misc]  # bound now
    add((plan.name,), lambda: _site(spec, plan))
    return found


def _site(spec: SiteSpec, plan: SitePlan) -> Explanation:
    return Explanation(target=plan.name, what=f"site {plan.name}", sums=(site_sum(spec, plan),))


def _cooling(spec: SiteSpec, plan: SitePlan, unit: CoolingPlan) -> Explanation:
    """Return the heat that a set of cooling units removes, rack by rack, and what it can remove."""
    served = [rack for rack in plan.facility.racks if rack.name in set(unit.racks)]
    heats = ((rack, "", rack.heat_air_w if unit.kind == "air" else rack.heat_liquid_w) for rack in served)
    addends = by_rack(spec, heats, f"of heat into {unit.kind}", f"explain {plan.name} {{}}")
    return Explanation(
        target=unit.name,
        what=f"{unit.kind} cooling {unit.name}",
        sums=(added("heat", "W", addends),),
        figures=_cooling_figures(spec, unit),
    )


def _cooling_figures(spec: SiteSpec, unit: CoolingPlan) -> tuple[Figure, ...]:
    at, asked = next((at, c) for at, c in enumerate(spec.facility.cooling) if c.name == unit.name)
    where = spec.marks.where(("facility", "cooling", at))
    each, left = watts(asked.capacity_w_each), asked.units - asked.redundant
    figures = [
        Figure(name="capacity", unit="W", value=unit.capacity_w, how=f"{asked.units} x {each}", source=where),
        Figure(
            name=f"capacity with {asked.redundant} out",
            unit="W",
            value=unit.capacity_after_loss_w,
            how=f"{left} x {each}",
            source=where,
        ),
    ]
    rise, code = f"{asked.temperature_rise_k:g} K" if asked.temperature_rise_k else "", "coldaisle/plan/cooling.py"
    if unit.airflow_cfm is not None:
        how = f"1.76 x {watts(unit.load_w)} / {rise}"
        figures.append(Figure(name="air", unit="CFM", value=unit.airflow_cfm, how=how, source=code))
    if unit.coolant_l_min is not None:
        how = f"60 x {watts(unit.load_w)} / (0.997 kg/L x 4180 J/(kg K) x {rise})"
        figures.append(Figure(name="water", unit="L/min", value=unit.coolant_l_min, how=how, source=code))
    return tuple(figures)
