"""Machines that stand in another's place: nothing of them is changed, they are told apart by name, the others go on."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sim import faults
from sim.errors import SimError
from sim.hall.site import machines, status
from sim.machines import NAMESPACE_UUID
from sim.power import PowerSwitch
from tests.hall.test_faults import target
from tests.hall_sites import Hall, hall

NODES = 4
SWAPPED, OTHER, COPY, ORIGINAL = (f"r01-n{number:02}" for number in range(1, 1 + NODES))
"""Two BMCs whose cables are exchanged, one by Redfish and one by IPMI; a restored disk, and the one it was made of."""


def with_uuids(folder: Path) -> None:
    """Add the UUIDs of the delivery list to a hall's spec."""
    file = folder / "site.yaml"
    sections = yaml.safe_load(file.read_text())
    for name, delivered in sections["hardware"].items():
        delivered["uuid"] = str(uuid.uuid5(NAMESPACE_UUID, name))
    file.write_text(yaml.safe_dump(sections, sort_keys=False))


pytestmark = pytest.mark.drill


@pytest.fixture(scope="module")
def hall_of_four() -> Iterator[Hall]:
    """Return a hall whose delivery list has the machines' UUIDs; all are off."""
    with hall(NODES, name=f"i{os.getpid() % 100000}") as found:
        with_uuids(found.folder)
        found.renew()
        found.plays("prepare")
        yield found


def planned(floor: Hall, host: str) -> dict[str, Any]:
    """Return what the play of the BMCs plans for a host."""
    inputs = json.loads((floor.folder / "inputs.json").read_text())
    found: dict[str, Any] = inputs["bmc-light"]["hosts"][host]
    return found


def test_exchanged_bmc_cables_turn_nothing_on(hall_of_four: Hall) -> None:
    """Each of the two says whose machine it is; both stay off, the others are turned on, and it is drift at a read."""
    for host, of in ((SWAPPED, OTHER), (OTHER, SWAPPED)):
        faults.inject(target(hall_of_four, host), "another-machine", {"of": of})
    found = hall_of_four.plays("apply", "bmc")
    reasons = {line.partition(":")[0]: line for line in found["reasons"]["bmc-light"]}
    read = hall_of_four.plays("read") if found["hosts"]["bmc-light"] else {}
    for host in (SWAPPED, OTHER):
        faults.clear(target(hall_of_four, host), "another-machine")
    own, other = (planned(hall_of_four, host)["machine_uuid"] for host in (SWAPPED, OTHER))
    assert sorted(reasons) == [SWAPPED, OTHER]
    assert f"machine_uuid is {other} (that is {OTHER}), planned {own}; nothing was changed" in reasons[SWAPPED]
    assert f"machine_uuid is {own} (that is {SWAPPED}), planned {other}; nothing was changed" in reasons[OTHER]
    assert status(hall_of_four.name).on == (COPY, ORIGINAL)
    assert set(read["changes"]["bmc-light"]) == {f'hosts["{it}"]' for it in (SWAPPED, OTHER)}
    assert hall_of_four.plays("apply", "bmc")["reasons"] == {}


def test_a_restored_disk_is_told_by_whose_it_is(hall_of_four: Hall) -> None:
    """The copy of another host's disk is refused by its host key, and where that is unknown by its machine id."""
    assert hall_of_four.plays("apply", "bmc", "os")["reasons"] == {}
    copy = next(machine for machine in machines(hall_of_four.name) if machine.name == COPY)
    switch = PowerSwitch(hall_of_four.state)
    switch.turn_off(copy)
    written = copy.path / "upper/etc/sysctl.d/90-coldaisle.conf"
    written.unlink()
    faults.inject(target(hall_of_four, COPY), "copied-disk", {"of": ORIGINAL})
    switch.turn_on(copy)
    by_key = played(hall_of_four)
    (hall_of_four.state.folder / "known_hosts").unlink()
    by_disk = played(hall_of_four)
    settled = written.exists()
    switch.turn_off(copy)
    faults.clear(target(hall_of_four, COPY), "copied-disk")
    switch.turn_on(copy)
    assert f"another host key than before (that of {ORIGINAL})" in by_key[COPY]
    assert f"the disk of {ORIGINAL} answers, or a copy of it: machine id" in by_disk[COPY]
    assert f"it calls itself {ORIGINAL}" in by_disk[COPY]
    assert (list(by_key), list(by_disk), settled) == ([COPY], [COPY], False)


def played(floor: Hall) -> dict[str, str]:
    """Run the play of the operating system on all hosts anew, and return the reasons by host."""
    (floor.folder / "outputs.json").unlink()
    reasons = floor.plays("apply", "os")["reasons"].get("os-light", [])
    return {line.partition(":")[0]: line for line in reasons}


def test_a_fault_that_needs_another_node_says_so(hall_of_four: Hall) -> None:
    """Without a node, or with itself, there is nothing to exchange."""
    with pytest.raises(SimError, match="name one with --set of=NODE"):
        faults.inject(target(hall_of_four, COPY), "another-machine", {"of": COPY})
