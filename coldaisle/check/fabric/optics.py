"""Checks of what is plugged in: transceivers and cables that fit both ports, and lengths that they reach over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from coldaisle.check.fabric.plugs import Socket, Span, Way, faults, known_ways, way_of
from coldaisle.check.finding import Finding, finding
from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import CablePlan, FabricPlan, SitePlan
from coldaisle.spec.catalog import Catalog, Switch, System
from coldaisle.spec.links import FormFactor, LinkKind
from coldaisle.spec.marks import Loc
from coldaisle.spec.media import CableKind, LinkMedia
from coldaisle.spec.sections import SiteSpec


@dataclass(frozen=True, slots=True)
class _Run:
    """Cables that are alike: their kind, one that is named for all, and what they span."""

    kind: CableKind
    cable: CablePlan
    span: Span


def check_optics(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """What is plugged in fits both ports, carries their rate, and reaches as far as the cable is long."""
    for name, fabric in plan.fabrics.items():
        told: set[tuple[str, str]] = set()
        for run in _runs(spec, fabric):
            for check, what, have in _found(spec.catalog, spec.fabrics[name].media, run):
                if (check, run.kind) in told:
                    continue
                told.add((check, run.kind))
                yield _finding(spec, name, run, check, what, have)


def _finding(  # noqa: PLR0913, PLR0917 - the parts of a finding
    spec: SiteSpec, fabric: str, run: _Run, check: str, what: str, have: str
) -> Finding:
    named = run.kind in spec.fabrics[fabric].media
    loc: Loc = ("fabrics", fabric, "media", run.kind) if named else ("fabrics", fabric)
    cable = run.cable
    where = f"{cable.a.device} {cable.a.port} to {cable.b.device} {cable.b.port}"
    fix = {
        "optic-mismatch": "name parts that fit both ports and each other; `coldaisle catalog list` shows them",
        "reach-exceeded": "stand the two nearer to each other, or take optics that reach further",
    }[check]
    return finding(spec, loc, check, what=f"{where}: {what}", have=have, fix=fix)


def _found(catalog: Catalog, media: Mapping[CableKind, LinkMedia], run: _Run) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with a run: the id of the check, what, and what was found."""
    named = media.get(run.kind)
    yield from _found_any(catalog, run) if named is None else _found_named(catalog, named, run)


def _found_named(catalog: Catalog, media: LinkMedia, run: _Run) -> Iterator[tuple[str, str, str]]:
    way, span = way_of(catalog, media), run.span
    wrong = list(faults(way, span))
    parts = " + ".join(part for part in (media.lower, media.cable, media.upper) if part)
    if wrong:
        yield "optic-mismatch", f"{parts}: {wrong[0]}", "; ".join(wrong[1:])
    if span.length_m is not None and span.length_m > way.reach_m:
        have = f"{parts} reaches {way.reach_m:g} m"
        yield "reach-exceeded", f"the cable is {span.length_m:g} m long", have


def _found_any(catalog: Catalog, run: _Run) -> Iterator[tuple[str, str, str]]:
    """
    Yield what is wrong with every way that the catalog has.

    Nothing where a port's form factor is not known, or where the catalog has no part at all for one of the ports: then
    it cannot be told.
    """
    span = run.span
    if not (span.lower.takes and span.upper.takes):
        return
    ways = list(known_ways(catalog, span))
    if not all(any(_fits(way, one) for way in ways) for one in _one_sided(span)):
        return
    fitting = [way for way in ways if not any(faults(way, span))]
    if not fitting:
        have = f"{span.lower.name} below, {span.upper.name} above, {span.rate_gbps:g} Gb/s"
        yield "optic-mismatch", "no cable and no pair of transceivers of the catalog fits both ports", have
    elif span.length_m is not None and span.length_m > (most := max(way.reach_m for way in fitting)):
        have = f"the longest that fits reaches {most:g} m"
        yield "reach-exceeded", f"the cable is {span.length_m:g} m long", have


def _one_sided(span: Span) -> tuple[Span, Span]:
    """Return the span as if only one of its ends were known, for each end."""
    return replace(span, upper=replace(span.upper, takes=())), replace(span, lower=replace(span.lower, takes=()))


def _fits(way: Way, span: Span) -> bool:
    return not any(faults(way, span))


# -- what there is ------------------------------------------------------------------------------------------------
def _runs(spec: SiteSpec, fabric: FabricPlan) -> tuple[_Run, ...]:
    """Return the cables of a fabric by kind, sockets and rate, the longest of each for all."""
    kind: LinkKind = "infiniband" if fabric.kind == "infiniband" else "ethernet"
    sockets = _sockets(spec, fabric)
    nothing: Mapping[str, Socket] = {}
    unknown = _socket((), 1)
    longest: dict[tuple[CableKind, int, int, float], tuple[float, CablePlan, Socket, Socket]] = {}
    for cable in fabric.cables:
        lower = sockets.get(cable.a.device, nothing).get(cable.a.port, unknown)
        upper = sockets.get(cable.b.device, nothing).get(cable.b.port, unknown)
        # Sockets that are alike are one object, and a number is hashed sooner than what it stands for.
        key = cable.kind, id(lower), id(upper), cable.rate_gbps
        length = cable.length_m or 0.0
        if key not in longest or length > longest[key][0]:
            longest[key] = length, cable, lower, upper
    return tuple(
        _Run(cable.kind, cable, Span(kind, lower, upper, cable.rate_gbps, cable.length_m))
        for _, cable, lower, upper in longest.values()
    )


def _sockets(spec: SiteSpec, fabric: FabricPlan) -> dict[str, Mapping[str, Socket]]:
    """Return the sockets of every device that a fabric may meet, by device and port."""
    roles = dict.fromkeys(switch.role for switch in fabric.switches)
    models = {role: _switch_sockets(role_model(spec.catalog, spec.fabrics[fabric.name], role)) for role in roles}
    systems = {name: _system_sockets(spec.catalog, system) for name, system in spec.catalog.systems.items()}
    found: dict[str, Mapping[str, Socket]] = {node.name: systems[node.system] for node in spec.nodes}
    found |= {device.name: systems[device.model] for device in spec.facility.devices}
    return found | {switch.name: models[switch.role] for switch in fabric.switches}


@cache
def _socket(takes: tuple[FormFactor, ...], ports: int) -> Socket:
    return Socket(takes, ports)


def _switch_sockets(model: Switch) -> dict[str, Socket]:
    return {
        block.port_name(index): _socket((block.form_factor,) if block.form_factor else (), block.ports_per_cage)
        for block in model.ports
        for index in range(block.count)
    }


def _system_sockets(catalog: Catalog, system: System) -> dict[str, Socket]:
    takes = {role: tuple(catalog.nics[adapter].form_factors) for role, adapter in system.adapters.items()}
    return {name: _socket(takes.get(nic.role, ()), 1) for name, nic in system.nics.items()}
