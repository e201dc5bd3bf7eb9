"""Rollouts from their beginning to their end, or to the stop that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from coldaisle.plan.model import TelemetryPlan, WaveAcceptancePlan, WindowPlan
from coldaisle.waves import Go, Regressed, Reported, Resume, Stop, WavesError, begin, from_json, step, to_json
from coldaisle.waves.state import Action
from tests.unit.waves.floors import NOON, Answer, Caller, driver, floor, policy

TARGETS = floor(4, 4)


def failing(*hosts: str, at: str = "verify") -> Answer:
    """Return a caller's answer in which some hosts fail a step."""

    def answer(action: Action) -> Mapping[str, str | None]:
        return {host: "7 of 8 GPUs" if host in hosts and action.kind == at else None for host in action.hosts}

    return answer


def rollout(**fields: object) -> Caller:
    """Return a caller with a driver's change on sixteen hosts."""
    return Caller(begin(driver(TARGETS), policy(**fields), TARGETS))


def test_a_good_rollout_changes_every_host_once_and_gives_it_back() -> None:
    """The canary is first, the waves stay in their racks, and no host is left out of service."""
    caller = rollout()
    assert caller.run().phase == "done"
    assert sorted(caller.hosts_of("apply")) == [target.name for target in TARGETS]
    assert caller.hosts_of("apply")[0] == "r01-n01"
    assert caller.did[0].kind == "drain"
    assert caller.state.cordoned == ()
    assert [wave.why for wave in caller.state.waves] == [
        "canary: 1 of 16, before all others",
        "rack r01: 3 of 3",
        "rack r02: 4 of 4",
        "rack r03: 4 of 4",
        "rack r04: 4 of 4",
    ]


def test_a_canary_that_fails_stops_all_and_stays_out_of_service() -> None:
    """Fifteen hosts are not touched; after the repair the same rollout goes on to its end."""
    caller = rollout()
    caller.answer = failing("r01-n01")
    state = caller.run()
    assert (state.phase, state.stopping) == ("stopped", "canary r01-n01 failed: verify: 7 of 8 GPUs")
    assert caller.hosts_of("apply") == ["r01-n01"]
    assert state.cordoned == ("r01-n01",)
    assert len(state.with_status("waiting")) == 15
    caller.answer = failing()
    assert caller.run(Resume()).phase == "done"
    assert sorted(caller.hosts_of("apply")) == ["r01-n01", *(target.name for target in TARGETS)]
    assert caller.state.cordoned == ()


def test_a_failure_that_is_allowed_does_not_stop_and_counts_as_out() -> None:
    """With one allowed failure the rollout ends, and later waves of the pool leave room for the host that is out."""
    caller = rollout(max_failed=1)
    caller.answer = failing("r02-n02")
    assert caller.run().phase == "done"
    later = [action.hosts for action in caller.did if action.kind == "drain" and action.hosts[0] > "r03"]
    assert max(len(hosts) for hosts in later) == 3  # a quarter of sixteen are four, and one is out
    assert caller.state.with_status("failed") == ("r02-n02",)


def test_a_regression_is_rolled_back_where_a_way_back_exists() -> None:
    """The hosts of the wave are as before and in service; earlier waves stay."""
    caller = rollout(on_regression="roll-back")
    caller.answer = failing("r01-n03")
    state = caller.run()
    assert caller.hosts_of("roll-back") == ["r01-n02", "r01-n03", "r01-n04"]
    assert state.with_status("rolled-back") == ("r01-n02", "r01-n03", "r01-n04")
    assert (state.cordoned, state.status("r01-n01")) == ((), "done")


def test_without_a_way_back_nothing_is_rolled_back() -> None:
    """A firmware that cannot be taken back leaves the host out of service."""
    changes = driver(TARGETS, no_way_back="an older firmware is not planned")
    caller = Caller(begin(changes, policy(on_regression="roll-back"), TARGETS), failing("r01-n01"))
    assert caller.run().cordoned == ("r01-n01",)
    assert caller.hosts_of("roll-back") == []


def test_a_drain_that_fails_touches_nothing_and_gives_the_host_back() -> None:
    """A disruption budget that never yields ends the wave before anything is applied."""
    caller = rollout()
    caller.answer = failing("r01-n01", at="drain")
    state = caller.run()
    assert (caller.hosts_of("apply"), caller.hosts_of("uncordon"), state.cordoned) == ([], ["r01-n01"], ())


def test_telemetry_in_a_soak_stops_the_rollout() -> None:
    """What is seen on a host in the soak of its wave leaves it out of service, and nothing new starts."""
    caller = rollout(canary_soak_s=10**6)
    state = caller.run()
    assert (state.phase, caller.did[-1].why) == ("soak", "soak")
    state, actions = step(state, Regressed("ECC errors", ("r01-n01",)), NOON)
    assert (state.phase, state.stopping) == ("stopped", "regression on r01-n01: ECC errors")
    assert (actions[-1].kind, state.cordoned) == ("stopped", ("r01-n01",))


