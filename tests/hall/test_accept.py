"""Acceptance of a hall: a fault each on its hosts, and what `coldaisle accept` says of the right one, with the part."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from sim import faults
from sim.parts import gpu_slot, serial_of
from tests.hall import test_waves as waves
from tests.hall.test_faults import target
from tests.hall_sites import Hall, hall_in_order

HOSTS = 10

FAULTS: dict[str, tuple[str, dict[str, object]]] = {
    "r01-n01": ("gpu-missing", {"index": 3}),
    "r01-n02": ("gpu-ecc", {"index": 1, "errors": 5}),
    "r01-n03": ("gpu-xid", {"index": 5}),
    "r01-n04": ("gpu-slow", {"index": 2}),
    "r01-n05": ("dimm-errors", {"index": 3}),
    "r01-n06": ("nvme-slow", {}),
    "r01-n07": ("nic-slow", {"port": "rail0"}),
    "r01-n08": ("wrong-cable", {"other": "r01-n09:rail0"}),
    "r01-n10": ("nccl-sockets", {}),
}
"""By host, the fault that is put on it before all are accepted at once."""

TOLD = {
    "r01-n01": ("gpu-state", "nvidia-smi sees 7 of 8 GPUs", "r01-n01 GPU 3, slot 00000000:58:00.0"),
    "r01-n02": (
        "gpu-state",
        "5 uncorrectable ECC errors",
        f"r01-n02 GPU 1, serial {serial_of('r01-n02', gpu_slot(1))}, slot 00000000:48:00.0",
    ),
    "r01-n03": ("kernel-log", "Xid 79", "r01-n03 GPU, slot 00000000:68:00.0"),
    "r01-n04": (
        "host-copies",
        "under the floor of 50",
        f"r01-n04 GPU 2, serial {serial_of('r01-n04', gpu_slot(2))}, slot 00000000:50:00.0",
    ),
    "r01-n05": ("memory-errors", "1 uncorrected memory errors", "r01-n05 DIMM DIMM_D1"),
    "r01-n06": ("disk-read", "disk_read_mb_s is 320, under the floor of 3000", "r01-n06 disk under /var/tmp"),
    "r01-n07": ("rdma-write", "under the floor of 9", "cable r01-n07:rail0 to leaf01:swp7"),
    "r01-n08": (
        "neighbours",
        "rail0 ends at leaf01:swp9, and not at leaf01:swp8",
        "cable r01-n08:rail0 to leaf01:swp8",
    ),
    "r01-n09": (
        "neighbours",
        "rail0 ends at leaf01:swp8, and not at leaf01:swp9",
        "cable r01-n09:rail0 to leaf01:swp9",
    ),
    "r01-n10": ("all-reduce-rail", "NCCL went over Socket", "r01-n10"),
}
"""By host, the test that finds it, what it says, and the part to replace."""


def accept(floor: Hall, *words: str) -> tuple[int, dict[str, Any]]:
    """Run the command on the hall's deploy host, and return its exit status and its JSON."""
    done = floor.run(sys.executable, "-m", "coldaisle", "accept", str(floor.folder), "--json", *words, check=False)
    assert done.stdout.startswith("{"), done.stdout[-2000:] + done.stderr[-2000:]
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def brought_up() -> Iterator[Hall]:
    """Return a hall of its own: hosts whose cables were exchanged are no ground for the tests of other files."""
    with hall_in_order(HOSTS) as found:
        yield found


@pytest.fixture
def faulty(brought_up: Hall) -> Iterator[Hall]:
    """Return the hall with a fault on nine of ten hosts."""
    for host, (name, options) in FAULTS.items():
        faults.inject(target(brought_up, host), name, options)
    yield brought_up
    for host, (name, _options) in FAULTS.items():
        faults.clear(target(brought_up, host), name)


