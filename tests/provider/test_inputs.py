"""What a play takes, and what it compares: no playbook runs here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from pulumi.runtime.proto import provider_pb2

from components.provider.values import SECRET, SIGNATURE, UNKNOWN, engine_map, plain_map

if TYPE_CHECKING:
    from tests.provider.conftest import Engine, Floor


def seen(floor: Floor, **facts: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the outputs of a play whose host h3 was seen with other facts."""
    outputs = floor.inputs()
    outputs["hosts"]["h3"] |= facts
    return outputs


def test_good_inputs_have_no_problem(floor: Floor, engine: Engine) -> None:
    """The inputs that the program sends pass."""
    assert asyncio.run(engine.check(floor.inputs())) == {}


@pytest.mark.usefixtures("floor")
def test_every_problem_is_reported_at_once(engine: Engine) -> None:
    """Seven mistakes are seven failures, each at its property."""
    hosts = {"h1": {"mtu": [1]}, "h2": "x"}
    bad = {"playbook": "nope", "hosts": hosts, "forks": 0, "onDelete": "wipe", "host": "h1"}
    failures = asyncio.run(engine.check({"site": "", **bad}))
    assert failures.keys() == {
        "site",
        "codeDigest",
        "playbook",
        "forks",
        "onDelete",
        "host",
        'hosts["h1"]["mtu"]',
        'hosts["h2"]',
    }
    assert "there are broken, drain, once, read, reboot, settle, uncordon" in failures["playbook"]


def test_no_hosts_is_a_problem(floor: Floor, engine: Engine) -> None:
    """A play on nothing is a mistake in the program."""
    assert "is empty" in asyncio.run(engine.check(floor.inputs(hosts={})))["hosts"]


def test_a_secret_value_is_refused(floor: Floor, engine: Engine) -> None:
    """What the program marks as secret must not come into the state, even encrypted."""
    secret = {SIGNATURE: SECRET, "value": "floor"}
    assert asyncio.run(engine.check(floor.inputs(site=secret)))["hosts"].startswith("a Play takes no secret values")


def test_what_is_not_known_yet_is_no_problem(floor: Floor, engine: Engine) -> None:
    """In a preview, a digest or a fact may come from a resource that is not there yet."""
    inputs = floor.inputs(codeDigest=UNKNOWN)
    inputs["hosts"]["h1"]["varsDigest"] = UNKNOWN
    assert asyncio.run(engine.check(inputs)) == {}


def test_values_survive_the_protocol(floor: Floor) -> None:
    """Whole numbers stay whole, and lists, truth values and nothing come back as they were."""
    values = {"a": 1, "b": 1.5, "c": True, "d": None, "e": [1, {"f": "x"}], "g": {}, **floor.inputs()}
    assert plain_map(engine_map(values)) == values


def test_what_is_as_planned_has_no_difference(floor: Floor, engine: Engine) -> None:
    """A fact that satisfies its plan in another spelling is no change."""
    assert asyncio.run(engine.diff(seen(floor, **{"mtu.rail0": 9216.0}), floor.inputs())) == {}


def test_a_difference_is_named_by_host_and_fact(floor: Floor, engine: Engine) -> None:
    """The old outputs count, not the old inputs: otherwise drift would never be repaired."""
    assert asyncio.run(engine.diff(seen(floor, **{"mtu.rail0": 1500}), floor.inputs())) == {
        'hosts["h3"]["mtu.rail0"]': "UPDATE"
    }


def test_hosts_that_come_and_go_are_named(floor: Floor, engine: Engine) -> None:
    """A host more and a host less are an addition and a deletion, and never a replacement of the play."""
    old, new = floor.inputs(), floor.inputs()
    del old["hosts"]["h1"], new["hosts"]["h4"]
    assert asyncio.run(engine.diff(old, new)) == {'hosts["h1"]': "ADD", 'hosts["h4"]': "DELETE"}


def test_new_code_and_new_variables_are_changes(floor: Floor, engine: Engine) -> None:
    """Another digest of the code concerns all hosts, another digest of variables one."""
    new = floor.inputs(codeDigest="c2")
    new["hosts"]["h2"]["varsDigest"] = "v2"
    assert asyncio.run(engine.diff(floor.inputs(), new)) == {
        "codeDigest": "UPDATE",
        'hosts["h2"]["varsDigest"]': "UPDATE",
    }


def test_a_preview_runs_nothing(floor: Floor, engine: Engine) -> None:
    """The preview of a creation shows the plan as its outputs, and where a run would work."""
    request = provider_pb2.CreateRequest(urn="urn", properties=engine_map(floor.inputs()), preview=True)
    answer = asyncio.run(engine.servicer.Create(request, None))
    assert plain_map(answer.properties) == floor.inputs()
    assert engine.lines == ["settle on 4 of 4 hosts: h1, h2, h3, h4"]
    assert floor.runs("h1") == 0
