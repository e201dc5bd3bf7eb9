"""The life of nodes on a hall, by the command line and the provider's own path, with BMCs that answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coldaisle.check import open_site
from coldaisle.verify import wanted
from sim import faults
from sim.hall.site import machines, status
from sim.parts import gpu_slot, serial_of
from sim.power import PowerSwitch
from sim.state import read_json
from tests.hall_sites import Hall, hall
from tests.unit.verify.neighbours import as_planned, lldpd_json

NODE, IPMI, OTHER = "r01-n01", "r01-n02", "r01-n03"
NEW_GPU = "CDNEW0000042"


@pytest.fixture(scope="module")
def small() -> Iterator[Hall]:
    """Return a hall of three hosts whose delivery list names every part."""
    with hall(3, name=f"l{os.getpid() % 100000}", serials=True) as found:
        yield found


def node(floor: Hall, verb: str, name: str, *options: str, code: int = 0) -> str:
    """Run `coldaisle node` on the hall's deploy host, and return what it printed."""
    command = [sys.executable, "-m", "coldaisle", "node", verb, str(floor.folder), name, *options]
    done = floor.run(*command, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def up(floor: Hall) -> dict[str, Any]:
    """Apply the plays of BMCs, as `up` would."""
    floor.plays("prepare")
    return floor.plays("apply", "bmc")


def states(floor: Hall, name: str) -> list[str]:
    """Return every state that a node was in."""
    return [step.state for step in open_site(floor.folder).spec.journal.of(name)]


def on(floor: Hall) -> set[str]:
    """Return the machines that are on."""
    return set(status(floor.name).on)


def lldp(floor: Hall, folder: Path) -> list[str]:
    """Return options with what each switch sees, all as planned."""
    checked = open_site(floor.folder)
    cables = wanted(checked.spec, checked.plan)
    options = []
    for switch in sorted(cables.lldp_switches):
        file = folder / f"{switch}.json"
        file.write_bytes(lldpd_json(as_planned(cables), switch))
        options += ["--seen", str(file)]
    return options


def test_a_node_from_the_pallet_into_service_and_through_an_rma(small: Hall, tmp_path: Path) -> None:
    """
    No play touches it before its parts and cables were seen; a GPU that goes missing is named with slot and serial.

    Repaired and with its new GPU in the delivery list it comes back by acceptance, and its address never changes.
    """
    node(small, "enroll", NODE, "--why", "pallet 7")
    assert up(small)["reasons"] == {}
    assert on(small) == {IPMI, OTHER}
    node(small, "inspect", NODE, *lldp(small, tmp_path))
    assert states(small, NODE) == ["enroll", "inspect", "verify", "provision"]
    assert up(small)["reasons"] == {}
    assert on(small) == {NODE, IPMI, OTHER}
    node(small, "accept", NODE, "--why", "burn-in passed")
    assert states(small, NODE)[-2:] == ["accept", "in-service"]

    slot, serial = gpu_slot(3), serial_of(NODE, gpu_slot(3))
    target = faults.find_target(small.plan, small.state, NODE)
    faults.inject(target, "gpu-missing", {"index": 3})
    said = node(small, "inspect", NODE, code=5)
    assert f"GPU {serial} of slot {slot} is missing" in said
    assert states(small, NODE)[-1] == "in-service"
    node(small, "repair", NODE, "--why", "GPU missing, RMA 4711")
    before = open_site(small.folder).plan
    faults.clear(target, "gpu-missing")
    faults.inject(target, "gpu-replaced", {"index": 3, "serial": NEW_GPU})
    assert f"another GPU is in slot {slot}: {NEW_GPU}, planned {serial}" in node(small, "inspect", NODE, code=5)
    node(small, "replace", NODE, "--gpu", f"{slot}={NEW_GPU}", "--why", "RMA 4711 done")
    after = open_site(small.folder)
    assert [n.management_address for n in after.plan.nodes] == [n.management_address for n in before.nodes]
    assert set(after.spec.journal.gone) == {serial.lower()}
    node(small, "accept", NODE, "--why", "RMA 4711 accepted")
    assert states(small, NODE)[-1] == "in-service"


def test_what_a_bmc_does_not_tell_is_not_taken_for_right(small: Hall) -> None:
    """IPMI tells no parts: the inspection says so and why, and a new node does not move on by it."""
    node(small, "enroll", IPMI, "--why", "pallet 8")
    said = node(small, "inspect", IPMI, code=3)
    assert "not-over-ipmi" in said
    assert states(small, IPMI) == ["enroll", "inspect", "inspect"]
    node(small, "inspect", IPMI, "--accept-unknown", "--why", "labels read by hand")
    assert states(small, IPMI)[-1] == "verify"
    node(small, "accept", IPMI, "--accept-unknown", "--why", "labels read by hand")


def test_retired_nodes_are_off_stay_off_and_up_does_nothing_to_them(small: Hall) -> None:
    """Over Redfish and over IPMI: power, power policy and boot device are read back; `up` leaves all of it alone."""
    assert up(small)["reasons"] == {}
    assert {OTHER, IPMI} <= on(small)
    for name in (OTHER, IPMI):
        node(small, "retire", name, "--keep-disks", "it has none", "--why", "lease ends")
        board = read_json(small.state.bmcs / f"{name}.json")
        assert (board["power_policy"], board["boot_device"], board["boot_enabled"]) == (
            "AlwaysOff",
            "Hdd",
            "Continuous",
        )
        last = open_site(small.folder).spec.journal.last[name]
        assert last.state == "retired"
        assert last.details["read_back"] == {"power_policy": "always-off", "boot_order": "disk", "power": "off"}
    files = [small.state.bmcs / f"{name}.json" for name in (OTHER, IPMI)]
    before = [file.stat().st_mtime_ns for file in files]
    found = up(small)
    assert found["reasons"] == {}
    assert not {OTHER, IPMI} & {*found["hosts"]["bmc-light"], *on(small)}
    assert [file.stat().st_mtime_ns for file in files] == before
    node(small, "return", OTHER, "--why", "I want it back", code=2)


def test_drift_names_a_retired_node_that_somebody_has_turned_on(small: Hall) -> None:
    """Who presses its button is found: the retired node's power is asked for by drift itself."""
    if states(small, OTHER)[-1] != "retired":
        node(small, "retire", OTHER, "--keep-disks", "none", "--why", "lease ends")
    script = (
        "import sys; from pathlib import Path; from coldaisle.cli.drift_life import with_life;"
        "from coldaisle.drift.report import Report; from coldaisle.drift.formats import as_json; import json;"
        "print(json.dumps(as_json(with_life(Report(stack='s', taken_at='', items=(), same={}), Path(sys.argv[1])))))"
    )

    def drift() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(small.run(sys.executable, "-c", script, str(small.folder)).stdout)
        return found

    assert drift()["items"] == []
    PowerSwitch(small.state).turn_on(next(each for each in machines(small.name) if each.name == OTHER))
    [item] = drift()["items"]
    assert (item["host"], item["thing"], item["planned"], item["seen"]) == (OTHER, "power", "off", "on")


def test_two_operators_at_once(small: Hall) -> None:
    """Of two who start on the same node at the same moment, one goes on and the other is told who, and why."""
    command = [sys.executable, "-m", "coldaisle", "node"]
    starts = [
        [*command, verb, str(small.folder), NODE, "--why", f"{who} wants it", "--who", who]
        for verb, who in (("maintain", "alice"), ("repair", "bob"))
    ]
    running = [
        subprocess.Popen(
            small.command(*words), env=small.environment(), stderr=subprocess.PIPE, text=True, cwd=Path.cwd()
        )
        for words in starts
    ]
    told = [process.communicate()[1] for process in running]
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0, 6]
    winner = ("alice", "bob")[codes.index(0)]
    assert f"{winner} ({winner} wants it)" in told[codes.index(6)]
