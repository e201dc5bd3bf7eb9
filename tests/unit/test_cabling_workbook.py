"""The workbook for UFM's cable validation, read back by another library than the one that writes it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace

from python_calamine import CalamineWorkbook

from coldaisle.check import open_site
from coldaisle.plan import plan_site
from coldaisle.render.cabling import pack_of
from coldaisle.render.cabling.workbook import COLUMNS, workbooks
from tests.unit.floor_sites import superpod
from tests.unit.test_cabling_pack import folder, pack

Cells = Sequence[Sequence[object]]


def sheets(site: str) -> dict[str, tuple[bytes, Cells]]:
    """Return each workbook of a site as bytes, and the cells of its only sheet."""
    found = {}
    for name, content in workbooks(open_site(folder(site)).spec, pack(site)):
        found[name] = content, cells(content)
    return found


def cells(content: bytes) -> Cells:
    """Return the cells of a workbook's only sheet."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    return book.get_sheet_by_name(*book.sheet_names).to_python()


def test_every_cable_is_a_row_of_its_fabric() -> None:
    """An Ethernet fabric has a row a cable: rack, unit, name, type and port of both ends, under the tool's heads."""
    for name, (_, (head, *rows)) in sheets("base").items():
        cables = [row for row in pack().rows if name == f"ufm-{row.fabric.name}.xlsx"]
        assert tuple(head) == COLUMNS
        assert [tuple(row) for row in rows] == [
            tuple(
                cell for end in (row.a, row.b) for cell in (end.rack, end.unit, end.device, kind(end.device), end.port)
            )
            for row in cables
        ]


def kind(device: str) -> str:
    """Return what the tool calls a device of the base site."""
    switches = {switch.name for fabric in pack().plan.fabrics.values() for switch in fabric.switches}
    return "Switch" if device in switches else "Host"


def test_infiniband_ports_are_numbers() -> None:
    """In an InfiniBand fabric a switch's ports are the numbers of its chip, and a host's are counted from 1."""
    _, (_, *rows) = sheets("h100-pod")["ufm-compute.xlsx"]
    by_host: dict[object, list[object]] = {}
    for row in rows:
        by_host.setdefault(row[2], []).append(row[4])
    assert by_host["r01-n1"] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert by_host["leaf01"] == list(range(33, 65))
    assert {row[9] for row in rows if row[7] == "leaf01"} == set(range(1, 33))


def test_ports_of_nvos_keep_their_names() -> None:
    """The tool knows the ports of NVOS switches by the names that the catalog has."""
    spec = superpod(2, managers=False, leaf={"model": "q3400-ra"}, spine={"model": "q3400-ra"})
    (content,) = dict(workbooks(spec, pack_of(spec, plan_site(spec)))).values()
    _, *rows = cells(content)
    assert (rows[0][2], rows[0][4], rows[0][7], rows[0][9]) == ("n0001", 1, "leaf01", "sw1p1")


def test_a_workbook_names_its_plan_and_is_the_same_to_the_byte() -> None:
    """Its properties and every printed page name the plan; writing it again changes no byte."""
    for name, (content, _) in sheets("base").items():
        parts = zipfile.ZipFile(io.BytesIO(content))
        for part in ("docProps/core.xml", "xl/worksheets/sheet1.xml"):
            assert pack().digest in parts.read(part).decode()
        assert dict(workbooks(open_site(folder("base")).spec, pack()))[name] == content


def test_an_end_without_a_place_has_empty_cells() -> None:
    """Where a device has no place on the floor, rack and unit are empty and not made up."""
    whole = pack()
    lost = tuple(replace(row, a=replace(row.a, rack="", unit=None)) for row in whole.rows)
    for _, content in workbooks(open_site(folder("base")).spec, replace(whole, rows=lost)):
        _, *rows = cells(content)
        assert {tuple(row[:2]) for row in rows} == {("", "")}
        assert all(row[5] and row[6] for row in rows)
