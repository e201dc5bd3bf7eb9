"""A table before anybody decides how it is shown: as text, as CSV or as JSON, with the hash of its plan in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.render.cabling.exports import table

Cell = str | int | float | None
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """
    Rows under columns, of a site's plan.

    `key` is what JSON calls the rows. With `grouped`, rows of the same first cell stand together under it as a heading
    when people read them.
    """

    key: str
    site: str
    digest: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    grouped: bool = False

    def csv(self) -> str:
        """Return CSV with a head; the last column of each row is the plan's hash."""
        return table((*self.columns, "plan"), ((*map(_text, row), self.digest) for row in self.rows))

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object that names site and plan, and has an object for each row."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"schema_version": "1", "site": self.site, "plan": self.digest, self.key: rows}


def _text(cell: Cell) -> str:
    return "" if cell is None else shown(cell)


def shown(cell: Cell) -> str:
    """Return a cell as people read it: no zeros behind a figure, and a dash for what is not known."""
    if cell is None:
        return "-"
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def fabrics_of(plan: SitePlan, name: str | None) -> Iterator[FabricPlan]:
    """
    Yield the fabric of a name, or all of them.

    Raises:
        LookupError: there is no such fabric.
    """
    if name is not None and name not in plan.fabrics:
        raise LookupError(f"there is no fabric {name}; known: {', '.join(sorted(plan.fabrics))}")
    yield from plan.fabrics.values() if name is None else (plan.fabrics[name],)


def places_of(plan: SitePlan) -> dict[str, tuple[str, int]]:
    """Return rack and rack unit of each device that has a place."""
    return {device.device: (rack.name, device.rack_unit) for rack in plan.facility.racks for device in rack.devices}
