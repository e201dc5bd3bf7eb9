"""
What fits into a port, and what joins two of them: plugs and cages, connectors and fibre, rates and reach.

Nothing here chooses. `faults` says what is wrong with one way of joining two ports, and `known_ways` are all that the
catalog has, so that a site which names none is told only when none of them fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from coldaisle.spec.catalog import Catalog
from coldaisle.spec.links import Cable, FormFactor, LinkKind, Optic
from coldaisle.spec.media import LinkMedia

SMALLER: Mapping[FormFactor, frozenset[FormFactor]] = {
    "qsfp-dd": frozenset({"qsfp-dd", "qsfp56", "qsfp28"}),
    "qsfp112": frozenset({"qsfp112", "qsfp56", "qsfp28"}),
    "qsfp56": frozenset({"qsfp56", "qsfp28"}),
}
"""What a cage takes beside its own form factor: QSFP-DD and QSFP cages take older QSFP modules (QSFP-DD MSA)."""


@dataclass(frozen=True, slots=True)
class Socket:
    """A cage: what it takes, none where that is not known, and how many ports share one module in it."""

    takes: tuple[FormFactor, ...] = ()
    ports: int = 1

    def holds(self, plug: FormFactor) -> bool:
        """Tell whether a plug fits."""
        return not self.takes or any(plug in SMALLER.get(cage, {cage}) for cage in self.takes)

    @property
    def name(self) -> str:
        """Return what it takes, as messages write it."""
        return " or ".join(each.upper() for each in self.takes)


@dataclass(frozen=True, slots=True)
class Span:
    """The longest of a fabric's cables between two kinds of sockets. `length_m` is None where no length is known."""

    fabric: LinkKind
    lower: Socket
    upper: Socket
    rate_gbps: float
    length_m: float | None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to join two ports, as parts of the catalog."""

    cable: Cable
    lower: Optic | None = None
    upper: Optic | None = None

    @property
    def plugs(self) -> tuple[FormFactor, FormFactor]:
        """Return what goes into the lower and into the upper port; a cable that splits has its one plug above."""
        if self.lower is not None and self.upper is not None:
            return self.lower.form_factor, self.upper.form_factor
        return self.cable.far_form_factor or self.cable.form_factor, self.cable.form_factor

    @property
    def reach_m(self) -> float:
        """Return the longest length of all parts."""
        optics = [optic.reach_m for optic in (self.lower, self.upper) if optic]
        return min([max(self.cable.lengths_m, default=self.cable.reach_m), *optics])


def way_of(catalog: Catalog, media: LinkMedia) -> Way:
    """Return the parts that a site names."""
    lower = catalog.optics[media.lower] if media.lower is not None else None
    upper = catalog.optics[media.upper] if media.upper is not None else None
    return Way(catalog.cables[media.cable], lower, upper)


def faults(way: Way, span: Span) -> Iterator[str]:
    """Yield what does not fit, apart from the reach."""
    for end, socket, plug in (("lower", span.lower, way.plugs[0]), ("upper", span.upper, way.plugs[1])):
        if not socket.holds(plug):
            yield f"{plug.upper()} does not fit into the {end} port, which takes {socket.name}"
    if any(span.fabric not in part.kinds for part in (way.cable, way.lower, way.upper) if part):
        yield f"not all parts are made for {span.fabric}"
    yield from _between_optics(way, span) if way.lower and way.upper else _with_plugs(way, span)


def _with_plugs(way: Way, span: Span) -> Iterator[str]:
    cable = way.cable
    if cable.medium in {"multimode", "single-mode"}:
        yield "fibre without transceivers has no plugs"
        return
    links = cable.far_ends if cable.far_ends > 1 else min(span.lower.ports, span.upper.ports)
    fits = span.rate_gbps <= cable.rate_gbps if cable.medium == "twisted-pair" else _each(cable, links, span)
    if not fits:
        yield f"the cable carries {cable.rate_gbps / links:g} Gb/s a link, and the ports run at {span.rate_gbps:g}"


def _each(cable: Cable, links: int, span: Span) -> bool:
    """Tell whether a cable carries the rate in one link, or in as many as both cages have ports."""
    return span.rate_gbps in {cable.rate_gbps / cable.far_ends, cable.rate_gbps / links}


def _between_optics(way: Way, span: Span) -> Iterator[str]:
    ends = [optic for optic in (way.lower, way.upper) if optic]
    rates = {optic.rate_gbps / optic.ports for optic in ends} | {way.cable.rate_gbps / way.cable.far_ends}
    if len(rates) > 1 or not all(_runs_at(optic, span.rate_gbps) for optic in ends):
        shown = " and ".join(f"{rate:g}" for rate in sorted(rates))
        yield f"the parts carry {shown} Gb/s a fibre, and the ports run at {span.rate_gbps:g}"
    connectors = {optic.connector for optic in ends} | {way.cable.form_factor}
    if len(connectors) > 1:
        yield f"connectors {' and '.join(sorted(each.upper() for each in connectors))} do not fit each other"
    glass = {optic.fibre for optic in ends} | {way.cable.medium}
    if len(glass) > 1:
        yield f"{' and '.join(sorted(glass))} do not go together"


def _runs_at(optic: Optic, rate_gbps: float) -> bool:
    """Tell whether a link has a rate as one port of a transceiver, or as all of them with a fibre each."""
    return rate_gbps in {optic.rate_gbps / optic.ports, optic.rate_gbps}


def known_ways(catalog: Catalog, span: Span) -> Iterator[Way]:
    """Yield every way of the catalog that could carry a rate on a kind of fabric, whatever the plugs."""
    cables = [cable for cable in catalog.cables.values() if span.fabric in cable.kinds]
    yield from (Way(cable) for cable in cables if cable.medium not in {"multimode", "single-mode"})
    fibres = [cable for cable in cables if cable.medium in {"multimode", "single-mode"}]
    optics = [
        optic for optic in catalog.optics.values() if span.fabric in optic.kinds and _runs_at(optic, span.rate_gbps)
    ]
    for lower, upper in product(optics, repeat=2):
        yield from (Way(fibre, lower, upper) for fibre in fibres)
