"""
Power lost to half a hall in the middle of a firmware wave: machines and BMCs of one of two racks are dark at once.

Nothing is lost by it: the wave ends stopped and named, no rack that is not dark is begun, and when the power is back
the next run brings every BMC to the planned version, with one update for each that was not cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.paths import state_dir
from sim import faults
from sim.bmc.firmware import FIRST
from sim.hall.site import status
from sim.power_faults import POWER_LOST
from tests.hall.test_crash import ITEM, VERSION, begun_s, image_server, pin, tasks
from tests.hall.test_faults import target
from tests.hall.test_runs import started, told, until
from tests.hall_sites import Hall, hall

pytestmark = pytest.mark.drill

A_RACK = 3
DARK = [f"r01-n{number:02}" for number in range(1, A_RACK + 1)]
LIT = [f"r02-n{number:02}" for number in range(1, A_RACK + 1)]
PATIENCE_S = 25
"""How long an update is followed here: it takes 6 s, and half an hour is what a real one may take."""

POLICY = {"canary": 1, "wave_by": "rack", "max_unavailable": {"rack": "100%"}, "canary_soak_s": 1, "soak_s": 0}
PLAY = "bmc_firmware-light"


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Return a hall of two racks that are on, whose plan has a new firmware for the BMCs, to be brought in waves."""
    folder = tmp_path_factory.mktemp("images")
    with hall(2 * A_RACK, name=f"p{os.getpid() % 100000}", a_rack=A_RACK) as found:
        _by_redfish(found)
        pin(found, FIRST[ITEM], "http://192.0.2.1/none", "0" * 64)
        _plan(found)
        assert found.plays("apply", "bmc_firmware", "bmc")["reasons"] == {}
        with image_server(found, folder):
            _with_policy(found)
            _plan(found)
            yield found


def _by_redfish(floor: Hall) -> None:
    """Let every BMC speak Redfish: IPMI knows no firmware."""
    file = floor.folder / "site.yaml"
    sections = yaml.safe_load(file.read_text())
    for node in sections["hardware"].values():
        node["bmc_protocol"] = "redfish"
    file.write_text(yaml.safe_dump(sections, sort_keys=False))


def _with_policy(floor: Hall) -> None:
    file = floor.folder / "site.yaml"
    sections = yaml.safe_load(file.read_text())
    sections["node_pools"]["light"]["rollout"] = POLICY
    file.write_text(yaml.safe_dump(sections, sort_keys=False))


def _plan(floor: Hall) -> None:
    """Take the spec as it is now, and lose patience with an update soon."""
    floor.replan()
    floor.plays("prepare")
    file = floor.state.folder / "inventory.yaml"
    inventory = yaml.load(file.read_text(), yaml.CSafeLoader)
    for host in inventory["all"]["hosts"].values():
        host["bmc_firmware_update_timeout_s"] = PATIENCE_S
    file.write_text(yaml.dump(inventory, Dumper=yaml.CSafeDumper))


def versions(floor: Hall) -> dict[str, Any]:
    """Return the version that each BMC was seen to have."""
    hosts = json.loads((floor.folder / "outputs.json").read_text())[PLAY]["hosts"]
    return {name: facts.get(f"firmware.{ITEM}") for name, facts in hosts.items()}


def standing(floor: Hall) -> Path:
    """Return the file that says where the rollout stands."""
    return state_dir(floor.plan.name) / "waves" / f"{PLAY}.json"


@pytest.mark.timeout(600)
def test_power_lost_to_half_a_hall_in_the_middle_of_a_firmware_wave(floor: Hall) -> None:
    """The wave of the dark rack is stopped, the other rack is not begun, and the next run ends as planned."""
    running = started(floor, "apply", "bmc_firmware")
    until(lambda: running.poll() is not None or min(begun_s(floor, host) for host in DARK[1:]) > 1)
    for host in DARK:
        faults.inject(target(floor, host), POWER_LOST, {})
    first = told(running)
    assert set(status(floor.name).on) == set(LIT)
    reasons = {line.partition(": ")[0]: line.partition(": ")[2] for line in first["reasons"][PLAY]}
    assert sorted(reasons) == [*DARK[1:], *LIT]
    assert all("failed in task 'Bmc firmware | Update" in reasons[host] for host in DARK[1:]), reasons
    assert all(reasons[host].startswith("not started: 2 failed, 0 may") for host in LIT), reasons
    assert json.loads(standing(floor).read_text())["state"]["phase"] == "stopped"
    assert versions(floor) == {DARK[0]: VERSION, **dict.fromkeys(DARK[1:]), **dict.fromkeys(LIT, FIRST[ITEM])}

    for host in DARK:
        faults.clear(target(floor, host), POWER_LOST)
    until(lambda: set(status(floor.name).on) == {*DARK, *LIT})
    assert floor.plays("apply", "bmc_firmware")["reasons"] == {}
    assert versions(floor) == dict.fromkeys([*DARK, *LIT], VERSION)
    assert not standing(floor).exists()
    given = {host: [bool(task.get("lost")) for task in tasks(floor, host)] for host in (*DARK, *LIT)}
    assert given == {host: [True, False] if host in DARK[1:] else [False] for host in given}
