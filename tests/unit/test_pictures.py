"""Pictures: well-formed, self-contained, the same to the byte, and legible without colours."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import open_site
from coldaisle.cli import main
from coldaisle.plan import plan_site
from coldaisle.render.pictures import coolant_diagram, elevation, one_line, pictures, rear_elevation, row_map
from coldaisle.render.pictures.canvas import Meter
from coldaisle.render.pictures.elevation import WIDEST, free_units, picture_width, together
from tests.unit.floor_sites import facility, pool, site
from tests.unit.power_sites import part, planned, racks_on

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", ["sim", "h100-pod"])
def test_pictures_stand_alone(name: str) -> None:
    """Each picture has a title and a description first, fetches nothing, and is drawn the same twice."""
    checked = open_site(ROOT / "inventory" / name)
    drawn = pictures(checked.spec, checked.plan)
    assert drawn == pictures(checked.spec, checked.plan)
    for svg in drawn.values():
        root = ET.fromstring(svg)  # noqa: S314 - our own text
        names = [child.tag for child in root if child.tag in {f"{SVG}title", f"{SVG}desc"}]
        assert names == [f"{SVG}title", f"{SVG}desc"]
        assert "http" not in svg.replace("http://www.w3.org/", "")


@pytest.mark.parametrize("side", ["front", "rear"])
def test_every_device_is_drawn(side: str) -> None:
    """Both sides of the racks name every device of the plan."""
    checked = open_site(ROOT / "inventory" / "h100-pod")
    drawn = pictures(checked.spec, checked.plan)
    text = "".join(svg for name, svg in drawn.items() if name.startswith(f"{side} of "))
    devices = [device.device for rack in checked.plan.facility.racks for device in rack.devices]
    assert [device for device in devices if f"<title>{device}: " not in text] == []


def test_the_rear_is_mirrored_and_says_where_supplies_hang() -> None:
    """From behind, the last rack stands at the left, its last feed first; six supplies on three feeds are two each."""
    checked = open_site(ROOT / "inventory" / "h100-pod")
    svg = rear_elevation(checked.plan.facility.racks[6:8])
    assert svg.index(">r02<") < svg.index(">r01<")
    assert svg.index(">c<") < svg.index(">b<") < svg.index(">a<")
    assert ">2 a, 2 b, 2 c<" in svg


def test_what_is_not_known_is_said_in_pictures() -> None:
    """A device without supplies, a loop without temperatures and a rack without a limit say so, and show no figure."""
    racks = [{"name": "r01", "liquid_cooling": "cdu"}]
    cdu = {"name": "cdu", "kind": "liquid", "units": 1, "capacity_w_each": 20_000.0}
    spec = site(facility=facility(racks, cooling=[cdu]), node_pools={"p": pool("r01-n1")})
    wet = spec.catalog.systems["dgx-h100"].model_copy(update={"air_share": 0.2})
    spec = replace(spec, catalog=spec.catalog.model_copy(update={"systems": {"dgx-h100": wet}}))
    plan = plan_site(spec)
    unplugged = replace(plan.facility.racks[0].devices[0], psus=None, airflow=None, depth_mm=None)
    rack = replace(plan.facility.racks[0], devices=(unplugged,))
    rear = rear_elevation([rack])
    assert ">supplies unknown<" in rear
    assert ">air?<" in rear
    assert "of unknown depth" in rear
    coolant = coolant_diagram(plan)
    assert all(words in coolant for words in (">? °C<", ">flow unknown<", ">pumps unknown<", ">nothing is left<"))
    assert ">no limit<" in row_map(spec, plan, "hall1", "row1")


def test_free_units_are_drawn_as_blanking_panels() -> None:
    """Each run of free units is one hatched box that counts its panels, and all of them add up to the plan's."""
    checked = open_site(ROOT / "inventory" / "h100-pod")
    racks = checked.plan.facility.racks
    for rack in racks:
        assert sum(last - first + 1 for first, last in free_units(rack)) == rack.blank_u == rack.height_u - rack.used_u
    assert "blanking panel" in elevation(racks[:1])


def test_coolant_units_that_are_alike_are_drawn_once() -> None:
    """Eight racks with a coolant unit of their own make one loop in the diagram, which names the first and the last."""
    loop = {"kind": "liquid", "units": 1, "capacity_w_each": 20_000.0, "pumps_each": 2, "redundant_pumps": 1}
    racks = [{"name": f"r{at}", "liquid_cooling": f"cdu-r{at}"} for at in range(1, 9)]
    cooling = [{"name": f"cdu-r{at}", **loop} for at in range(1, 9)]
    plan = plan_site(site(facility=facility(racks, cooling=cooling)))
    svg = coolant_diagram(plan)
    assert ">cdu-r1 … cdu-r8 (8 alike), liquid<" in svg
    assert svg.count("pumps a unit") == 1


