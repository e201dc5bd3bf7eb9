"""Room in the kernel for large networks, on this machine: refused where it lacks, given and taken back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coldaisle.check import open_site
from sim import kernel_room
from sim.errors import SimError
from sim.hall import site as hall_site
from sim.hall import spec
from sim.hall.plan import Wanted
from sim.kernel_room import BROADCASTS, NEIGHBOURS, QUEUE, Need, require_room, room

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may set the kernel's limits")


def _limits() -> dict[str, int]:
    names = (*NEIGHBOURS, QUEUE)
    return {name: int(Path("/proc/sys", *name.split(".")).read_text()) for name in names}


def _more(neighbours: int = 0, ports: int = 0) -> Need:
    """Return a need that is so much above what the machine has."""
    before = _limits()
    return Need(before[NEIGHBOURS[-1]] + neighbours, before[QUEUE] // BROADCASTS + ports)


@pytest.mark.parametrize("need", [_more(neighbours=1), _more(ports=1), _more(1, 1)])
def test_room_is_given_for_as_long_as_it_is_needed(need: Need) -> None:
    """What needs more than a limit of the machine finds it, and the machine's own limits are back afterwards."""
    before = _limits()
    with pytest.raises(SimError):
        require_room(need, "ask for less")
    with room(need):
        require_room(need, "ask for less")
        given = _limits()
        assert [given[name] for name in NEIGHBOURS] == sorted(given[name] for name in NEIGHBOURS)
        assert all(given[name] >= before[name] for name in before)
    assert _limits() == before


def test_where_there_is_room_nothing_is_set() -> None:
    """A small need leaves the limits alone."""
    before = _limits()
    with room(_more()):
        assert _limits() == before


def test_all_that_lacks_is_told_at_once() -> None:
    """The message has both limits, what each has to be at least, and one command that sets all."""
    limits = dict.fromkeys((*NEIGHBOURS, QUEUE), 10)
    with pytest.raises(SimError) as caught:
        require_room(Need(30, ports=20), "ask for less", limits)
    told = str(caught.value)
    assert f"{NEIGHBOURS[-1]} is 10, and 30 are needed, {QUEUE} is 10, and 40 are needed" in told
    low, some, most = NEIGHBOURS
    assert f"sysctl -w {low}=15 {some}=30 {most}=60 {QUEUE}=2000, or ask for less" in told


def test_a_hall_that_is_too_large_for_the_kernel_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so before anything is made, with the setting that would help."""
    plan = open_site(spec.write(tmp_path / "site", 4)).plan
    monkeypatch.setattr(kernel_room, "_limits", lambda: dict.fromkeys((*NEIGHBOURS, QUEUE), 10))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(SimError, match=f"{NEIGHBOURS[-1]}="):
        hall_site.up(plan, Wanted(), lambda _line: None)
    assert not hall_site.state_of(plan.name).folder.exists()
