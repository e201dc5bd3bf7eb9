"""
The budgets of a plan as one list, and what became of each between two plans.

A change of the spec is judged by what it does to feeds, to the chain above them, to cooling and to racks. Both plans
are read in their JSON form, so that a file written by an earlier run compares as well as a plan that was just made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pydantic_core

from coldaisle.plan.model import FacilityPlan

Kind = Literal["site", "upstream", "cooling", "rack", "feed", "bank", "phase"]
KINDS: tuple[Kind, ...] = ("site", "upstream", "cooling", "rack", "feed", "bank", "phase")
"""Kinds of budgets, from the whole site down to a circuit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """
    One value against its limit, in `unit`.

    `name` is what `coldaisle explain` takes; of a bank or a phase that is what stands before its slash. A value that is
    not known is None, and so is a limit where there is none.
    """

    kind: Kind
    name: str
    figure: str
    value: float | None
    limit: float | None
    unit: str

    @property
    def part(self) -> float | None:
        """Return how much of the limit is reached, or None where either is not known."""
        return None if self.value is None or not self.limit else self.value / self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A budget before and after; None where the thing itself is not there."""

    before: Budget | None
    after: Budget | None

    @property
    def budget(self) -> Budget:
        """Return the budget as it is now, or as it was where it is gone."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change has at least one side
        return found


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of a record of the plan: what it is called, and the keys of its value and its limit, with dots."""

    name: str
    value: str
    limit: str | None = None
    unit: str = "W"


_DRAWS = (
    _Figure("typical draw", "draws.typical_w"),
    _Figure("transient draw", "draws.transient_w"),
    _Figure("start-up draw", "draws.startup_w"),
)
_LOADS = (
    _Figure("load", "load_w", "capacity_w"),
    _Figure("load after the worst loss", "load_after_loss_w", "capacity_w"),
)
_UPSTREAM = (*_LOADS, *_DRAWS, _Figure("losses", "loss_w"))
_FEED = (*_LOADS, *_DRAWS)
_CURRENT = (
    _Figure("current", "load_a", "capacity_a", "A"),
    _Figure("current after the worst loss", "load_after_loss_a", "capacity_a", "A"),
)
_SITE = (
    _Figure("IT power", "it_power_w"),
    _Figure("typical IT power", "it_draws.typical_w"),
    _Figure("transient IT power", "it_draws.transient_w"),
    _Figure("start-up IT power", "it_draws.startup_w"),
)
_COOLING = (
    _Figure("heat", "load_w", "capacity_w"),
    _Figure("heat with the spare units out", "load_w", "capacity_after_loss_w"),
    _Figure("air", "airflow_cfm", unit="CFM"),
    _Figure("coolant", "coolant_l_min", unit="L/min"),
)
_RACK = (
    _Figure("power", "power_w"),
    _Figure("rack units", "used_u", "height_u", "U"),
    _Figure("heat into air", "heat_air_w"),
    _Figure("heat into liquid", "heat_liquid_w"),
    _Figure("weight", "weight_kg", unit="kg"),
    *_DRAWS,
)


def facility_json(facility: FacilityPlan) -> dict[str, Any]:
    """Return the facility of a plan in its JSON form (docs/plan-json.md)."""
    plain: dict[str, Any] = pydantic_core.to_jsonable_python(facility)
    return plain


def budgets(site: str, facility: Mapping[str, Any]) -> tuple[Budget, ...]:
    """
    Return every budget of a facility, kind by kind in the plan's order.

    Args:
        site: Name of the site, which its own budget has.
        facility: The facility of a plan in its JSON form; a figure that an older plan has not is not known.
    """
    found = [_budget("site", site, facility, figure) for figure in _SITE]
    found.append(_start(site, facility.get("start_order")))
    found += _of("upstream", facility.get("upstream", ()), _UPSTREAM)
    found += _of("cooling", facility.get("cooling", ()), _COOLING)
    racks = facility.get("racks", ())
    found += _of("rack", racks, _RACK)
    for rack in racks:
        found += _of("feed", rack.get("feeds", ()), _FEED, f"{rack['name']}.feed_")
        for feed in rack.get("feeds", ()):
            below = f"{rack['name']}.feed_{feed['name']}/"
            found += _of("bank", feed.get("banks", ()), _CURRENT, below)
            found += _of("phase", feed.get("phase_loads", ()), _CURRENT, below)
    return tuple(found)


def _start(site: str, groups: Collection[object] | None) -> Budget:
    """Return in how many groups a site starts after a blackout."""
    count = None if groups is None else float(len(groups))
    return Budget(kind="site", name=site, figure="start after a blackout", value=count, limit=None, unit="groups")


def _of(kind: Kind, records: Iterable[Mapping[str, Any]], figures: Iterable[_Figure], before: str = "") -> list[Budget]:
    return [_budget(kind, before + record["name"], record, figure) for record in records for figure in figures]


def _budget(kind: Kind, name: str, record: Mapping[str, Any], figure: _Figure) -> Budget:
    limit = _number(record, figure.limit) if figure.limit else None
    value = _number(record, figure.value)
    return Budget(kind=kind, name=name, figure=figure.name, value=value, limit=limit, unit=figure.unit)


def _number(record: Mapping[str, Any], key: str) -> float | None:
    """Return a number of a record, or of a record in it; None where an older plan has none of that key."""
    first, _, rest = key.partition(".")
    found = record.get(first)
    return _number(found or {}, rest) if rest else found


def changes(before: Iterable[Budget], after: Iterable[Budget]) -> tuple[Change, ...]:
    """
    Return the budgets that differ between two plans, kind by kind, in the order of the later plan, what is gone last.

    Watts are compared to the milliwatt: sums that were added up in another order are the same.
    """
    old, new = _by_key(before), _by_key(after)
    found = [Change(before=old.get(key), after=new.get(key)) for key in {**new, **old}]
    return tuple(sorted((change for change in found if _differs(change)), key=lambda c: KINDS.index(c.budget.kind)))


def _by_key(found: Iterable[Budget]) -> dict[tuple[str, str, str], Budget]:
    return {(budget.kind, budget.name, budget.figure): budget for budget in found}


def _differs(change: Change) -> bool:
    return _reading(change.before) != _reading(change.after)


def _reading(budget: Budget | None) -> tuple[float | None, ...] | None:
    """Return what counts of a budget; one with neither value nor limit is as good as one that is not there."""
    if budget is None or (budget.value is None and budget.limit is None):
        return None
    return tuple(None if number is None else round(number, 3) for number in (budget.value, budget.limit))


def alike(found: Iterable[Change]) -> Iterator[tuple[tuple[str, ...], Change]]:
    """Yield changes that read the same once, with the names of all that they are of: 32 racks make one line."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in found:
        budget = change.budget
        key = (budget.kind, budget.figure, _reading(change.before), _reading(change.after))
        groups.setdefault(key, []).append(change)
    for group in groups.values():
        yield tuple(change.budget.name for change in group), group[0]
