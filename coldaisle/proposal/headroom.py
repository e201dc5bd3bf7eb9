"""How many more of each system a hall can take by its power, cooling and space, and what stops the next one."""

from __future__ import annotations

from collections.abc import Iterable

from coldaisle.check import CheckedSite
from coldaisle.collector import collector_paused
from coldaisle.proposal.floor import Floor
from coldaisle.proposal.limits import fits, limits, model_of, unsure
from coldaisle.proposal.patterns import Rules
from coldaisle.proposal.records import Room, Want
from coldaisle.proposal.shared import Shared
from coldaisle.proposal.solver import solve


def room(
    site: CheckedSite, systems: Iterable[str], *, within: str | None = None, strict: bool = False
) -> tuple[Room, ...]:
    """
    Return the room for more of each system, one by one, as if it alone were added.

    Ports of fabrics, and switches that more nodes would need, are not counted: a proposal counts them.

    Args:
        site: The site.
        systems: Systems of its catalog.
        within: A rack, racks in a range, a row or a hall; None is everywhere.
        strict: Whether a place that a check would warn of is no place.
    """
    with collector_paused():
        floor = Floor(site.spec, site.plan, site.plan.fabrics, within=within)
        shared = Shared(floor)
        return tuple(_room(floor, shared, system, Rules(strict=strict)) for system in systems)


def _room(floor: Floor, shared: Shared, system: str, rules: Rules) -> Room:
    units = sum(rack.spec.height_u for rack in floor.racks)
    model = model_of(floor, shared, (Want("", system, units),), rules)
    solution = solve(model.problem(), tidy=False)
    more = fits(model.patterns, solution, 0)
    found = limits(model, solution, 0)
    if more == 0 and any(limit.unknown for limit in found):
        return Room(system=system, more=None, unsure=_missing(floor, system), limits=found)
    return Room(system=system, more=more, unsure=unsure(model, solution), limits=found)


def _missing(floor: Floor, system: str) -> tuple[str, ...]:
    """Return which figures of a system nobody knows that a place needs."""
    entry = floor.spec.catalog.systems[system]
    names = [name for name in ("height_u", "max_power_w", "air_share", "psus") if getattr(entry, name) is None]
    return (f"the catalog has no {', '.join(names)} of {system}",) if names else ()
