"""Plays on a hall through an execution node: they converge, and lose nothing when the node's worker is killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from coldaisle.render.files import bare_address
from sim.hall.plan import deploy_addresses
from tests.execution_nodes import Node, left, make_key
from tests.hall.test_runs import machine, started, told, until
from tests.hall_sites import Hall, hall

pytestmark = pytest.mark.drill

HOST = "r01-n01"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hall, Node]]:
    """Return a hall of two hosts, and the execution node that works on it; its server runs in the hall's network."""
    folder = tmp_path_factory.mktemp("node")
    make_key(folder / "key")
    with hall(2, name=f"x{os.getpid() % 100000}") as found:
        address = deploy_addresses(found.plan)[0].partition("/")[0]
        made = Node("east", folder / "east", folder / "key", address, found.command).start()
        file = found.folder / "site.yaml"
        sections = yaml.safe_load(file.read_text()) | {"execution": {"nodes": [made.spec("hall1")]}}
        file.write_text(yaml.safe_dump(sections, sort_keys=False))
        found.replan()
        found.plays("prepare")
        yield found, made
        made.stop()


def test_a_hall_converges_through_its_node(node: tuple[Hall, Node]) -> None:
    """BMCs and hosts are set up by the node, what they tell comes back, and a second run has nothing to do."""
    floor, east = node
    assert floor.plays("apply", "bmc", "os")["reasons"] == {}
    logins = east.log().count("Accepted publickey")
    assert logins >= 2
    assert floor.plays("apply", "bmc", "os")["reasons"] == {}
    assert east.log().count("Accepted publickey") == logins
    assert floor.plays("read") == {"changes": {}, "reasons": {}}
    for planned in floor.plan.nodes:  # names may be hashed in it (ssh_config of Debian)
        address = bare_address(planned.management_address)
        look = ["ssh-keygen", "-F", address, "-f", str(floor.state.folder / "known_hosts")]
        assert subprocess.run(look, capture_output=True, check=False).returncode == 0, planned.name
    assert left() == []


def test_a_hall_loses_nothing_with_the_worker_of_its_node(node: tuple[Hall, Node]) -> None:
    """`kill -9` in the middle of the play of the operating system: the runner stands in, and all is as planned."""
    floor, east = node
    floor.renew()
    assert floor.plays("apply", "bmc")["reasons"] == {}
    running = started(floor, "apply", "os")
    until((machine(floor, HOST).path / "upper/home/ops").exists)
    for pid in east.workers():
        os.kill(pid, signal.SIGKILL)
    assert told(running)["reasons"] == {}
    assert floor.plays("read") == {"changes": {}, "reasons": {}}
    assert left() == []
