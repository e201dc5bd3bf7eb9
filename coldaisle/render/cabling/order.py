"""
What to order: cables by rate and length, and the transceivers that fibre needs.

Nothing here chooses: a row names what the fabric's `media` does, or else every entry of the catalog that carries the
rate over the length on that kind of fabric, and none where the catalog knows none. Copper and optical cables with plugs
on need no transceivers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import FabricPlan
from coldaisle.render.cabling.exports import table
from coldaisle.render.cabling.rows import Pack, Plug, Row
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Catalog, Switch
from coldaisle.spec.links import Cable, Optic

COLUMNS = ("item", "fabric", "kind", "rate_gbps", "length_m", "count", "catalog", "plan")


@dataclass(frozen=True, slots=True)
class OrderLine:
    """
    How many of what to order: cables of a rate and a length, or transceivers that reach over one.

    `kind` says where it goes, `length_m` is None where it is not known, and `fits` names the entries of the catalog
    that do.
    """

    item: str
    fabric: str
    kind: str
    rate_gbps: float
    length_m: float | None
    count: int
    fits: tuple[str, ...]


def order_csv(spec: SiteSpec, pack: Pack) -> str:
    """Return the bill of materials of the cables as CSV."""
    return table(COLUMNS, (_cells(line, pack.digest) for line in order_lines(spec, pack)))


def _cells(line: OrderLine, digest: str) -> tuple[object, ...]:
    length = "" if line.length_m is None else f"{line.length_m:g}"
    fits = " | ".join(line.fits)
    return line.item, line.fabric, line.kind, f"{line.rate_gbps:g}", length, line.count, fits, digest


def order_lines(spec: SiteSpec, pack: Pack) -> Iterator[OrderLine]:
    """Yield what to order: cables first, then transceivers."""
    yield from _cables(spec, pack)
    yield from _optics(spec, pack)


def _cables(spec: SiteSpec, pack: Pack) -> Iterator[OrderLine]:
    counts = Counter(
        (row.fabric.name, row.cable.kind, row.cable.rate_gbps, row.cable.length_m is None, row.cable.length_m or 0.0)
        for row in pack.rows
    )
    for (fabric, kind, rate, unknown, length), links in sorted(counts.items()):
        count, of_kind = links, link_kind(pack.plan.fabrics[fabric])
        fits = [] if unknown else cables_for(spec.catalog, of_kind, rate, length)
        if media := spec.fabrics[fabric].media.get(kind):
            cable = spec.catalog.cables[media.cable]
            fits = [media.cable if unknown else f"{media.cable}{_made(cable, length)}"]
            count = _needed(links, rate, cable)
        yield OrderLine("cable", fabric, kind, rate, None if unknown else length, count, tuple(fits))


def _needed(links: int, rate_gbps: float, cable: Cable) -> int:
    """Return how many cables of a kind carry some links: one may carry two, or a link may need two fibres."""
    return links if cable.medium == "twisted-pair" else ceil(links * rate_gbps / cable.rate_gbps)


def link_kind(fabric: FabricPlan) -> str:
    """Return which kind of link a fabric has, as the catalog names it."""
    return "infiniband" if fabric.kind == "infiniband" else "ethernet"


def cables_for(catalog: Catalog, kind: str, rate_gbps: float, length_m: float) -> list[str]:
    """Return the cables that join one port to one port of a rate, over a length; made lengths are rounded up."""
    return [
        f"{name}{_made(cable, length_m)}"
        for name, cable in sorted(catalog.cables.items())
        if kind in cable.kinds and cable.far_ends == 1 and _carries(cable, rate_gbps) and _reaches(cable, length_m)
    ]


def _carries(cable: Cable, rate_gbps: float) -> bool:
    return rate_gbps <= cable.rate_gbps if cable.medium == "twisted-pair" else rate_gbps == cable.rate_gbps


def _reaches(cable: Cable, length_m: float) -> bool:
    return length_m <= max(cable.lengths_m, default=cable.reach_m)


def _made(cable: Cable, length_m: float) -> str:
    made = min((each for each in cable.lengths_m if each >= length_m), default=None)
    return "" if made is None else f" of {made:g} m"


def _optics(spec: SiteSpec, pack: Pack) -> Iterator[OrderLine]:
    """Yield what transceivers a fabric needs where it has fibre: one a cage, for the longest cable of its kind."""
    cages: defaultdict[tuple[str, str, float, int, str], set[tuple[str, object]]] = defaultdict(set)
    longest: defaultdict[tuple[str, str, float, int, str], float] = defaultdict(float)
    sockets = {name: _Sockets(spec, fabric) for name, fabric in pack.plan.fabrics.items()}
    for row in pack.rows:
        media = spec.fabrics[row.fabric.name].media.get(row.cable.kind)
        if media and media.lower is None:
            continue
        for plug in (row.a, row.b):
            where, rate, ports, cage = sockets[row.fabric.name].of(row, plug)
            named = (media.lower if plug is row.a else media.upper) if media else None
            need = row.fabric.name, where, rate, ports, named or ""
            cages[need].add((plug.device, cage))
            longest[need] = max(longest[need], row.cable.length_m or 0.0)
    for need, used in sorted(cages.items()):
        fabric, where, rate, ports, named = need
        kind = link_kind(pack.plan.fabrics[fabric])
        fits = [named] if named else optics_for(spec.catalog, kind, rate, ports, longest[need])
        if fits:
            item = "transceiver" if named else "transceiver, where fibre is laid"
            yield OrderLine(item, fabric, where, rate, longest[need], len(used), tuple(fits))


class _Sockets:
    """What the ends of a fabric's cables are plugged into: a cage holds one port or several."""

    def __init__(self, spec: SiteSpec, fabric: FabricPlan) -> None:
        self._roles = {switch.name: switch.role for switch in fabric.switches}
        self._ports = {
            role: dict(_cages(role_model(spec.catalog, spec.fabrics[fabric.name], role)))
            for role in set(self._roles.values())
        }

    def of(self, row: Row, plug: Plug) -> tuple[str, float, int, object]:
        """Return where a plug goes, rate and ports of the whole module there, and which cage of its device it is."""
        role = self._roles.get(plug.device)
        known = self._ports[role].get(plug.port) if role else None
        where = f"{role} port" if role else "device port"
        return (where, *known) if known else (where, row.cable.rate_gbps, 1, plug.port)


def _cages(model: Switch) -> Iterator[tuple[str, tuple[float, int, object]]]:
    """Yield each port of a switch with the rate and the ports of its cage, and the cage."""
    for number, block in enumerate(model.ports):
        each = block.ports_per_cage
        for index in range(block.count):
            yield block.port_name(index), (block.rate_gbps * each, each, (number, index // each))


def optics_for(catalog: Catalog, kind: str, rate_gbps: float, ports: int, length_m: float) -> list[str]:
    """Return the transceivers of a rate, in so many ports, that reach over a length on a kind of fabric."""

    def fits(optic: Optic) -> bool:
        whole = (optic.rate_gbps, optic.ports) == (rate_gbps, ports)
        return kind in optic.kinds and whole and length_m <= optic.reach_m

    return [name for name, optic in sorted(catalog.optics.items()) if fits(optic)]
