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