def test_a_stop_lets_the_step_under_way_end_and_starts_nothing() -> None:
    """A host whose change was begun stays out of service, since nobody has verified it."""
    state, actions = step(rollout(drain=False).state, Stop("^C"), NOON)
    assert (state.phase, actions[-1].kind) == ("stopped", "stopped")
    state, actions = step(rollout().state, Go(), NOON)
    state, actions = step(state, Reported("drain", dict.fromkeys(state.active)), NOON)
    assert actions[0].kind == "apply"
    state, actions = step(state, Stop("^C"), NOON)
    assert actions == ()
    state, actions = step(state, Reported("apply", dict.fromkeys(state.active)), NOON)
    assert ([action.kind for action in actions], state.cordoned) == (["stopped"], ("r01-n01",))


def test_a_wave_waits_for_its_window_and_fits_into_it() -> None:
    """Windows are the site's time: 22 to 4 o'clock in Chicago begins at 4:00 UTC in January."""
    night = WindowPlan(days=(4,), opens_min=22 * 60, closes_min=4 * 60)
    caller = rollout(windows=(night,), timezone="America/Chicago", wave_s=3600)
    state, actions = step(caller.state, Go(), NOON)
    assert (state.phase, actions[0].kind) == ("window", "wait")
    assert actions[0].why == "the maintenance window is closed; the next one opens Fri 2027-01-15 22:00 CST"
    late = (actions[0].until or 0) + 5.5 * 3600
    state, actions = step(state, Go(), late)
    assert "Fri 2027-01-22 22:00" in actions[0].why
    state, actions = step(state, Go(), late - 3600)
    assert actions[0].kind == "drain"


def test_a_limit_that_others_have_used_up_is_said_at_once() -> None:
    """Four of sixteen may be out, and four are already."""
    out = frozenset({"r04-n01", "r04-n02", "r04-n03", "r04-n04"})
    changes = driver(target for target in TARGETS if target.name not in out)
    with pytest.raises(WavesError, match="as many of pool train as may be are out already"):
        begin(changes, policy(), TARGETS, out)


def test_a_share_of_a_rack_is_of_its_hosts_and_not_of_its_switches() -> None:
    """Half of a rack of four hosts and four switches are two hosts; half of its switches are two of them."""
    rack = [target for target in TARGETS if target.name.startswith("r01")]
    switches = [replace(target, name=f"leaf-{target.name}", is_switch=True) for target in rack]
    for changing in (rack, switches):
        state = begin(driver(changing), policy(max_unavailable={"rack": "50%"}), [*TARGETS, *switches])
        assert [len(wave.hosts) for wave in state.waves] == [1, 2, 1]


def test_a_state_survives_as_json() -> None:
    """What a killed run has kept is what the next one goes on with."""
    state = rollout().state
    assert from_json(to_json(state)) == state


TESTS = WaveAcceptancePlan(phase="full", domains=(), tests=("host-copies",), max_loss_percent=5)
QUERY = TelemetryPlan(name="xids", url="http://p", query="xids", max=0, min=None)


def test_hosts_are_tested_after_they_were_verified_and_before_they_are_given_back() -> None:
    """Each wave goes through the tests while it is out of service."""
    caller = rollout(acceptance=TESTS)
    assert caller.run().phase == "done"
    assert [action.kind for action in caller.did[:5]] == ["drain", "apply", "verify", "accept", "uncordon"]
    assert sorted(caller.hosts_of("accept")) == [target.name for target in TARGETS]


def test_a_canary_that_fails_its_tests_stops_all_and_is_taken_back() -> None:
    """Nobody else has the change; where it has no way back, the canary stays out of service."""
    for no_way_back, undone, cordoned in (("", ["r01-n01"], ()), ("firmware", [], ("r01-n01",))):
        changes = driver(TARGETS, no_way_back=no_way_back)
        caller = Caller(begin(changes, policy(acceptance=TESTS, on_regression="roll-back"), TARGETS))
        caller.answer = failing("r01-n01", at="accept")
        state = caller.run()
        assert state.stopping == "canary r01-n01 failed: accept: 7 of 8 GPUs"
        assert caller.hosts_of("apply") == ["r01-n01"]
        assert (caller.hosts_of("roll-back"), state.cordoned) == (undone, cordoned)


def test_telemetry_is_asked_at_the_end_of_a_soak_of_no_time_and_of_one_that_was_cut_off() -> None:
    """Without telemetry a soak of 0 s is none; a run that was killed looks again at what it was to watch."""
    caller = rollout(telemetry=(QUERY,), drain=False)
    state, _ = step(caller.state, Go(), NOON)
    state, _ = step(state, Reported("apply", dict.fromkeys(state.active)), NOON)
    state, (action,) = step(state, Reported("verify", dict.fromkeys(state.active)), NOON)
    assert (action.kind, action.until, state.phase) == ("wait", NOON, "soak")
    state, (action,) = step(state, Go(), NOON + 9)
    assert (action.kind, state.phase) == ("wait", "soak")
    state, (action,) = step(state, Regressed("telemetry xids is 3, over 0", ("r01-n01",)), NOON + 9)
    assert (action.kind, action.why) == ("stopped", "regression on r01-n01: telemetry xids is 3, over 0")
    assert state.with_status("waiting") == tuple(host for wave in state.waves[1:] for host in wave.hosts)
