"""
The point-to-point workbook that NVIDIA's UFM Cable Validation Tool takes as the truth: a file a fabric, a row a cable.

Source of the columns: NVIDIA UFM Cable Validation Tool, releases 1.4 to 1.6, page "P2P File", with its example of an
Ethernet sheet. The tool finds columns by their heads. It wants switch ports of InfiniBand as numbers, but for NVOS
where they are `sw<port>p<split>`, and ports of hosts there counted from 1, which its HCA mapping file turns into names
of adapters.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import FabricPlan
from coldaisle.render.cabling.rows import Pack, Plug, Row
from coldaisle.spec import SiteSpec

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

COLUMNS = (
    "A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port", "Z-Rack", "Z-RU", "Z-Node Name", "Z-Type", "Z-Port",
)  # fmt: skip
WIDTHS = (10, 6, 24, 8, 16)
"""Widths of one end's columns, in letters."""
WRITTEN = datetime(2000, 1, 1)  # noqa: DTZ001 - the format has no time zone
"""Every workbook says that it was made then, so that the same plan gives the same file."""

PortName = Callable[[Plug], str | int]


def workbooks(spec: SiteSpec, pack: Pack) -> Iterator[tuple[str, bytes]]:
    """Yield the workbook of each fabric by its file's name."""
    for fabric in pack.plan.fabrics.values():
        rows = [row for row in pack.rows if row.fabric is fabric]
        yield f"ufm-{fabric.name}.xlsx", _workbook(pack, fabric, rows, _port_names(spec, fabric, rows))


def _port_names(spec: SiteSpec, fabric: FabricPlan, rows: list[Row]) -> PortName:
    """Return how the tool knows a port: by its name, or in an InfiniBand fabric by its number."""
    if fabric.kind != "infiniband":
        return lambda plug: plug.port
    models = {
        role: role_model(spec.catalog, spec.fabrics[fabric.name], role).port_names()
        for role in {switch.role for switch in fabric.switches}
    }
    ports = {switch.name: models[switch.role] for switch in fabric.switches if switch.network_os != "nvos"}
    named = {switch.name for switch in fabric.switches if switch.network_os == "nvos"}
    hosts: dict[str, list[str]] = {}
    for plug in (plug for row in rows for plug in (row.a, row.b) if plug.device not in ports):
        hosts.setdefault(plug.device, []).append(plug.port)

    def number(plug: Plug) -> str | int:
        if plug.device in named:
            return plug.port
        known = ports.get(plug.device) or hosts[plug.device]
        return known.index(plug.port) + 1

    return number


def _workbook(pack: Pack, fabric: FabricPlan, rows: list[Row], port_name: PortName) -> bytes:
    from xlsxwriter import Workbook  # noqa: PLC0415 - slow to load, and only the workbook needs it

    out = io.BytesIO()
    switches = {switch.name for one in pack.plan.fabrics.values() for switch in one.switches}
    origin = f"fabric {fabric.name}, {pack.origin}"
    with Workbook(out, {"in_memory": True}) as book:
        book.set_properties({"title": f"Cables of {origin}", "comments": origin, "created": WRITTEN})
        sheet = book.add_worksheet(fabric.name[:31])
        sheet.write_row(0, 0, COLUMNS, book.add_format({"bold": True}))
        for number, row in enumerate(rows, 1):
            sheet.write_row(number, 0, [*_end(row.a, switches, port_name), *_end(row.b, switches, port_name)])
        _for_print(sheet, len(rows), origin)
    return out.getvalue()


def _end(plug: Plug, switches: set[str], port_name: PortName) -> tuple[str | int | None, ...]:
    kind = "Switch" if plug.device in switches else "Host"
    return plug.rack or None, plug.unit, plug.device, kind, port_name(plug)


def _for_print(sheet: Worksheet, rows: int, origin: str) -> None:
    """Keep the head in sight, let columns be filtered, and name the plan on every printed page."""
    for column, width in enumerate(WIDTHS + WIDTHS):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, rows, len(COLUMNS) - 1)
    sheet.set_landscape()
    sheet.set_paper(9)  # A4
    sheet.repeat_rows(0)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer(f"&L&8{origin}&R&8&P / &N")
