"""The cabling pack: whole, the same to the byte, and labels that a reader reads back."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from functools import cache
from pathlib import Path

import pypdfium2
import pytest
import zxingcpp

from coldaisle.check import open_site
from coldaisle.cli import main
from coldaisle.render.cabling import Pack, cabling_pack, pack_of
from coldaisle.render.cabling.order import cables_for
from tests.unit.floor_sites import catalog

ROOT = Path(__file__).parents[2]


@cache
def pack(site: str = "base") -> Pack:
    """Return the cables of a site."""
    checked = open_site(folder(site))
    return pack_of(checked.spec, checked.plan)


@cache
def files(site: str = "base") -> dict[str, bytes]:
    """Return the pack of a site."""
    checked = open_site(folder(site))
    return dict(cabling_pack(checked.spec, checked.plan))


def folder(site: str) -> Path:
    """Return the folder of a site."""
    return ROOT / "tests" / "cases" / "base" if site == "base" else ROOT / "inventory" / site


def rows(name: str, site: str = "base") -> list[dict[str, str]]:
    """Return the rows of a CSV of the pack."""
    return list(csv.DictReader(io.StringIO(files(site)[name].decode())))


def test_the_pack_is_the_same_to_the_byte_and_names_its_plan() -> None:
    """Two packs of one site are equal, and each file names the plan's hash."""
    checked = open_site(folder("base"))
    assert dict(cabling_pack(checked.spec, checked.plan)) == files()
    digest = pack().digest.encode()
    texts = {name: content for name, content in files().items() if not name.endswith((".pdf", ".xlsx"))}
    assert [name for name, content in texts.items() if digest not in content] == []
    shown = pypdfium2.PdfDocument(files()["labels.pdf"])
    assert all(pack().digest in page.get_textpage().get_text_range() for page in shown)


def test_every_cable_is_on_the_pages_of_both_ends() -> None:
    """Each cable stands on the page of both its racks and both its devices, with port, rack and unit of the other."""
    for row in pack().rows:
        for near, far in ((row.a, row.b), (row.b, row.a)):
            for page in (f"racks/{near.rack}.html", f"devices/{near.device}.html"):
                text = files()[page].decode()
                rack = "this rack" if near.rack == far.rack else far.rack
                cells = f'<td class="port">{near.port}</td><td>{far.device}</td><td class="port">{far.port}</td>'
                assert f'{cells}<td>{rack}</td><td class="number">{far.unit}</td>' in text


def test_pages_stand_alone() -> None:
    """A page fetches nothing, and has a style of its own for print."""
    pages = [content.decode() for name, content in files().items() if name.endswith(".html")]
    assert all("@media print" in page and not re.search(r"https?://|<script|<link", page) for page in pages)


def test_links_of_the_index_exist() -> None:
    """Whatever the index points to is in the pack."""
    targets = re.findall(r'href="([^"]+)"', files()["index.html"].decode())
    assert set(targets) <= files().keys()
    assert len(targets) == len(set(targets)) > 10


def test_lengths_add_up() -> None:
    """Vertical, tray and service loop are the length, and none of them is negative."""
    for cable in json.loads(files()["cables.json"])["cables"]:
        run = cable["run"]
        assert sum(run.values()) == pytest.approx(cable["length_m"], abs=0.002)
        assert min(run.values()) >= 0
        assert (run["tray_m"] > 0) == (cable["a"]["rack"] != cable["b"]["rack"])


def test_labels_follow_tia_606() -> None:
    """A cable has two labels, near end first: space, cabinet, rack unit and port, and the far end after a slash."""
    labels = rows("labels.csv")
    assert len(labels) == 2 * len(pack().rows)
    first = pack().rows[0]
    assert first.label(first.a) == f"{first.a.identifier} / {first.b.identifier}"
    assert re.fullmatch(r"\w+\.r0\d-\d\d:\w+ / \w+\.r0\d-\d\d:\w+", first.label(first.a))
    assert {label["label"] for label in labels} == {row.label(end) for row in pack().rows for end in (row.a, row.b)}


