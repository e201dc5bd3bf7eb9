"""Pictures: well-formed, self-contained, the same to the byte, and legible without colours."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from coldaisle.check import open_site
from coldaisle.cli import main
from coldaisle.render.pictures import pictures
from coldaisle.render.pictures.canvas import Meter

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


def test_every_device_is_drawn() -> None:
    """The fronts of the racks name every device of the plan."""
    checked = open_site(ROOT / "inventory" / "h100-pod")
    text = "".join(pictures(checked.spec, checked.plan).values())
    devices = [device.device for rack in checked.plan.facility.racks for device in rack.devices]
    assert [device for device in devices if f"<title>{device}: " not in text] == []


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
    assert names == {"one-line_diagram.svg", "map_of_hall1.svg", "front_of_hall1_row1_r01_r02.svg"}
