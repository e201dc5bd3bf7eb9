"""Plays through execution nodes: real servers of SSH, real workers of ansible-runner, hosts that are folders."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.provider.plays import InitFailedError
from tests.execution_nodes import Node, left, make_key, until
from tests.provider.conftest import Engine, Floor

THROUGH = {"h1": ("east",), "h2": ("east", "west"), "h3": ("west", "east")}
"""By host, its execution nodes in order; h4 has none."""


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
    """Two nodes and the runner have a part each; facts come back, a second run has nothing to do, nothing is left."""
    secret = floor.root / "secret"
    secret.write_text("tell-nobody")
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    floor.write_inventory(secret_file=secret)
    name_nodes(floor, nodes)
    engine.plays.preview("urn", None, floor.inputs())
    assert engine.lines == ["settle on 4 of 4 hosts: h1, h2, h3, h4, through east (2), the runner (1), west (1)"]
    outputs = asyncio.run(engine.create(floor.inputs()))
    assert outputs["hosts"] == floor.inputs()["hosts"]
    assert engine.plays.diff(outputs, floor.inputs()) == {}
    assert asyncio.run(engine.read(outputs, floor.inputs())) == outputs
    assert [floor.runs(name) for name in floor.names] == [1, 1, 1, 1]
    assert left() == []


async def _cut(engine: Engine, floor: Floor, cut: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Create the play, and cut something off as soon as h1 is being worked on."""
    running = asyncio.create_task(engine.create(floor.inputs()))
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
        [os.kill(pid, signal.SIGKILL) for pid in nodes["east"].workers()]

    outputs = asyncio.run(_cut(engine, floor, kill))
    assert outputs["hosts"] == floor.inputs()["hosts"]
    assert floor.runs("h1") == 2
    assert any("execution node east was lost" in line for line in engine.lines)
    assert left() == []
    assert [line for line in floor.processes() if "write_facts" in line] == []


def test_hosts_of_a_lost_node_are_named_where_nobody_stands_in(
    floor: Floor, engine: Engine, nodes: dict[str, Node]
) -> None:
    """A node that does not answer, with no other and no runner for it: its host is not done, and the next run does it."""
    name_nodes(floor, nodes, runner_stands_in=False, east={"port": 1})
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(floor.inputs()))
    assert sorted(caught.value.outputs["hosts"]) == ["h2", "h3", "h4"]
    [reason] = caught.value.reasons
    assert reason.startswith("h1: execution node east was lost: ssh: connect to host 127.0.0.1 port 1")
    assert reason.endswith("the next run goes on from here")
    name_nodes(floor, nodes)
    outputs = asyncio.run(engine.update(caught.value.outputs, floor.inputs()))
    assert outputs["hosts"] == floor.inputs()["hosts"]
    assert [floor.runs(name) for name in floor.names] == [1, 1, 1, 1]


def test_a_node_that_shows_another_key_or_lacks_a_package_gets_no_run(
    floor: Floor, engine: Engine, nodes: dict[str, Node]
) -> None:
    """Nobody stands in for such a node: somebody has to look. The others' hosts are done, and the reason says what."""
    name_nodes(floor, nodes, east={"host_key": nodes["west"].host_key}, west={"python": "/usr/bin/python3"})
    with pytest.raises(InitFailedError) as caught:
        asyncio.run(engine.create(floor.inputs()))
    assert sorted(caught.value.outputs["hosts"]) == ["h4"]
    first, _, third = caught.value.reasons
    assert "its host key is not the pinned one" in first
    assert "ansible-runner" in third
    assert "is needed, the version of the runner have: /usr/bin/python3 has ansible-runner" in third
    assert "-m pip install ansible-runner==" in third
