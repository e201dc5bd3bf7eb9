"""Changes of a hall rehearsed in virtual time: hundreds of seeds, and a watch that tells what does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.plan.rollout import rollout_of
from coldaisle.spec.rollout import RolloutSpec
from coldaisle.waves import machine
from components.provider.rollout import Rollout
from sim.hall.spec import write
from sim.virtual.command import Ground, ground, record, trials
from sim.virtual.hazards import CALM, Hazards

SEEDS = 60
WORSE = Hazards(
    fails=0.016, silent=0.008, dead=0.008, bad_change=0.4, slow_change=0.4, kills_an_hour=0.6, stops_an_hour=0.4
)
POLICIES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "rolled back": {"on_regression": "roll-back", "acceptance": {"phase": "quick"}},
    "by feed": {"max_unavailable": {"rack": 2, "feed": "20%"}, "canary": 3, "max_failed": 2, "wave_by": "feed"},
}

Hall = Callable[..., Ground]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Hall:
    """Return a function that gives the ground of trials: a hall of 16 hosts, with a policy's fields changed."""
    place = ground(open_site(write(tmp_path_factory.mktemp("hall"), 16, "virtual")).plan)

    def found(**fields: Any) -> Ground:  # noqa: ANN401 - fields of several types
        return replace(place, policy=rollout_of(RolloutSpec(**fields), "Etc/UTC"))

    return found


@pytest.mark.parametrize("hazards", [Hazards(), WORSE], ids=["usual", "worse"])
@pytest.mark.parametrize("policy", POLICIES)
def test_what_must_hold_does(hall: Hall, policy: str, hazards: Hazards) -> None:
    """Limits, canary, drained before it changes, told is true, nothing twice, and all as planned at the end."""
    outcomes = list(trials(hall(**POLICIES[policy]), range(SEEDS), hazards))
    assert {outcome.seed: outcome.broken for outcome in outcomes if outcome.broken} == {}
    assert sum(outcome.kills for outcome in outcomes) > 0
    assert sum(outcome.stops for outcome in outcomes) > 0
    assert any(outcome.bad_change for outcome in outcomes)
    assert any(outcome.ups > 1 for outcome in outcomes)


