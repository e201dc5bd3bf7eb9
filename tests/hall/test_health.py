"""`coldaisle health` on a hall: faults of light hosts become conditions, findings, steps within limits, and tickets."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coldaisle.paths import state_dir
from sim import faults
from sim.bmc.event_log import EVENT, log_of
from sim.hall.site import status
from sim.machines import hardware_record
from sim.parts import serial_of
from tests.hall.test_faults import ECC, target
from tests.hall.test_hall import ssh
from tests.hall_sites import Hall

TEN = [f"r01-n{number:02}" for number in range(1, 11)]
LOST = "r01-n06"


@pytest.fixture
def up(floor: Hall) -> Iterator[Hall]:
    """Return the hall with its hosts on, nothing known of their health, and no fault left behind."""
    floor.plays("apply", "bmc")
    yield floor
    for host in TEN:
        for name in ("gpu-xid", "gpu-ecc", "link-flap", "nvme-slow", EVENT):
            faults.clear(target(floor, host), name)
        log_of(floor.state, host).clear()
    shutil.rmtree(folder(floor), ignore_errors=True)


def folder(floor: Hall) -> Path:
    """Return what the command keeps of the hall."""
    return state_dir(floor.name) / "health"


def health(floor: Hall, *options: str) -> dict[str, Any]:
    """Run the command on the deploy host, and return its report."""
    words = (sys.executable, "-m", "coldaisle", "health", str(floor.folder), "--json", *options)
    done = floor.run(*words, check=False)
    assert done.returncode in {0, 4}, done.stdout[-2000:] + done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"exit": done.returncode}


def steps(report: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Return node, rung and outcome of what was done."""
    return [(it["node"], it["rung"], it["ok"]) for it in report["done"]]


def test_a_gpu_that_falls_off_the_bus_ends_at_a_ticket_with_its_serial(up: Hall) -> None:
    """Drained, the reset refused, power cut and given by the BMC; still lost at the next reading, so a ticket."""
    assert health(up, "--node", LOST)["exit"] == 0
    serial = hardware_record(up.plan, target(up, LOST).node)["gpus"][3]["serial"]
    faults.inject(target(up, LOST), "gpu-xid", {"index": 3})
    first = health(up, "--apply", "--node", LOST)
    assert steps(first) == [(LOST, "drain", True), (LOST, "reset", False), (LOST, "reboot", True)]
    assert "GPU is lost" in first["done"][1]["result"]
    assert {it["type"] for it in first["conditions"] if it["status"] == "True"} == {
        "SysLogsXIDError",
        "GpuCountMismatch",
    }
    assert LOST in status(up.name).on
    assert steps(health(up, "--apply", "--node", LOST)) == [(LOST, "ticket", True)]
    [ticket] = [json.loads(line) for line in (folder(up) / "tickets.jsonl").read_text().splitlines()]
    assert ticket["replace"] == f"the GPU in PCI slot 0000:58:00.0, GPU 3, serial {serial} ({LOST}, rack r01, unit 11)"
    assert ticket["cause"].startswith("Xid 79: the GPU has fallen off the bus")
    assert [line.split(" ")[1:3] for line in ticket["tried"]] == [
        ["drain", "done:"],
        ["reset", "failed:"],
        ["reboot", "failed:"],
    ]
    faults.clear(target(up, LOST), "gpu-xid")
    assert steps(health(up, "--apply", "--node", LOST, "--give-back", LOST)) == [(LOST, "return", True)]


def test_memory_errors_that_a_reset_clears_give_the_node_back(up: Hall) -> None:
    """The GPU's counter is 0 after the reset, and nothing else is done to the host."""
    faults.inject(target(up, "r01-n02"), "gpu-ecc", {"index": 1})
    done = steps(health(up, "--apply", "--node", "r01-n02"))
    assert done == [("r01-n02", "drain", True), ("r01-n02", "reset", True)]
    back = health(up, "--apply", "--node", "r01-n02")
    assert steps(back) == [("r01-n02", "return", True)]
    assert back["exit"] == 0
    faults.clear(target(up, "r01-n02"), "gpu-ecc")
    assert set(ssh(up, "r01-n02", ECC).stdout.split()) == {"0"}