def test_a_hall_in_order_is_accepted_and_its_evidence_holds(brought_up: Hall) -> None:
    """Every domain of every host passes, each has a signed statement, and one changed byte is found."""
    status, found = accept(brought_up, "--phase", "full")
    bodies = found["nodes"]
    assert {host: body["reasons"] for host, body in bodies.items() if body["result"] != "accepted"} == {}
    assert status == 0
    assert len(found["evidence"]) == len(bodies) == 10
    assert all(len(body["domains"]) == 7 and set(body["domains"].values()) == {"passed"} for body in bodies.values())
    verify = [sys.executable, "-m", "coldaisle", "evidence", "verify", str(brought_up.folder)]
    assert brought_up.run(*verify).stdout.endswith("10 verified, 0 cannot be believed\n")
    path = brought_up.state.folder / "evidence" / found["evidence"][0].rpartition("/")[2]
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"payload":"ey', b'"payload":"fy'))
    assert brought_up.run(*verify, check=False).returncode == 4
    path.write_bytes(good)


def test_each_fault_is_told_of_its_host_with_the_part(faulty: Hall) -> None:
    """G6, G8: seven of eight GPUs, and a GPU with Xid 79, are refused; each other fault names its part, too."""
    status, found = accept(faulty, "--phase", "full")
    assert status == 4
    for host, (test, what, part) in TOLD.items():
        reasons = found["nodes"][host]["reasons"]
        told = [(it["what"], it["part"]["text"]) for it in reasons if it["test"] == test and it["part"]]
        assert any(what in said and part == named for said, named in told), (host, reasons)
    assert {body["result"] for body in found["nodes"].values()} == {"refused"}


def test_a_host_that_is_off_is_not_accepted(brought_up: Hall) -> None:
    """Nothing is known of it, and the others' result stands."""
    from sim.hall.site import machines  # noqa: PLC0415
    from sim.power import PowerSwitch  # noqa: PLC0415

    switch = PowerSwitch(brought_up.state)
    (machine,) = (machine for machine in machines(brought_up.name) if machine.name == "r01-n02")
    switch.turn_off(machine)
    try:
        words = ("--node", "r01-n01", "--node", "r01-n02", "--domain", "pcie")
        status, found = accept(brought_up, *words)
    finally:
        switch.turn_on(machine)
    assert (status, {host: body["result"] for host, body in found["nodes"].items()}) == (
        3,
        {"r01-n01": "accepted", "r01-n02": "could-not-tell"},
    )


def plan_pool(floor: Hall, driver: str, **pool: Any) -> None:  # noqa: ANN401
    """Write a driver and keys of the pool into the spec, and the inputs of the plays that follow."""
    file = floor.folder / "site.yaml"
    spec = yaml.safe_load(file.read_text())
    spec["node_pools"]["light"]["gpu"]["driver_packages"] = {waves.PACKAGE: driver}
    spec["node_pools"]["light"] |= pool
    file.write_text(yaml.safe_dump(spec, sort_keys=False))
    floor.replan()
    floor.plays("prepare")


def test_a_driver_that_costs_bandwidth_is_taken_back_at_the_canary(brought_up: Hall) -> None:
    """`up` accepts the pool with its old driver; the canary of a new one is slower than it was, and nobody else is."""
    waves.install_stand_ins(brought_up)
    plan_pool(brought_up, waves.OLD, acceptance={"phase": "full", "domains": ["pcie"]})
    assert brought_up.plays("apply", "gpu", "accept")["reasons"] == {}
    rollout = {
        "canary_soak_s": 0,
        "on_regression": "roll-back",
        "acceptance": {"phase": "full", "tests": ["host-copies"], "max_loss": "5%"},
    }
    plan_pool(brought_up, waves.NEW, rollout=rollout)
    canary = target(brought_up, "r01-n01")
    faults.inject(canary, "gpu-slow", {"index": 2})
    try:
        first, *others = brought_up.plays("apply", "gpu")["reasons"]["gpu-light"]
    finally:
        faults.clear(canary, "gpu-slow")
    assert first.startswith("r01-n01: rolled back: canary r01-n01 failed: accept: not accepted: host-copies: ")
    part = f"r01-n01 GPU 2, serial {serial_of('r01-n01', gpu_slot(2))}"
    assert f" %, 5 % may be lost (part: {part}" in first
    assert len(others) == HOSTS - 1
    assert all(": not started: canary r01-n01 failed: accept: not accepted:" in other for other in others)
    assert waves.versions(brought_up) == [waves.OLD] * HOSTS
