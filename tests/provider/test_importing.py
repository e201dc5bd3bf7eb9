"""A play that is imported: its inputs are those of the program, what is seen is asked, and nothing is run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pulumi.runtime.proto import provider_pb2

from components.provider import plays as plays_module
from components.provider.importing import Stack, planned
from components.provider.inputs import PlayInputs
from components.provider.plays import InitFailedError
from components.provider.site import SiteProblemError
from components.provider.values import engine_map, plain_map
from tests.provider.conftest import URN

if TYPE_CHECKING:
    from tests.provider.conftest import Engine, Floor

ROOT = Path(__file__).parents[2]


def configured(engine: Engine, **config: str) -> None:
    """Configure the provider as the engine does, with the keys of the stack's configuration."""
    request = provider_pb2.ConfigureRequest(args=engine_map(config))
    asyncio.run(engine.servicer.Configure(request, None))


def imported(engine: Engine, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Import a play by its name, over the protocol's own messages; return inputs and outputs."""
    answer = asyncio.run(engine.servicer.Read(provider_pb2.ReadRequest(id=name, urn=URN), None))
    assert answer.id == name
    return plain_map(answer.inputs), plain_map(answer.properties)


@pytest.fixture
def play(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> PlayInputs:
    """Let the site's plan have one play, on the hosts of the floor; return its inputs."""
    wanted = PlayInputs.of({**floor.inputs(), "onDelete": "forget"})

    def of_stack(stack: Stack, urn: str, name: str) -> PlayInputs:
        assert (stack, urn, name) == (Stack("floor", "forget"), URN, "os-train")
        return wanted

    monkeypatch.setattr(plays_module, "planned", of_stack)
    return wanted


def test_hosts_that_are_as_planned_are_taken_over_without_a_run(floor: Floor, engine: Engine, play: PlayInputs) -> None:
    """The engine compares what comes back, finds no difference, and no playbook was run; a changed host is one."""
    for name in floor.names:
        floor.set(name, "facts.json", json.dumps(floor.facts(name)))
    configured(engine, site="floor", onDelete="forget", adopt="true")
    inputs, outputs = imported(engine, "os-train")
    assert inputs == play.outputs(play.hosts)
    assert asyncio.run(engine.diff(outputs, inputs)) == {}
    assert [floor.runs(name) for name in floor.names] == [0, 0, 0, 0]
    floor.set("h2", "facts.json", json.dumps({**floor.facts("h2"), "mtu.rail0": 1400}))
    inputs, outputs = imported(engine, "os-train")
    assert set(asyncio.run(engine.diff(outputs, inputs))) == {'hosts["h2"]["mtu.rail0"]'}


def test_a_host_that_does_not_tell_is_not_taken_for_one_as_planned(
    floor: Floor, engine: Engine, play: PlayInputs
) -> None:
    """What could not be asked keeps no planned value: with it, the engine would find no difference."""
    for name in floor.names:
        floor.set(name, "facts.json", json.dumps(floor.facts(name)))
    floor.set("h3", "unreadable", "hostname")
    engine.plays.configure(Stack("floor", "forget"))
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.plays.imported(URN, "os-train"))
    assert set(asyncio.run(engine.diff(caught.value.outputs, play.outputs(play.hosts)))) == {'hosts["h3"]["hostname"]'}


def test_the_plan_of_the_stacks_site_says_what_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The site is that of the configuration, else the stack's name; a play that the plan does not have is refused."""
    monkeypatch.chdir(ROOT)
    urn = "urn:pulumi:sim::coldaisle::coldaisle:ansible:Play::os-guests"
    found = planned(Stack(), urn, "os-guests")
    assert (found.site, found.playbook) == ("inventory/sim", "os")
    assert found == planned(Stack("sim"), urn.replace(":sim:", ":dev:"), "os-guests")
    with pytest.raises(SiteProblemError, match="has no play os-nobody; it has "):
        planned(Stack(), urn, "os-nobody")
