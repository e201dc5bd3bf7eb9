"""Which of a site's ledgers a name means, and that ledger written out with its sources."""

from __future__ import annotations

from collections.abc import Callable

from coldaisle.plan.model import RackPlan, SitePlan
from coldaisle.plan.placement import placed_devices
from coldaisle.render.ledger.chain import ChainLedger
from coldaisle.render.ledger.cooling import explain_cooling, explain_hall, explain_pue
from coldaisle.render.ledger.feeds import explain_feed
from coldaisle.render.ledger.racks import explain_rack, site_sums
from coldaisle.render.ledger.sums import Explanation
from coldaisle.spec.base import near_miss
from coldaisle.spec.sections import SiteSpec


def targets(plan: SitePlan) -> tuple[str, ...]:
    """Return everything that can be explained: the site, racks and feeds, the power chain, cooling, the PUE, halls."""
    facility = plan.facility
    names = [plan.name]
    names += [part.name for part in facility.upstream] + [unit.name for unit in facility.cooling]
    for rack in facility.racks:
        names += [rack.name, *(f"{rack.name}.feed_{feed.name}" for feed in rack.feeds)]
    return tuple(dict.fromkeys([*names, "pue", *halls_of(plan)]))


def halls_of(plan: SitePlan) -> tuple[str, ...]:
    """Return the halls that have racks, by name."""
    return tuple(sorted({rack.hall for rack in plan.facility.racks}))


def explain(spec: SiteSpec, plan: SitePlan, target: str) -> Explanation:
    """
    Return the sums behind one of a site's ledgers.

    Args:
        spec: The site.
        plan: Its plan.
        target: `r03.feed_a`, or the name of a rack, of a part of the power chain, of cooling, of a hall or of the
            site, or `pue`. Where two things share a name, `upstream.NAME`, `cooling.NAME` and `hall.NAME` say which.

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
        add((part.name, f"upstream.{part.name}"), lambda name=part.name: ChainLedger(spec, plan, devices).explain(name))  # type: ignore[misc]  # bound now
    for unit in plan.facility.cooling:
        add((unit.name, f"cooling.{unit.name}"), lambda unit=unit: explain_cooling(spec, plan, unit))  # type: ignore[misc]  # bound now
    add((plan.name,), lambda: _site(spec, plan))
    add(("pue",), lambda: explain_pue(spec, plan))
    for hall in halls_of(plan):
        add((hall, f"hall.{hall}"), lambda hall=hall: explain_hall(spec, plan, hall))  # type: ignore[misc]  # bound now
    return found


def _site(spec: SiteSpec, plan: SitePlan) -> Explanation:
    return Explanation(target=plan.name, what=f"site {plan.name}", sums=site_sums(spec, plan))
