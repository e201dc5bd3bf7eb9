"""Room in the kernel's table of neighbours, on this machine: refused where it lacks, given and taken back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coldaisle.check import open_site
from sim.errors import SimError
from sim.hall import site as hall_site
from sim.hall import spec
from sim.hall.plan import Wanted
from sim.neighbours import LIMITS, require_room, room

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may set the kernel's limits")


def _limits() -> list[int]:
    return [int(Path("/proc/sys", *name.split(".")).read_text()) for name in LIMITS]


def test_room_is_given_for_as_long_as_it_is_needed() -> None:
    """What needs more than the machine's limit finds it, and the machine's own limits are back afterwards."""
    before = _limits()
    with room(before[-1] + 1):
        require_room(before[-1] + 1, "ask for less")
        assert _limits() == sorted(_limits())
    assert _limits() == before


def test_where_there_is_room_nothing_is_set() -> None:
    """A small need leaves the limits alone."""
    before = _limits()
    with room(1):
        assert _limits() == before


def test_a_hall_that_is_too_large_for_the_table_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so before anything is made, with the setting that would help."""
    hosts = _limits()[-1] // hall_site.NEIGHBOURS_A_NODE + 1
    plan = open_site(spec.write(tmp_path / "site", hosts)).plan
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(SimError, match="table of neighbours"):
        hall_site.up(plan, Wanted(), lambda _line: None)
    assert not hall_site.state_of(plan.name).folder.exists()
