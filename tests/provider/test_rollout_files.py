"""What a rollout keeps over a restart of the runner: a soak keeps its length, whatever the clock is set to."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.steady import Moment

from coldaisle.waves import State, begin
from components.provider.clock import Clock
from components.provider.rollout_files import Kept, RolloutFiles, moments
from tests.unit.waves.floors import NOON, driver, floor, policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldaisle.waves.state import Phase

TARGETS = floor(1, 2)
SOAK_S = 600.0


def at(passed_s: float, set_s: float = 0.0, boot: str = "6c1b6a4e") -> Callable[[], Moment]:
    """Return what tells the moment after so many seconds, by a clock that was set by `set_s` beside."""
    return lambda: Moment(NOON + passed_s + set_s, boot, 5000.0 + passed_s)


def state_in(phase: Phase) -> State:
    """Return a rollout whose canary waits for ten minutes from noon, in a soak or for its window."""
    return replace(begin(driver(TARGETS), policy(), TARGETS), phase=phase, until=NOON + SOAK_S)


def until_after(root: Path, then: Callable[[], Moment] | None, now: Callable[[], Moment] | None, phase: Phase) -> float:
    """Keep a rollout, load it with another run, and return when it goes on, in seconds after noon."""
    RolloutFiles(root, "os-train", then).keep(Kept("t1", state_in(phase), {}))
    kept = RolloutFiles(root, "os-train", now).load()
    assert kept is not None
    assert kept.state.until is not None
    return kept.state.until - NOON


@pytest.mark.parametrize("set_s", [-86400.0, -300.0, 300.0, 86400.0])
def test_a_clock_that_is_set_leaves_a_soak_as_long_as_it_was(tmp_path: Path, set_s: float) -> None:
    """Ten minutes are ten minutes by the new clock; a window opens by the clock as it is now."""
    now = at(60, set_s)
    assert until_after(tmp_path, at(0), now, "soak") - (now().wall - NOON) == SOAK_S - 60
    assert until_after(tmp_path, at(0), now, "window") == SOAK_S


def test_over_a_boot_the_wall_clock_is_all_that_there_is(tmp_path: Path) -> None:
    """What it says has passed is taken as such; one that shows an earlier time than before was set back."""
    assert until_after(tmp_path, at(0), at(60, 300, boot="another"), "soak") == SOAK_S
    assert until_after(tmp_path, at(0), at(60, -360, boot="another"), "soak") == SOAK_S - 300


def test_virtual_time_and_files_of_earlier_releases_are_as_they_are(tmp_path: Path) -> None:
    """Nobody sets the clock of a simulation, and what does not say when it was kept tells nothing of a jump."""
    assert moments(lambda: NOON) is None
    assert until_after(tmp_path, None, None, "soak") == SOAK_S
    assert until_after(tmp_path, at(0), None, "soak") == SOAK_S
    assert until_after(tmp_path, None, at(60, 300), "soak") == SOAK_S


def test_two_runs_with_a_clock_that_was_set_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clocks are those of runs: the second one begins an hour later by the wall, and a moment later in truth."""
    first, wall = Clock(), time.time()
    monkeypatch.setattr(time, "time", lambda: wall + 3600)
    second = Clock()
    assert until_after(tmp_path, moments(first), moments(second), "soak") == pytest.approx(SOAK_S + 3600, abs=5)