@pytest.fixture(scope="module")
def two_racks(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """Return the ground of trials of a new firmware: two racks of eight, a wave within one."""
    folder = write(tmp_path_factory.mktemp("racks"), 16, "virtual", a_rack=8)
    sections = yaml.safe_load((folder / "site.yaml").read_text())
    item = {"name": "BMC", "version": "2.0.0", "image": "http://192.0.2.1/bmc.bin", "sha256": "0" * 64}
    sections["node_pools"]["light"] |= {"firmware": [item], "rollout": {"max_unavailable": {"rack": "50%"}}}
    (folder / "site.yaml").write_text(yaml.safe_dump(sections, sort_keys=False))
    return ground(open_site(folder).plan, playbook="bmc_firmware")


@pytest.mark.parametrize("others", [CALM, WORSE], ids=["nothing else", "worse"])
def test_half_a_hall_goes_dark_in_firmware_waves(two_racks: Ground, others: Hazards) -> None:
    """What must hold does; a run in which it went dark names the hosts that it hit, and all are planned at the end."""
    outcomes = list(trials(two_racks, range(SEEDS // 3), replace(others, half_dark=0.3)))
    assert {outcome.seed: outcome.broken for outcome in outcomes if outcome.broken} == {}
    assert sum(outcome.outages for outcome in outcomes) > SEEDS / 6
    if others == CALM:
        hit = {outcome.seed for outcome in outcomes if any("no route to host" in line for line in outcome.told)}
        assert {outcome.seed for outcome in outcomes if outcome.ups > 1} == hit
        assert len(hit) > SEEDS / 12


def test_a_seed_replays(hall: Hall) -> None:
    """The same seed gives the same trial, to what was told; another one does not."""
    first, second = (list(trials(hall(), range(7, 9), WORSE)) for _ in range(2))
    assert first == second
    assert json.dumps(record(first[0])) != json.dumps(record(first[1]))


def test_without_hazards_one_up_is_enough(hall: Hall) -> None:
    """Sixteen hosts in five waves, each with its soak: hours that cost no time."""
    [outcome] = trials(hall(), [1], CALM)
    assert (outcome.ups, outcome.told, outcome.broken) == (1, [], [])
    assert 1 < outcome.hours < 3


def test_the_watch_sees_a_host_that_is_changed_under_its_work(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waves that drain nobody are told of by seed."""
    monkeypatch.setattr(machine, "_drains", lambda _state, _hosts: False)
    [outcome] = trials(hall(), [1], CALM)
    assert any("while work runs on it" in sentence for sentence in outcome.broken)


def test_a_change_that_only_tests_can_find_stops_at_its_canary(hall: Hall) -> None:
    """It is on the canary, and nobody else gets it; the operator then plans a better one."""
    slow = replace(CALM, slow_change=1.0, bad_share=1.0)
    [outcome] = trials(hall(acceptance={"phase": "quick"}), [1], slow)
    assert (outcome.broken, outcome.slow_change) == ([], True)
    first, *others = outcome.told[:16]
    assert first.endswith(": not accepted: host-copies: device_to_host_gb_s is 40, was 55: -27 %, 5 % may be lost")
    assert all(": not started: canary " in other for other in others)
    assert outcome.ups == 3  # stopped, stopped again, and then with the better version
    [unseen] = trials(hall(), [1], slow)
    assert (unseen.ups, unseen.told) == (1, [])


def test_the_watch_sees_a_version_that_goes_on_after_tests_have_refused_it(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that nobody listens to are told of by seed."""

    async def deaf(self: Rollout, hosts: list[str]) -> dict[str, None]:
        assert self.policy.acceptance is not None
        await self.work.shared.testing().try_wave(self.work, hosts, self.policy.acceptance, before=False)
        return dict.fromkeys(hosts)

    monkeypatch.setattr(Rollout, "_accept", deaf)
    slow = replace(CALM, slow_change=1.0, bad_share=1.0)
    [outcome] = trials(hall(acceptance={"phase": "quick"}), [1], slow)
    assert any("which tests have refused on" in sentence for sentence in outcome.broken)


def test_the_watch_sees_limits_that_are_passed(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wave of everybody takes more out than may be."""
    everybody = hall(max_unavailable={"pool": "100%"}, canary=1)
    monkeypatch.setattr("sim.virtual.trial.Watch", _strict)
    [outcome] = trials(everybody, [1], CALM)
    assert any("are out, 4 may be" in sentence for sentence in outcome.broken)


def _strict(**fields: Any) -> Any:  # noqa: ANN401 - what a watch takes
    from sim.virtual.watch import Watch  # noqa: PLC0415 - the name is replaced where it is used

    return Watch(**(fields | {"limits": {"pool": "25%"}}))


def test_a_soak_is_not_cut_short_by_what_was_forgotten(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others that change while the canary is still watched are told of."""
    monkeypatch.setattr("sim.virtual.trial.Watch", _long_soak)
    [outcome] = trials(hall(), [1], CALM)
    assert any("its soak alone is longer" in sentence for sentence in outcome.broken)


def _long_soak(**fields: Any) -> Any:  # noqa: ANN401 - what a watch takes
    from sim.virtual.watch import Watch  # noqa: PLC0415 - the name is replaced where it is used

    return Watch(**(fields | {"soak_s": 86_400}))


def test_a_hall_of_hundreds_is_rehearsed(tmp_path: Path) -> None:
    """256 hosts in sixteen racks, with everything that may go wrong."""
    place = ground(open_site(write(tmp_path, 256, "virtual")).plan)
    [outcome] = trials(place, [3], Hazards())
    assert (outcome.hosts, outcome.broken) == (256, [])
