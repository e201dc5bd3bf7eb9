"""A deploy host whose clock is set by an hour or a day: rates, ladders and conditions go on as if it had not been."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.steady import Moment, jumped_s, passed_s, stamp, stamped

from coldaisle.cli.health_files import Kept, in_step, load, save
from coldaisle.health.state import moved
from coldaisle.spec.health import HealthLimits, HealthSpec
from tests.unit.health.sites import T0, Hall, event

NODE = "r01-n06"
SETS = [-86400.0, -3600.0, 3600.0, 86400.0]
BOOT = "6c1b6a4e"


def at(passed: float, set_s: float = 0.0, boot: str = BOOT) -> Moment:
    """Return the moment after so many seconds, with a clock that was set by `set_s` beside."""
    return Moment(T0 + passed + set_s, boot, 5000.0 + passed)


def test_what_has_passed_is_what_the_kernel_counted() -> None:
    """The wall clock counts only over a restart, where it is all that there is; time never goes back."""
    assert passed_s(at(0), at(60, set_s=86400)) == 60
    assert jumped_s(at(0), at(60, set_s=-3600)) == -3600
    assert passed_s(at(0), replace_boot(at(60, set_s=100))) == 160
    assert passed_s(at(0), replace_boot(at(60, set_s=-3600))) == 0
    assert passed_s(Moment(T0, "", 0.0), at(60)) == 60
    assert stamped(stamp(at(7))) == at(7)


def replace_boot(moment: Moment) -> Moment:
    """Return a moment after the machine has started anew."""
    return moment._replace(boot="another", since_boot_s=10.0)


@pytest.mark.parametrize("set_s", SETS)
def test_a_clock_that_is_set_changes_no_decision(set_s: float, tmp_path: Path) -> None:
    """The same readings with and without it: the same steps, and the same state but for its times."""
    halls = Hall(nodes=10), Hall(nodes=10)
    for hall, by_s in zip(halls, (0.0, set_s), strict=True):
        hall.tick([event(NODE, "link", "link-down", hall.now + 60, "port rail0") for _ in range(4)])
        save(tmp_path, Kept(hall.state, at=stamp(at(0))))
        kept, told = in_step(load(tmp_path), at(60, set_s=by_s))
        assert told == by_s
        hall.state, hall.now = kept.state, hall.now + by_s
        hall.tick([event(NODE, "link", "link-down", hall.now + 60, "port rail0")])
        hall.tick(after_s=900)
    assert halls[0].done == halls[1].done == [(NODE, "drain")]
    assert moved(halls[0].state, set_s) == halls[1].state


@pytest.mark.parametrize("set_s", SETS)
def test_limits_of_an_hour_hold_for_an_hour(set_s: float) -> None:
    """A day forward does not open them at once, and a day back does not close them for a day."""
    hall = Hall(spec=HealthSpec(limits=HealthLimits(max_hall_actions_per_hour=1)))
    hall.tick([event(NODE, "ecc", "uncorrected", hall.now + 60, state=True)])
    assert hall.done == [(NODE, "drain")]
    kept, _ = in_step(Kept(hall.state, at=stamp(at(0))), at(60, set_s=set_s))
    hall.state, hall.now = kept.state, hall.now + set_s
    bad = event(NODE, "ecc", "uncorrected", hall.now, state=True)
    assert [it.limit.split(" in ")[0] for it in hall.tick([bad]).held] == ["1 actions"]
    hall.tick([bad], after_s=3600)
    assert hall.done == [(NODE, "drain"), (NODE, "reset")]


def test_a_record_of_an_earlier_release_is_left_as_it_is() -> None:
    """It does not say when it was written, so nobody knows whether the clock was set."""
    state = Hall().state
    assert in_step(Kept(state), at(60)) == (replace(Kept(state), at=stamp(at(60))), 0.0)
