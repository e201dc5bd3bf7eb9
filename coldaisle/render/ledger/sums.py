"""What an explanation is made of: sums with their addends, and figures with the formula that gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from coldaisle.check.places import catalog_line
from coldaisle.plan.model import NO_DRAWS, DrawsPlan
from coldaisle.plan.power.arithmetic import total
from coldaisle.plan.power.draws import BUDGETED
from coldaisle.spec.sections import SiteSpec

Unit = Literal["W", "kg", "rack units", "A", "CFM", "L/min", "°C", "kg/m2", "mm", "pumps", "W/W"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addend:
    """One part of a sum: what it is, how its value comes about, and where that stands. None is not known."""

    item: str
    how: str
    value: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Addends with their total; None where any of them is not known."""

    name: str
    unit: Unit
    addends: tuple[Addend, ...]
    total: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that is no sum, such as a capacity, with its formula and its source."""

    name: str
    unit: Unit
    value: float | None
    how: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that the ledgers say of one thing."""

    target: str
    what: str
    sums: tuple[Sum, ...]
    figures: tuple[Figure, ...] = ()


def added(name: str, unit: Unit, addends: Iterable[Addend]) -> Sum:
    """Return the sum of addends."""
    parts = tuple(addends)
    return Sum(name=name, unit=unit, addends=parts, total=total(part.value for part in parts))


def figure_source(spec: SiteSpec, kind: Literal["systems", "switches"], model: str, figure: str) -> str:
    """Return where a catalog figure stands and the document that gives it; that it is not there where it is not."""
    entry = spec.catalog.systems[model] if kind == "systems" else spec.catalog.switches[model]
    line = catalog_line(spec, kind, model, figure) or catalog_line(spec, kind, model)
    if getattr(entry, figure) is None:
        return f"the catalog has no {figure} of {model} ({line})"
    return f"{line}, {entry.source_of(figure)}" if line else entry.source_of(figure) or ""


def budget_source(where: str) -> str:
    """Return the source of a figure that the site itself gives."""
    return f"{BUDGETED} ({where})"


_KINDS = (("typical", "typical_w"), ("transient", "transient_w"), ("start-up", "startup_w"))


def draw_figures(draws: DrawsPlan, how: str, source: str) -> Iterator[Figure]:
    """Yield the draws beside the maximum; none where no kind of them is known."""
    for name, kind in _KINDS if draws != NO_DRAWS else ():
        yield Figure(name=f"{name} draw", unit="W", value=getattr(draws, kind), how=how, source=source)
