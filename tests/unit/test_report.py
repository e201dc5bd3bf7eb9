"""The report of a site: all of it is there, in words too, it stands alone, and nothing half-written is left behind."""

from __future__ import annotations

import base64
import re
import resource
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from coldaisle.check import CheckedSite, open_site
from coldaisle.cli import main
from coldaisle.render.report import site_report
from coldaisle.render.report.bars import heat_bar, power_bar
from coldaisle.render.report.floor import _counting, rows
from coldaisle.render.report.power import chain
from coldaisle.render.topology import bill_of_materials

ROOT = Path(__file__).parents[2]
Edit = Callable[[str, str, str], None]


@cache
def opened(name: str) -> CheckedSite:
    """Return a site of the repository."""
    return open_site(ROOT / "inventory" / name)


def page(name: str) -> str:
    """Return the report of a site of the repository."""
    checked = opened(name)
    return site_report(checked.spec, checked.plan, checked.findings)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.parametrize("name", ["sim", "h100-pod"])
def test_the_report_is_the_same_to_the_byte(name: str) -> None:
    """One site gives one page, with the plan's hash on it."""
    assert page(name) == page(name)


@pytest.mark.parametrize("name", ["sim", "h100-pod"])
def test_the_report_fetches_nothing(name: str) -> None:
    """The page's own policy forbids every request, and no element of it asks for one."""
    text = page(name)
    assert "default-src 'none'" in text
    assert re.findall(r"<(?:link|img|iframe|object)\b|\bsrc=|url\((?!['\"]?#)|@import", text) == []
    assert set(re.findall(r"https?://[^\s\"'<]+", re.sub(r"<td>.*?</td>", "", text))) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_every_part_of_the_plan_is_in_the_report() -> None:
    """Each rack, feed source, pool, fabric, loop and finding of a site is told, and each model with its source."""
    plan, text = opened("h100-pod").plan, page("h100-pod")
    names = [rack.name for rack in plan.facility.racks] + [part.name for part in plan.facility.upstream]
    names += [pool.name for pool in plan.pools] + list(plan.fabrics) + [loop.name for loop in plan.facility.cooling]
    assert [name for name in names if f'<th scope="row">{name}</th>' not in text] == []
    assert [found.what for found in opened("h100-pod").findings if found.what not in text] == []
    models = {device.model for rack in plan.facility.racks for device in rack.devices}
    assert [model for model in models if f"<summary>{model} <small>" not in text] == []


def test_a_power_cap_is_told_with_its_pool(site: Path, edit: Edit) -> None:
    """Where any pool has a cap, the pools' table has a column of them, in the scope that it was given in."""
    checked = open_site(site)
    assert "Power cap" not in site_report(checked.spec, checked.plan, [])
    edit("node_pools.yaml", "    boot: network\n", "    boot: network\n    power_cap: {watts: 300, scope: node}\n")
    checked = open_site(site)
    text = site_report(checked.spec, checked.plan, [])
    assert "<td>300 W each node, 300 W a node at most</td>" in text
    assert "<td>none</td>" in text


def test_plant_with_a_model_is_to_be_ordered_and_has_its_sources() -> None:
    """Rack PDUs, UPS and coolant units that the spec names are counted unit by unit, each with its document."""
    orders = {
        "h100-pod": {"nvent-en6950": ("rack PDU", 8)},
        "gb200-nvl72": {"schneider-galaxy-vxl-1250": ("UPS", 2), "coolit-chx2000": ("coolant unit", 2)},
    }
    for name, wanted in orders.items():
        listed = {item: (kind, count) for kind, item, count in bill_of_materials(opened(name).plan)}
        assert {item: listed.get(item) for item in wanted} == wanted
        assert [item for item in wanted if f"<summary>{item} <small>" not in page(name)] == []


def test_anchors_lead_somewhere_and_are_given_once() -> None:
    """Each link inside the page has its target, and no id is there twice."""
    text = page("h100-pod")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)


def test_what_people_write_stays_text() -> None:
    """Words of a finding that look like markup are shown as they are."""
    checked = opened("h100-pod")
    found = replace(checked.findings[0], what="<script>alert(1)</script> & more")
    text = site_report(checked.spec, checked.plan, [found])
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text


