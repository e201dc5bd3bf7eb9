"""
The bill of materials of fabrics: switches, cables by rate and length, and transceivers, with spares by one rule.

The rule for spares: a part of each line, rounded up, so that no line that is ordered at all is without one. Without a
part asked for there are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil

from coldaisle.plan.model import SitePlan
from coldaisle.render.cabling.order import order_lines
from coldaisle.render.cabling.rows import Pack, pack_of
from coldaisle.render.fabric.listing import Listing, Row, fabrics_of
from coldaisle.spec import SiteSpec

COLUMNS = ("fabric", "item", "kind", "rate_gbps", "length_m", "count", "spares", "order", "catalog")


def spares_of(count: int, percent: float) -> int:
    """Return the spares of a line: so many percent of it, rounded up. Example: 2 % of 120 are 3, of 10 are 1."""
    # Rounded first, since 7 % of 100 is a little more than 7 in floating point.
    return ceil(round(count * percent / 100, 9))


def bill_of_materials(
    spec: SiteSpec, plan: SitePlan, fabric: str | None = None, spares_percent: float = 0.0
) -> Listing:
    """
    Return what to order for a fabric, or for all: a line an item.

    Args:
        spec: The site, whose catalog names what fits.
        plan: Its plan.
        fabric: Only this fabric.
        spares_percent: Spares of each line in percent of it.

    Raises:
        LookupError: there is no such fabric.
    """
    pack = pack_of(spec, plan)
    wanted = {one.name for one in fabrics_of(plan, fabric)}
    lines = [line for line in (*_switches(plan), *_cabling(spec, pack)) if line[0] in wanted]
    rows = tuple(_with_spares(line, spares_percent) for line in sorted(lines, key=lambda line: str(line[0])))
    return Listing("order", pack.site, pack.digest, COLUMNS, rows, grouped=True)


def _switches(plan: SitePlan) -> Iterator[Row]:
    for fabric in plan.fabrics.values():
        for (role, model), count in Counter((switch.role, switch.model) for switch in fabric.switches).items():
            yield fabric.name, "switch", role, None, None, count, model


def _cabling(spec: SiteSpec, pack: Pack) -> Iterator[Row]:
    for line in order_lines(spec, pack):
        yield line.fabric, line.item, line.kind, line.rate_gbps, line.length_m, line.count, " | ".join(line.fits)


def _with_spares(line: Row, percent: float) -> Row:
    *what, count, fits = line
    spares = spares_of(int(count or 0), percent)
    return (*what, count, spares, int(count or 0) + spares, fits)
