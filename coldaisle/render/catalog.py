"""Entries of the hardware catalog as people compare them: every figure with its source, and those that are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from coldaisle.spec.acceptance import METRICS, AcceptanceLimits
from coldaisle.spec.base import near_miss
from coldaisle.spec.catalog import Catalog, Gpu, Nic, PortBlock, Sourced, Switch, System
from coldaisle.spec.links import Cable, Optic
from coldaisle.spec.plant import Cdu, PowerShelf, RackPdu, RearDoorExchanger, Ups
from coldaisle.units import counted

Where = Callable[..., str]
"""Takes the path of a value below the catalog, and returns `file:line`, or nothing where it does not stand there."""

KINDS: tuple[str, ...] = tuple(Catalog.model_fields)
"""Kinds of entries, in the order in which they are listed."""

_EXPECTED: Mapping[type[Sourced], tuple[str, ...]] = {
    System: ("height_u", "max_power_w", "weight_kg", "air_share", "psus"),
    Switch: ("max_power_w", "weight_kg", "psus", "max_mtu_bytes"),
    Gpu: ("module_power_w", "memory_bytes", "memory_bytes_per_s", "link_bytes_per_s"),
    Nic: ("max_power_w",),
    Optic: ("power_w",),
    Cable: ("power_w",),
    RackPdu: ("capacity_w", "outlets", "banks", "bank_breaker_a", "height_u"),
    PowerShelf: ("height_u", "efficiency"),
    Ups: ("efficiency",),
    Cdu: ("approach_k", "flow_l_per_min", "max_power_w", "weight_kg"),
    RearDoorExchanger: ("capacity_w", "max_power_w"),
    AcceptanceLimits: METRICS,
}
"""Figures that a plan may need of an entry, by what the entry is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One figure of an entry: its name, its value as text, the document that gives it, and its line."""

    figure: str
    value: str
    source: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the catalog. `missing` are figures that plans may need and no document gave."""

    kind: str
    name: str
    where: str
    facts: tuple[Fact, ...]
    missing: tuple[str, ...]
    by_figure: Mapping[str, Fact] = field(default_factory=dict, repr=False)


def entries(catalog: Catalog, where: Where, kind: str | None = None) -> tuple[Entry, ...]:
    """
    Return the entries of a catalog, kind by kind and by name.

    Args:
        catalog: The catalog.
        where: Tells where a value stands.
        kind: Only entries of this kind, a key of `KINDS`.
    """
    kinds = (kind,) if kind else KINDS
    return tuple(
        entry_of(each, name, model, where) for each in kinds for name, model in sorted(getattr(catalog, each).items())
    )


def find(catalog: Catalog, where: Where, name: str) -> Entry:
    """
    Return an entry by its name.

    Raises:
        LookupError: there is none; the message names the nearest.
    """
    known: dict[str, tuple[str, Sourced]] = {}
    for kind in KINDS:
        for each, model in getattr(catalog, kind).items():
            known.setdefault(each, (kind, model))
    if name not in known:
        raise LookupError(f"the catalog has nothing named {name}: {near_miss(name, list(known))}")
    kind, model = known[name]
    return entry_of(kind, name, model, where)


def entry_of(kind: str, name: str, model: Sourced, where: Where) -> Entry:
    """Return one entry with all of its figures."""
    facts = tuple(_facts(kind, name, model, where))
    missing = tuple(
        figure
        for figure in _EXPECTED[type(model)]
        if getattr(model, figure) in (None, {}) and not _has_another(model, figure)
    )
    by_figure = {fact.figure: fact for fact in facts}
    return Entry(kind=kind, name=name, where=where(kind, name), facts=facts, missing=missing, by_figure=by_figure)


def _has_another(model: Sourced, figure: str) -> bool:
    """Tell whether a figure is not asked of an entry: shelves stand for supplies, and fibre alone draws nothing."""
    if isinstance(model, System):
        return figure == "psus" and model.power_shelves is not None
    if isinstance(model, Cable):
        return figure == "power_w" and model.medium in ("multimode", "single-mode", "twisted-pair")
    return figure == "max_mtu_bytes" and isinstance(model, Switch) and model.kind == "infiniband"


def _facts(kind: str, name: str, model: Sourced, where: Where) -> Iterator[Fact]:
    for figure in dict.fromkeys(("vendor", "description", *type(model).model_fields)):
        value = getattr(model, figure, None)
        if figure == "source" or value in (None, {}, [], ""):
            continue
        place = where(kind, name, figure) or where(kind, name)
        for below, text in _texts(figure, value):
            yield Fact(figure=below, value=text, source=model.source_of(figure) or "", where=place)


def _texts(figure: str, value: object) -> Iterator[tuple[str, str]]:
    """Return a figure as names and texts: one a port of a system, one a block of ports, one a part of a record."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield f"{figure}.{key}", _record_text(each) if isinstance(each, BaseModel) else str(each)
    elif isinstance(value, list) and isinstance(value[0], PortBlock):
        for at, each in enumerate(value, start=1):
            yield figure if len(value) == 1 else f"{figure}[{at}]", _ports_text(each)
    elif isinstance(value, list):
        yield figure, ", ".join(_text(each) for each in value)
    elif isinstance(value, BaseModel):
        for part in type(value).model_fields:
            if getattr(value, part) is not None:
                yield f"{figure}.{part}", _text(getattr(value, part))
    else:
        yield figure, _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, int | float) else str(value)


def _record_text(record: BaseModel) -> str:
    """Return a port of a system in one line: `400 Gb/s compute, rail 0, gpu 0, numa 0`."""
    values = {name: getattr(record, name) for name in type(record).model_fields}
    head = f"{values.pop('rate_gbps'):g} Gb/s {values.pop('role')}"
    return ", ".join([head, *(f"{name} {value}" for name, value in values.items() if value is not None)])


def _ports_text(block: PortBlock) -> str:
    names = f"{block.port_name(0)} … {block.port_name(block.count - 1)}" if block.count > 1 else block.port_name(0)
    lower = "".join(f", also {rate:g}" for rate in block.also_gbps)
    splits = f", splits into {' or '.join(str(count) for count in block.splits)}" if block.splits else ""
    return f"{counted(block.count, 'port')} of {block.rate_gbps:g} Gb/s ({names}){lower}{splits}"


def rows(compared: Sequence[Entry]) -> tuple[tuple[str, tuple[Fact | None, ...], bool], ...]:
    """Return each figure of some entries: its name, the fact of each entry or None, and whether they differ."""
    figures = dict.fromkeys(fact.figure for entry in compared for fact in entry.facts)
    figures |= dict.fromkeys(figure for entry in compared for figure in entry.missing)
    found = []
    for figure in figures:
        facts = tuple(entry.by_figure.get(figure) for entry in compared)
        found.append((figure, facts, len({fact.value if fact else None for fact in facts}) > 1))
    return tuple(found)
