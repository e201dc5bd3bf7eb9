"""The ladder's picture and its guard, without a hall."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.bench import figures, ladder
from tests.bench.ladder import PHASES, Climb
from tests.bench.ladder_picture import picture
from tests.bench.meter import NotMeasuredError


def climb(forks: int, seconds: float) -> Climb:
    """Return a climb whose phases take so many seconds each."""
    each = dict.fromkeys(PHASES, seconds)
    return Climb(100, forks, each, each, each, 500.0, 1.5)


def test_the_picture_has_a_named_line_a_phase_and_one_for_all() -> None:
    """Each label tells the seconds at the right end, and the description the sums: nothing is told by colour alone."""
    root = ET.fromstring(picture([climb(50, 20.0), climb(10, 60.0)]))  # noqa: S314 - our own text
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert {f"{phase} 20.0 s" for phase in PHASES} | {"all 120.0 s", "10", "50"} <= set(texts)
    (description,) = (each.text for each in root.iter() if each.tag.endswith("desc"))
    assert description is not None
    assert description.endswith("10 at once: 360 s; 50 at once: 120 s.")


def test_lines_go_down_where_seconds_do() -> None:
    """More at once and fewer seconds is to the right and lower: a larger y."""
    root = ET.fromstring(picture([climb(10, 60.0), climb(50, 20.0)]))  # noqa: S314 - our own text
    curve = next(each for each in root.iter() if each.get("stroke-width") == "3")
    first, last = (tuple(map(float, point.split(","))) for point in curve.attrib["d"][1:].split(" L"))
    assert first[0] < last[0]
    assert first[1] < last[1]


def test_a_hall_without_memory_for_it_is_not_started() -> None:
    """A machine that runs out of memory would end what others do on it."""
    with pytest.raises(NotMeasuredError, match=r"100000000 hosts take \d+ MiB, and \d+ MiB are free"):
        ladder.rung(100_000_000)


def test_a_run_of_all_figures_leaves_the_long_ones_out() -> None:
    """They are there, by their names."""
    assert figures.registry().keys() >= figures.ONLY_BY_NAME
    assert "ladder_100" not in figures.ONLY_BY_NAME