def test_bars_say_in_words_what_they_show() -> None:
    """What passes its limit after a loss is marked, and an unknown load is no empty bar."""
    over = power_bar(60_000.0, 118_000.0, 100_000.0)
    assert (over.over, over.now, over.after) == (True, 60.0, 100.0)
    assert over.words == "60.0 kW of 100.0 kW, 60 %; 118 % after a loss"
    unknown = power_bar(None, None, 100_000.0)
    assert (unknown.over, unknown.now, unknown.words) == (
        False,
        None,
        "unknown of 100.0 kW, unknown; unknown after a loss",
    )
    assert heat_bar(95.0, 90.0, 100.0).over


def test_the_chain_goes_from_the_top_down() -> None:
    """A part of the power chain comes after what feeds it."""
    names = [part.plan.name for part in chain(opened("h100-pod").plan)]
    assert names[:3] == ["utility", "ups-a", "ups-b"]
    assert names[-1] == "busway-c"


def test_rows_come_in_counting_order() -> None:
    """Row 2 comes before row 10."""
    names = ["row10", "row2", "network", "row1", "row2b"]
    assert sorted(names, key=_counting) == ["network", "row1", "row2", "row2b", "row10"]


def test_many_pictures_are_images() -> None:
    """Where there are hundreds of racks their pictures are images inside the page, and only the front is drawn."""
    checked = opened("sim")
    (few,), (many,) = (rows(checked.spec, checked.plan, few=few) for few in (True, False))
    assert [picture.name for picture in few.pictures] == ["front of r01 … r02", "rear of r01 … r02"]
    assert [(picture.name, picture.svg) for picture in many.pictures] == [("front of r01 … r02", None)]
    drawn = base64.b64decode((many.pictures[0].image or "").partition("base64,")[2]).decode()
    assert drawn == few.pictures[0].svg


def test_pictures_in_the_page_are_well_formed() -> None:
    """Each picture of the page is a whole drawing."""
    drawings = re.findall(r"<svg xmlns.*?</svg>", page("h100-pod"), flags=re.DOTALL)
    assert len(drawings) > 10
    for drawing in drawings:
        ET.fromstring(drawing)  # noqa: S314 - our own text


# -- the command ------------------------------------------------------------------------------------------------
def test_the_command_writes_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], site: Path, tmp_path: Path
) -> None:
    """The file is written where it was asked for, in a folder that is made, and named on standard output."""
    file = tmp_path / "build" / "case.html"
    assert run(monkeypatch, "report", site.name, "--output", str(file)) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in file.parent.iterdir()] == ["case.html"]


def test_an_error_of_the_checks_is_in_the_report(monkeypatch: pytest.MonkeyPatch, edit: Edit, tmp_path: Path) -> None:
    """A site with an error has its report all the same, and the command ends with 4."""
    edit("hardware.yaml", "52:54:00:02:02:02", "52:54:00:01:01:02")
    file = tmp_path / "case.html"
    assert run(monkeypatch, "report", "case", "--output", str(file)) == 4
    assert "this plan must not be built as it is" in file.read_text(encoding="utf-8")


def test_an_invalid_spec_is_told_as_check_tells_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit: Edit, tmp_path: Path
) -> None:
    """A spec that cannot be used ends with 2, in the words of `coldaisle check`, and writes nothing."""
    edit("site.yaml", "domain:", "domian:")
    assert run(monkeypatch, "check", "case") == 2
    words = capsys.readouterr().out
    assert run(monkeypatch, "report", "case", "--output", str(tmp_path / "case.html")) == 2
    assert capsys.readouterr().err == words
    assert not (tmp_path / "case.html").exists()


@pytest.mark.usefixtures("site")
def test_a_full_disk_leaves_the_old_report(tmp_path: Path) -> None:
    """Where there is no room, the reason is told, the old file stays whole, and no half of a new one is left."""
    file = tmp_path / "case.html"
    file.write_text("the old one", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "coldaisle", "report", "case", "--output", str(file)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 1
    assert f"{file} cannot be written: File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["case.html"]
    assert file.read_text(encoding="utf-8") == "the old one"


@pytest.mark.usefixtures("site")
def test_a_folder_in_the_way_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An output that is a folder ends with 1 and a reason."""
    assert run(monkeypatch, "report", "case", "--output", "inventory") == 1
    assert "inventory cannot be written: Is a directory" in capsys.readouterr().err
