"""The pictures of fabrics: counts that are the plan's, rails on one line, names whole, and large ones folded."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest

from coldaisle.check import open_site
from coldaisle.plan.fabric import plan_fabrics
from coldaisle.plan.model import FabricPlan
from coldaisle.render.pictures.fabric import fabric_diagram
from coldaisle.render.pictures.fabric_parts import parts_of
from tests.unit.floor_sites import superpod
from tests.unit.test_cabling_pack import folder

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pod() -> dict[str, FabricPlan]:
    """Return the fabrics of the site with 127 nodes and 32 leaves."""
    return dict(open_site(folder("h100-pod")).plan.fabrics)


def words(svg: str) -> list[tuple[float, float, str]]:
    """Return the texts of a picture with their places."""
    found = ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 - our own text
    return [(float(text.attrib["x"]), float(text.attrib["y"]), text.text or "") for text in found]


def test_parts_count_every_cable_once(pod: dict[str, FabricPlan]) -> None:
    """Bundles below and above the groups add up to the fabric's cables, as do the counts of switches."""
    for fabric in pod.values():
        parts = parts_of(fabric)
        groups = [group for one in parts.pods for group in one.groups]
        kinds = Counter("up" if cable.kind == "leaf-spine" else "down" for cable in fabric.cables)
        assert sum(group.down.count for group in groups) == kinds["down"]
        assert sum(group.up.count for group in groups if group.up) == kinds["up"]
        assert sum(parts.down.values()) == len(fabric.cables)
        assert [leaf.name for group in groups for leaf in group.leaves] == [
            switch.name for switch in fabric.switches if switch.role in {"leaf", "oob"}
        ]


def test_each_switch_of_a_pod_is_named_with_its_cables(pod: dict[str, FabricPlan]) -> None:
    """32 leaves and 16 spines have their whole names, and a bundle says its count and rate."""
    for fabric in pod.values():
        texts = [text for *_, text in words(fabric_diagram(fabric))]
        assert [switch.name for switch in fabric.switches if switch.name not in texts] == []
    texts = [text for *_, text in words(fabric_diagram(pod["compute"]))]
    assert Counter(texts)["256 x 400G"] == 7
    assert Counter(texts)["252 x 400G"] == 1
    assert Counter(texts)["64 ↓"] == 16


def test_leaves_of_a_rail_stand_on_one_line(pod: dict[str, FabricPlan]) -> None:
    """The leaf of rail n is beside the words `rail n` in every group."""
    drawn = words(fabric_diagram(pod["compute"]))
    lines = {text: y for _, y, text in drawn if re.fullmatch(r"rail \d", text)}
    assert sorted(lines) == [f"rail {rail}" for rail in range(8)]
    places = {text: y for _, y, text in drawn}
    for leaf in (switch for switch in pod["compute"].switches if switch.rail is not None):
        assert places[leaf.name] == lines[f"rail {leaf.rail}"]


def test_a_large_fabric_folds_its_groups() -> None:
    """2,048 nodes on three tiers are a box a group and a box a pod, with every cable in a count."""
    (fabric,) = plan_fabrics(superpod(2048, managers=False)).values()
    svg = fabric_diagram(fabric)
    texts = [text for *_, text in words(svg)]
    assert Counter(texts)["32 devices, 256 x 400G"] == 64
    assert Counter(texts)["32 ↓ 32 ↑ each, 1024 x 400G up to 256 cores"] == 16
    assert {"256 cores core01 … core256", "64 ↓ each", "leaf505 … leaf512"} <= set(texts)
    assert not [text for text in texts if text.endswith("…")]
    assert len(svg) < 100_000


def test_names_are_text_and_not_markup(pod: dict[str, FabricPlan]) -> None:
    """What stands in a name is written out, in words and in what a part says when it is pointed at."""
    fabric = pod["storage"]
    switches = tuple(replace(switch, model="<b>&") for switch in fabric.switches)
    svg = fabric_diagram(replace(fabric, switches=switches))
    ET.fromstring(svg)  # noqa: S314 - our own text
    assert "<b>" not in svg
