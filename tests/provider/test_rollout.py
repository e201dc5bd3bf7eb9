"""A play's change in waves, with real Ansible on hosts that are folders."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from coldaisle.locks import lock_all
from coldaisle.plan.model import TelemetryPlan, WaveAcceptancePlan, WindowPlan
from coldaisle.waves.policies import policy_json
from coldaisle.waves.telemetry import Sample
from components.provider.outcome import NotAccepted
from components.provider.plays import InitFailedError, Plays
from components.provider.run import RunError
from tests.provider.conftest import URN, Engine
from tests.unit.waves.floors import policy

if TYPE_CHECKING:
    from components.provider.outcome import Trouble
    from components.provider.work import Telemetry, Work
    from tests.provider.conftest import Floor

CANARY_FAILS = "not started: canary h1 failed: verify: failed in task 'read back': mtu.rail0 is 1500 after the run"


def set_up(floor: Floor, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401
    """Return the outputs of hosts at MTU 1500, and inputs that want 9000, in waves of two after a canary."""
    for name in floor.names:
        floor.set(name, "facts.json", f'{{"hostname": "{name}", "mtu.rail0": 1500}}')
    rules = policy(wave_by="pool", max_at_once=2, max_unavailable={}, **fields)
    inputs = floor.inputs(rollout=policy_json(rules))
    before = {name: {**facts, "mtu.rail0": 1500} for name, facts in inputs["hosts"].items()}
    return {**inputs, "hosts": before}, inputs


def events(floor: Floor) -> list[dict[str, Any]]:
    """Return the record of what happened."""
    lines = (floor.state / "waves" / "os-train.events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def stopped(engine: Engine, outputs: dict[str, Any], inputs: dict[str, Any]) -> InitFailedError:
    """Return how an update ended that did not come to its end."""
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.update(outputs, inputs))
    return caught.value


def test_a_regression_stops_at_the_canary_and_the_next_up_goes_on(floor: Floor, engine: Engine) -> None:
    """Three hosts are not touched, and say why; when the canary is repaired, it goes first again, and all are done."""
    outputs, inputs = set_up(floor)
    floor.set("h1", "behaviour", "pretend")
    error = stopped(engine, outputs, inputs)
    assert [floor.runs(name) for name in floor.names] == [1, 0, 0, 0]
    assert error.reasons[0].startswith("h1: failed in task 'read back': mtu.rail0 is 1500 after the run, planned 9000")
    assert [reason.partition(": ")[2].startswith(CANARY_FAILS) for reason in error.reasons[1:]] == [True] * 3
    assert error.outputs["hosts"]["h1"] == {}  # in no state that was seen, and still one of the hosts
    assert sorted(error.outputs["hosts"]) == floor.names
    assert engine.lines[0] == "wave 1/3 (canary: 1 of 4, before all others): drain h1; 0 of 4 done"
    assert "wave 1/3 h1 drain | is in no cluster: nothing to drain" in engine.lines
    floor.set("h1", "behaviour", "")
    again = Engine()
    done = asyncio.run(again.update(error.outputs, inputs))
    assert done["hosts"] == inputs["hosts"]
    assert [floor.runs(name) for name in floor.names] == [2, 1, 1, 1]
    assert [event["hosts"] for event in events(floor) if event["what"] == "apply"] == [
        ["h1"],
        ["h1"],
        ["h2", "h3"],
        ["h4"],
    ]
    assert not (floor.state / "waves" / "os-train.json").exists()


def test_what_regressed_is_rolled_back(floor: Floor, engine: Engine) -> None:
    """The canary gets the facts that it had before, and is as it was."""
    outputs, inputs = set_up(floor, on_regression="roll-back")
    floor.set("h1", "unreadable", "hostname")
    error = stopped(engine, outputs, inputs)
    assert error.reasons[0].startswith(
        "h1: rolled back: canary h1 failed: verify: failed in task 'read back': hostname"
    )
    assert floor.seen("h1") == {"hostname": "h1", "mtu.rail0": 1500}
    assert error.outputs["hosts"] == outputs["hosts"]


def test_a_closed_window_starts_nothing(floor: Floor, engine: Engine) -> None:
    """Every host says when the next window opens, and nothing has run."""
    never = WindowPlan(days=(), opens_min=0, closes_min=0)
    outputs, inputs = set_up(floor, windows=(never,))
    error = stopped(engine, outputs, inputs)
    assert {reason.partition(": ")[2] for reason in error.reasons} == {
        "not started: the maintenance window is closed; the next one opens never: none is long enough"
    }
    assert error.outputs["hosts"] == outputs["hosts"]
    assert [floor.runs(name) for name in floor.names] == [0, 0, 0, 0]


def test_a_second_operator_is_refused(floor: Floor, engine: Engine) -> None:
    """While somebody changes hosts of the pool in waves, another change of them does not begin."""
    outputs, inputs = set_up(floor)
    [lock] = lock_all(floor.state / "locks", ["pool-os-train"], "the play gpu-train")
    with pytest.raises(RunError, match="pool-os-train is being changed by the play gpu-train, process"):
        asyncio.run(engine.update(outputs, inputs))
    lock.close()
    assert [floor.runs(name) for name in floor.names] == [0, 0, 0, 0]


async def _stopped_in_the_middle(engine: Engine, floor: Floor, outputs: dict[str, Any], inputs: dict[str, Any]) -> None:
    update = asyncio.ensure_future(engine.update(outputs, inputs))
    while not floor.runs("h2"):
        assert not update.done()
        await asyncio.sleep(0.05)
    engine.plays.cancel()
    await update


def test_a_run_that_was_stopped_goes_on_where_it_was(floor: Floor, engine: Engine) -> None:
    """The canary is not changed again, though the engine has lost what the first run told."""
    outputs, inputs = set_up(floor)
    floor.set("h2", "behaviour", "sleep 30")
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(_stopped_in_the_middle(engine, floor, outputs, inputs))
    assert "h4: not started: the run was stopped" in caught.value.reasons
    floor.set("h2", "behaviour", "")
    done = asyncio.run(Engine().update(outputs, inputs))
    assert done["hosts"] == inputs["hosts"]
    assert (floor.runs("h1"), floor.runs("h2"), floor.runs("h4")) == (1, 2, 1)


def test_a_change_that_reboots_drains_first_and_ends_after_the_boot(
    floor: Floor, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only a boot makes true is left out before it, and the play is run to its end after it."""
    floor.names = ["h1"]
    planned = {"hostname": "h1", "kernel_release": "6.8.0-90"}
    monkeypatch.setattr(floor, "facts", lambda _name: planned)
    floor.write_inventory()
    inventory = yaml.safe_load(floor.inventory.read_text())
    inventory["all"]["hosts"]["h1"]["drain_node"] = {"name": "h1"}
    floor.inventory.write_text(yaml.safe_dump(inventory))
    inputs = floor.inputs(rollout=policy_json(policy()))
    outputs = {**inputs, "hosts": {"h1": {"hostname": "h1", "kernel_release": "6.8.0-87", "varsDigest": "v1"}}}
    assert asyncio.run(engine.update(outputs, inputs))["hosts"] == inputs["hosts"]
    why = "the play os-train changes it"
    steps = (floor.root / "h1" / "steps").read_text().splitlines()
    assert steps == [f"drain: {why}", f"reboot: {why}", f"uncordon: {why}"]
    assert floor.runs("h1") == 2
    told = [event["what"] for event in events(floor)]
    assert [what for what in told if not what.endswith("ended")] == [
        "drain",
        "apply",
        "reboot",
        "verify",
        "uncordon",
        "done",
    ]