@pytest.mark.parametrize("host", ["r01-n04", "r01-n05"])
def test_a_module_that_its_bmc_complains_of_is_to_be_replaced(up: Hall, host: str) -> None:
    """One host's BMC speaks IPMI and the other's Redfish; it is drained, and the ticket names the module."""
    assert health(up, "--node", host)["exit"] == 0
    faults.inject(target(up, host), EVENT, {"sensor": "memory"})
    found = health(up, "--apply", "--node", host)
    assert steps(found) == [(host, "drain", True), (host, "ticket", True)]
    assert [it["type"] for it in found["conditions"] if it["status"] == "True"] == ["BmcEventLog"]
    [ticket] = [json.loads(line) for line in (folder(up) / "tickets.jsonl").read_text().splitlines()]
    assert ticket["replace"].startswith(f"dimm B2 ({host}, rack r01, unit ")
    assert "uncorrectable" in ticket["evidence"][0].lower()
    assert health(up, "--node", host)["done"] == []


def test_a_drive_that_got_slow_is_watched_by_its_serial(up: Hall) -> None:
    """By what its kernel has counted since the reading before; the node works on."""
    assert health(up, "--node", "r01-n03")["exit"] == 0
    faults.inject(target(up, "r01-n03"), "nvme-slow", {})
    found = health(up, "--apply", "--node", "r01-n03")
    [slow] = [it for it in found["conditions"] if it["status"] == "True"]
    assert (slow["type"], found["done"]) == ("DiskWatch", [])
    assert slow["message"] == f"disk nvme0n1 {serial_of('r01-n03', 'nvme0n1')}: disk slow (1)"


def test_a_burst_of_xid_13_over_all_hosts_is_one_finding(up: Hall) -> None:
    """Fifty of them on each host: nothing is drained, now or later."""
    for host in TEN:
        faults.inject(target(up, host), "gpu-xid", {"index": 0, "code": 13, "count": 50})
    found = health(up, "--apply")
    assert (found["done"], found["held"]) == ([], [])
    assert [(it["part"], it["code"], len(it["nodes"])) for it in found["findings"]] == [("hall hall1", "13", 10)]


def test_flaps_of_half_the_hosts_of_a_leaf_are_a_finding_of_the_leaf(up: Hall) -> None:
    """Each of five hosts flaps more often than one alone may: the leaf is named, and no host is drained."""
    for host in TEN[:5]:
        faults.inject(target(up, host), "link-flap", {"port": "rail0", "count": 8})
    found = health(up, "--apply")
    assert (found["done"], found["held"]) == ([], [])
    assert [(it["part"], it["explains"], it["nodes"]) for it in found["findings"]] == [("leaf leaf01", True, TEN[:5])]


def test_supplies_of_half_a_rack_that_lose_their_input_are_a_finding_of_its_feed(up: Hall) -> None:
    """BMCs of both protocols tell of it; the feed is named once, and nothing is done to the hosts."""
    for host in TEN[:5]:
        faults.inject(target(up, host), EVENT, {"sensor": "power-supply"})
    found = health(up, "--apply")
    assert (found["done"], found["held"]) == ([], [])
    [feed] = found["findings"]
    assert (feed["code"], feed["explains"], feed["nodes"]) == ("power-critical", True, TEN[:5])
    assert feed["part"].startswith("power ")


def test_nine_of_ten_stay_up_when_all_have_lost_a_gpu(up: Hall) -> None:
    """One is worked on; the others wait, and the report says for which limit."""
    for host in TEN:
        faults.inject(target(up, host), "gpu-xid", {"index": 7})
    found = health(up, "--apply")
    assert steps(found) == [("r01-n01", "drain", True), ("r01-n01", "reset", False), ("r01-n01", "reboot", True)]
    assert [it["node"] for it in found["held"]] == TEN[1:]
    assert found["held"][0]["limit"] == "1 of 10 nodes of its pool are out, 1 may be (max_pool_share)"
    assert [(it["part"], it["explains"]) for it in found["findings"]] == [("hall hall1", False), ("hall hall1", False)]