def test_qr_codes_are_read_back() -> None:
    """A reader finds on the sheets the code of every label that the CSV has, in its order on each sheet."""
    wanted = [label["code"] for label in rows("labels.csv")]
    read = []
    for page in pypdfium2.PdfDocument(files()["labels.pdf"]):
        image = page.render(scale=4).to_pil()
        found = zxingcpp.read_barcodes(image)
        placed = sorted(found, key=lambda one: (one.position.top_left.y // 60, one.position.top_left.x))
        read += [one.text for one in placed]
    assert read == wanted


def test_netbox_gets_every_cable_between_interfaces() -> None:
    """NetBox's import has each cable once, both sides as interfaces, with its label."""
    cables = rows("netbox-cables.csv")
    assert len(cables) == len(pack().rows)
    assert {(one["side_a_type"], one["side_b_type"], one["status"]) for one in cables} == {
        ("dcim.interface", "dcim.interface", "planned")
    }
    assert all(len(one["label"]) <= 100 and len(one["description"]) <= 200 for one in cables)


def test_ptm_gets_every_ethernet_cable() -> None:
    """PTM's graph has each Ethernet link once, both ends quoted, and none of InfiniBand."""
    edges = re.findall(r'^    "(\S+)":"(\S+)" -- "(\S+)":"(\S+)"$', files()["topology.dot"].decode(), re.MULTILINE)
    assert sorted(edges) == sorted((row.a.device, row.a.port, row.b.device, row.b.port) for row in pack().rows)
    pod = [row for row in pack("h100-pod").rows if row.fabric.kind != "infiniband"]
    from coldaisle.render.cabling.exports import ptm_dot  # noqa: PLC0415 - only here

    assert ptm_dot(pack("h100-pod")).count(" -- ") == len(pod)


def test_the_bill_of_materials_counts_every_cable() -> None:
    """Cables by kind and length add up to all cables, and entries of the catalog fit rate, kind and length."""
    checked = open_site(folder("h100-pod"))
    from coldaisle.render.cabling.order import order_csv  # noqa: PLC0415 - only here

    lines = list(csv.DictReader(io.StringIO(order_csv(checked.spec, pack("h100-pod")))))
    cables = [line for line in lines if line["item"] == "cable"]
    assert sum(int(line["count"]) for line in cables) == len(pack("h100-pod").rows)
    spine = [line for line in lines if line["item"] != "cable" and line["kind"] == "spine port"]
    ports = {(row.b.device, row.b.port) for row in pack("h100-pod").rows if row.cable.kind == "leaf-spine"}
    compute = next(line for line in spine if line["fabric"] == "compute")
    assert int(compute["count"]) * 2 >= len({port for port in ports if port[0].startswith("spine")})
    assert "mma4z00-ns" in compute["catalog"].split(" | ")


def test_cables_of_the_catalog_fit_or_are_left_out() -> None:
    """A made length is rounded up, one that is too long is not offered, and twisted pair carries lower rates."""
    assert cables_for(catalog(), "infiniband", 100, 3.5) == ["mcp1600 of 4 m"]
    assert cables_for(catalog(), "infiniband", 100, 5.5) == []
    assert cables_for(catalog(), "ethernet", 1, 30) == ["cat6a"]
    assert cables_for(catalog(), "ethernet", 1, 101) == []


def test_the_command_writes_the_pack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], site: Path, tmp_path: Path
) -> None:
    """`coldaisle cabling` writes all files, and ends with 1 where it cannot."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "cabling", site.name, "--output", "out"])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert written == files().keys()
    assert "begin with out/index.html" in capsys.readouterr().out
    Path("file").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["coldaisle", "cabling", site.name, "--output", "file"])
    with pytest.raises(SystemExit) as refused:
        main()
    assert refused.value.code == 1
