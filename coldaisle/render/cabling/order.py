"""
What to order: cables by rate and length, and the transceivers that fibre needs.

Nothing here chooses: a row names every entry of the catalog that carries the rate over the length on that kind of
fabric, and none where the catalog knows none. Copper and optical cables with plugs on need no transceivers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import FabricPlan
from coldaisle.render.cabling.exports import table
from coldaisle.render.cabling.rows import Pack, Plug, Row
from coldaisle.spec import SiteSpec
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.links import Cable, Optic

COLUMNS = ("item", "fabric", "kind", "rate_gbps", "length_m", "count", "catalog", "plan")

Need = tuple[str, str, float, int, float | None]
"""A need for transceivers: fabric, where they go, rate of the whole module, its ports, and the longest fibre."""


def order_csv(spec: SiteSpec, pack: Pack) -> str:
    """Return the bill of materials of the cables as CSV."""
    return table(COLUMNS, (*_cables(spec.catalog, pack), *_optics(spec, pack)))


def _cables(catalog: Catalog, pack: Pack) -> Iterator[tuple[object, ...]]:
    counts = Counter(
        (row.fabric.name, row.cable.kind, row.cable.rate_gbps, row.cable.length_m is None, row.cable.length_m or 0.0)
        for row in pack.rows
    )
    for (fabric, kind, rate, unknown, length), count in sorted(counts.items()):
        fits = [] if unknown else cables_for(catalog, link_kind(pack.plan.fabrics[fabric]), rate, length)
        yield "cable", fabric, kind, f"{rate:g}", "" if unknown else f"{length:g}", count, " | ".join(fits), pack.digest


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
    return f" of {min(made for made in cable.lengths_m if made >= length_m):g} m" if cable.lengths_m else ""


def _optics(spec: SiteSpec, pack: Pack) -> Iterator[tuple[object, ...]]:
    cages: defaultdict[Need, set[tuple[str, int | str]]] = defaultdict(set)
    longest = _longest(pack)
    for row in pack.rows:
        for plug in (row.a, row.b):
            where, rate, ports, cage = _cage(spec, row, plug)
            cages[row.fabric.name, where, rate, ports, longest[row.fabric.name, where]].add((plug.device, cage))
    for need, used in sorted(cages.items(), key=lambda each: each[0][:4]):
        fabric, where, rate, _, length = need
        fits = " | ".join(optics_for(spec.catalog, link_kind(pack.plan.fabrics[fabric]), need))
        if fits:
            yield "transceiver, where fibre is laid", fabric, where, f"{rate:g}", length, len(used), fits, pack.digest


def _longest(pack: Pack) -> dict[tuple[str, str], float]:
    """Return the longest known cable at each kind of end of each fabric."""
    longest: dict[tuple[str, str], float] = {}
    for row in pack.rows:
        for plug in (row.a, row.b):
            key = row.fabric.name, _where(row, plug)
            longest[key] = max(longest.get(key, 0.0), row.cable.length_m or 0.0)
    return longest


def _where(row: Row, plug: Plug) -> str:
    roles = {switch.name: switch.role for switch in row.fabric.switches}
    return f"{roles[plug.device]} port" if plug.device in roles else "device port"


def _cage(spec: SiteSpec, row: Row, plug: Plug) -> tuple[str, float, int, int | str]:
    """Return where a plug goes, the rate and the ports of the module that its cage takes, and which cage that is."""
    switch = next((one for one in row.fabric.switches if one.name == plug.device), None)
    if switch is None:
        return "device port", row.cable.rate_gbps, 1, plug.port
    model = role_model(spec.catalog, spec.fabrics[row.fabric.name], switch.role)
    names = model.port_names()
    if plug.port not in names:
        return f"{switch.role} port", row.cable.rate_gbps, 1, plug.port
    index = names.index(plug.port)
    block, within = model.block_of(index)
    each = block.ports_per_cage
    return f"{switch.role} port", block.rate_gbps * each, each, index - within + within // each * each


def optics_for(catalog: Catalog, kind: str, need: Need) -> list[str]:
    """Return the transceivers of a rate and a number of ports that reach the longest fibre."""
    _, _, rate, ports, length = need

    def fits(optic: Optic) -> bool:
        return (
            kind in optic.kinds and (optic.rate_gbps, optic.ports) == (rate, ports) and (length or 0) <= optic.reach_m
        )

    return [name for name, optic in sorted(catalog.optics.items()) if fits(optic)]
