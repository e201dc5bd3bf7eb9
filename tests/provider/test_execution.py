"""Plays through execution nodes: real servers of SSH, real workers of ansible-runner, hosts that are folders."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from components.provider.plays import InitFailedError
from tests.execution_nodes import Node, left, make_key
from tests.provider.conftest import Engine, Floor
from tests.provider.test_plays import some

THROUGH = {"h1": ("east",), "h2": ("west", "east")}
"""By host, its execution nodes in order; the others have none."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Node]]:
    """Return two execution nodes that are up."""
    folder = tmp_path_factory.mktemp("nodes")
    make_key(folder / "key")
    found = {name: Node(name, folder / name, folder / "key").start() for name in ("east", "west")}
    yield found
    for node in found.values():
        node.stop()


def name_nodes(
    floor: Floor, nodes: dict[str, Node], *, runner_stands_in: bool = True, **changes: dict[str, Any]
) -> None:
    """Write the nodes into the inventory, some with changes."""
    content = yaml.safe_load(floor.inventory.read_text())
    for host, names in THROUGH.items():
        content["all"]["hosts"][host]["execution_nodes"] = list(names)
    records = {name: node.record(**changes.get(name, {})) for name, node in nodes.items()}
    content["all"]["vars"] = {"execution": {"nodes": records, "runner_stands_in": runner_stands_in}}
    floor.inventory.write_text(yaml.safe_dump(content))


def test_hosts_go_through_their_nodes_and_converge(
    floor: Floor, engine: Engine, nodes: dict[str, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two nodes and the runner have a part each; facts come back, nothing is there to do again, nothing is left."""
    secret = floor.root / "secret"
    secret.write_text("tell-nobody")
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    floor.write_inventory(secret_file=secret)
    name_nodes(floor, nodes)
    inputs = some(floor, "h1", "h2", "h3")
    engine.plays.preview("urn", None, inputs)
    assert engine.lines == ["settle on 3 of 3 hosts: h1, h2, h3, through east (1), the runner (1), west (1)"]
    outputs = asyncio.run(engine.create(inputs))
    assert outputs["hosts"] == inputs["hosts"]
    assert engine.plays.diff(outputs, inputs) == {}
    assert [floor.runs(name) for name in floor.names] == [1, 1, 1, 0]
    assert [line for line in engine.lines if "lost" in line] == []
    assert left() == []


async def _cut(engine: Engine, floor: Floor, cut: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Create the play, and cut something off as soon as h1 is being worked on."""
    running = asyncio.create_task(engine.create(some(floor, "h1")))
    while not floor.runs("h1"):  # noqa: ASYNC110 - a file of another process
        await asyncio.sleep(0.05)
    cut()
    return await running


def test_a_worker_that_is_killed_loses_nothing(floor: Floor, engine: Engine, nodes: dict[str, Node]) -> None:
    """`kill -9` in the middle: the node's task is ended, its hosts go to who stands in, and the end is as planned."""
    floor.set("h1", "behaviour", "sleep 300")
    name_nodes(floor, nodes)

    def kill() -> None:
        floor.set("h1", "behaviour", "")
        for pid in nodes["east"].workers():
            os.kill(pid, signal.SIGKILL)

    outputs = asyncio.run(_cut(engine, floor, kill))
    assert outputs["hosts"] == some(floor, "h1")["hosts"]
    assert floor.runs("h1") == 2
    assert any("execution node east was lost" in line for line in engine.lines)
    assert left() == []
    assert [line for line in floor.processes() if "write_facts" in line] == []


def test_hosts_of_a_lost_node_are_named_where_nobody_stands_in(
    floor: Floor, engine: Engine, nodes: dict[str, Node]
) -> None:
    """A node does not answer, and nobody may take its host: that is not done, and the next run does it."""
    name_nodes(floor, nodes, runner_stands_in=False, east={"port": 1})
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1", "h3")))
    assert sorted(caught.value.outputs["hosts"]) == ["h3"]
    [reason] = caught.value.reasons
    assert reason.startswith("h1: execution node east was lost: ssh: connect to host 127.0.0.1 port 1")
    assert reason.endswith("the next run goes on from here")
    name_nodes(floor, nodes)
    outputs = asyncio.run(engine.update(caught.value.outputs, some(floor, "h1", "h3")))
    assert outputs["hosts"] == some(floor, "h1", "h3")["hosts"]
    assert [floor.runs(name) for name in floor.names] == [1, 0, 1, 0]


def test_a_node_that_shows_another_key_or_lacks_a_package_gets_no_run(
    floor: Floor, engine: Engine, nodes: dict[str, Node]
) -> None:
    """Nobody stands in for such a node: somebody has to look. The others' hosts are done, and the reason says what."""
    name_nodes(floor, nodes, east={"host_key": nodes["west"].host_key}, west={"python": "/usr/bin/python3"})
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(some(floor, "h1", "h2", "h3")))
    assert sorted(caught.value.outputs["hosts"]) == ["h3"]
    first, second = caught.value.reasons
    assert "its host key is not the pinned one" in first
    assert "is needed, the version of the runner have: /usr/bin/python3 has ansible-runner" in second
    assert "-m pip install ansible-runner==" in second


@pytest.mark.drill
def test_a_connection_that_is_cut_ends_the_work_before_it_begins_elsewhere(
    floor: Floor, engine: Engine, nodes: dict[str, Node]
) -> None:
    """The server of SSH is killed: the node ends its worker, and only then the hosts are worked on again."""
    floor.set("h1", "behaviour", "sleep 300")
    name_nodes(floor, nodes)

    def cut() -> None:
        floor.set("h1", "behaviour", "")
        nodes["east"].stop()

    outputs = asyncio.run(_cut(engine, floor, cut))
    nodes["east"].start()
    assert outputs["hosts"] == some(floor, "h1")["hosts"]
    assert floor.runs("h1") == 2
    assert left() == []


def test_a_stop_ends_the_workers(floor: Floor, engine: Engine, nodes: dict[str, Node]) -> None:
    """^C: the node's worker ends with all that it has begun, and its host is named."""
    floor.set("h1", "behaviour", "sleep 300")
    name_nodes(floor, nodes)
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(_cut(engine, floor, engine.plays.cancel))
    assert any(line.startswith("h1: stopped in task 'Settle | Write the facts'") for line in caught.value.reasons)
    assert left() == []
    assert nodes["east"].workers() == []
    assert floor.processes() == []