def test_a_policy_is_checked_before_anything_runs(floor: Floor, engine: Engine) -> None:
    """What the engine carries is the policy of the plan; what is none is told by its property."""
    good = floor.inputs(rollout=policy_json(policy(windows=(WindowPlan(days=(5,), opens_min=60, closes_min=0),))))
    assert asyncio.run(engine.check(good)) == {}
    [(name, why)] = asyncio.run(engine.check(floor.inputs(rollout={"canary": 1}))).items()
    assert (name, why.startswith("is no policy")) == ("rollout", True)


class Refuser:
    """Refuses hosts; it remembers whom it measured before a change, and whom it tested after it."""

    def __init__(self, *refused: str) -> None:
        """Refuse these."""
        self.refused, self.asked = refused, list[tuple[bool, list[str]]]()

    async def try_wave(
        self, work: Work, hosts: list[str], policy: WaveAcceptancePlan, *, before: bool
    ) -> dict[str, Trouble]:
        """Answer for the hosts."""
        del work, policy
        self.asked.append((before, hosts))
        return {} if before else {host: NotAccepted("bandwidth is lost") for host in hosts if host in self.refused}


TESTS = WaveAcceptancePlan(phase="full", domains=(), tests=("host-copies",), max_loss_percent=5)
QUERY = TelemetryPlan(name="xids", url="http://p", query="xids", max=0, min=None)


def refusal(floor: Floor, tester: Refuser | None, told: Telemetry | None, **fields: Any) -> list[str]:  # noqa: ANN401
    """Return the reasons of an update in waves whose tests or telemetry say no."""
    outputs, inputs = set_up(floor, **fields)
    plays = Plays(lambda _urn, _line: None, tester=tester, telemetry=told)
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(plays.update(URN, "os-train", outputs, inputs, 0))
    return caught.value.reasons


def test_a_wave_that_tests_refuse_stops_the_rollout(floor: Floor) -> None:
    """What was measured before the change and after it is the canary; the others are not touched."""
    tester = Refuser("h1")
    first, *others = refusal(floor, tester, None, acceptance=TESTS)
    assert tester.asked == [(True, ["h1"]), (False, ["h1"])]
    assert first == "h1: not accepted: bandwidth is lost"
    assert others == [
        f"{host}: not started: canary h1 failed: accept: not accepted: bandwidth is lost" for host in ("h2", "h3", "h4")
    ]
    assert [floor.runs(name) for name in floor.names] == [1, 0, 0, 0]


def test_a_wave_that_telemetry_refuses_is_taken_back(floor: Floor) -> None:
    """The reason has what was measured before the wave and after it."""
    values = [0.0, 3.0]

    async def telemetry(asked: TelemetryPlan, hosts: list[str]) -> list[Sample]:
        assert (asked.name, hosts) == ("xids", ["h1"])
        return [Sample({"Hostname": "h1"}, values.pop(0))]

    first, *others = refusal(floor, None, telemetry, telemetry=(QUERY,), on_regression="roll-back")
    said = 'regression on h1: telemetry xids {Hostname="h1"} was 0 before the wave and is 3, over 0'
    assert first == f"h1: rolled back: {said}"
    assert others == [f"{host}: not started: {said}" for host in ("h2", "h3", "h4")]
    assert floor.seen("h1") == {"hostname": "h1", "mtu.rail0": 1500}