def unit_boxes(svg: str) -> tuple[int, int]:
    """Return how many units of a coolant diagram are drawn, and how many of them dashed."""
    lines = re.findall(r"<path d=\"M[^\"]*\"[^>]*stroke-width=\"2\"[^>]*>", svg)
    return len(lines), sum("dasharray" in line for line in lines)


@pytest.mark.parametrize(
    ("units", "drawn", "spare", "words"),
    [
        (16, 16, 2, ">16 units, 2 spare<"),
        (48, 48, 2, ">48 units, 2 spare<"),
        (60, 48, 0, ">60 units, 2 spare; 12 of them are not drawn<"),
    ],
)
def test_every_unit_is_drawn_or_counted(units: int, drawn: int, spare: int, words: str) -> None:
    """Each unit of a loop has its box, the spare ones dashed; of very many, the words say how many have none."""
    crah = {"name": "crah", "kind": "air", "units": units, "capacity_w_each": 20_000.0, "redundant": 2}
    svg = coolant_diagram(plan_site(site(facility=facility([{"name": "r1", "cooling": "crah"}], cooling=[crah]))))
    assert unit_boxes(svg) == (drawn, spare)
    assert words in svg
    ys = [float(y) for y in re.findall(r"<rect x=\"[\d.]+\" y=\"([\d.]+)\"", svg)]
    height = float(re.findall(r"<svg[^>]* height=\"([\d.]+)\"", svg)[0])
    assert max(ys) < height


def catching(*catchers: dict[str, Any]) -> str:
    """Return the one-line diagram of two UPS below a utility, and of what takes over."""
    chain = [part("utility", kind="utility"), part("ups-1", "utility"), part("ups-2", "utility"), *catchers]
    plan = open_site(ROOT / "inventory" / "sim").plan
    return one_line(replace(plan, facility=planned(racks_on(["ups-1", "ups-2"]), chain)))


def test_what_takes_over_is_drawn_and_named() -> None:
    """A catcher has a dashed line to each part that it takes over for, on its own level and on another, and a note."""
    assert "dasharray" not in catching()
    assert "caught by" not in catching()
    svg = catching(part("ups-r", "utility", catcher_for=["ups-1", "ups-2"]), part("gen", catcher_for=["utility"]))
    assert svg.count("stroke-dasharray") == 3
    assert svg.count(">caught by ups-r<") == 2
    assert ">takes over for ups-[1-2]<" in svg
    assert ">caught by gen<" in svg
    below = part("small", "ups-1", catcher_for=["ups-2"])
    assert catching(below).count("stroke-dasharray") == 1


def test_a_note_that_has_no_room_counts() -> None:
    """Many names are counted, since the lines lead to them."""
    names = [f"a-long-name-{letter}" for letter in "abc"]
    parts = [part(name, "utility") for name in names]
    assert ">takes over for 3 parts<" in catching(*parts, part("ups-r", "utility", catcher_for=names))


def test_racks_with_many_feeds_are_fewer_in_a_picture() -> None:
    """A picture of racks stays so narrow that its text is legible: four with three feeds, two with eight."""
    for name, most in (("h100-pod", 4), ("gb200-nvl72", 2)):
        racks = [rack for rack in open_site(ROOT / "inventory" / name).plan.facility.racks if rack.row == "row1"]
        some = list(together(racks))
        assert [len(each) for each in some] == [most] * (8 // most)
        assert [rack for each in some for rack in each] == racks
        assert all(picture_width(each) <= WIDEST for each in some)


def test_over_and_unknown_are_words() -> None:
    """What is over its limit has an exclamation mark, and what is not known says so."""
    assert Meter("x", 1.18, "").figure == "! 118 %"
    assert Meter("x", None, "").figure == "unknown"


@pytest.mark.usefixtures("site")
def test_the_command_writes_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes one SVG a picture into a folder that it makes."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "pictures", "case", "--output", str(tmp_path / "a" / "b")])
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code
    names = {path.name for path in (tmp_path / "a" / "b").iterdir()}
    assert names == {
        "one-line_diagram.svg",
        "coolant_diagram.svg",
        "fabric_compute.svg",
        "fabric_oob.svg",
        "map_of_hall1.svg",
        "map_of_hall1_row1.svg",
        "front_of_hall1_row1_r01_r02.svg",
        "rear_of_hall1_row1_r01_r02.svg",
    }
