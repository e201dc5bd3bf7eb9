"""Faults on a hall, each shown by what the product's own code reports of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from sim import faults
from sim.errors import SimError
from sim.hall.site import machines
from sim.power import PowerSwitch
from tests.hall.test_hall import ssh
from tests.hall_sites import Hall

AT_REST: dict[str, tuple[str, dict[str, object]]] = {
    "r01-n01": ("bmc-hang", {}),
    "r01-n02": ("bmc-wrong-password", {}),
    "r01-n03": ("bmc-wrong-password", {}),
    "r01-n04": ("gpu-ecc", {"index": 1, "errors": 5}),
    "r01-n05": ("gpu-missing", {}),
    "r01-n06": ("gpu-xid", {"index": 3}),
    "r01-n07": ("gpu-driver-old", {}),
    "r01-n08": ("gpu-fabric", {}),
    "r01-n09": ("boot-order-drift", {}),
}
"""By host, the fault that is put on it before all of them are read at once."""

BMCS = {
    "r01-n01": "no-answer: the BMC did not answer in time",
    "r01-n02": "wrong-credentials: ",
    "r01-n03": "wrong-credentials: the BMC refuses user or password",
}
"""What the read of each BMC says: Redfish and IPMI take turns from host to host."""

ECC = "nvidia-smi --query-gpu=ecc.errors.uncorrected.volatile.total --format=csv,noheader"
"""Prints a line a GPU: its uncorrectable errors."""

CHANGES = {
    "bmc-light": {'hosts["r01-n09"]["boot_order"]': "update"},
    "gpu-light": {
        'hosts["r01-n04"]["ecc_uncorrected"]': "update",
        'hosts["r01-n05"]["gpu_count"]': "update",
        'hosts["r01-n06"]["gpu_count"]': "update",
        'hosts["r01-n07"]["driver"]': "update",
        'hosts["r01-n08"]["fabric_state"]': "update",
    },
}
"""What drift names, and nothing else: verify's facts are some of these again."""


def target(floor: Hall, host: str) -> faults.Target:
    """Return a host of the hall as what a fault hits."""
    return faults.find_target(floor.plan, floor.state, host)


@pytest.fixture
def faulty(brought_up: Hall) -> Iterator[Hall]:
    """Return the hall with a fault on each of nine hosts."""
    for host, (name, options) in AT_REST.items():
        faults.inject(target(brought_up, host), name, options)
    yield brought_up
    for host, (name, _options) in AT_REST.items():
        faults.clear(target(brought_up, host), name)


def test_one_read_names_every_fault_and_nothing_else(faulty: Hall) -> None:
    """BMCs that hang or refuse could not be told; the rest is drift of the host that it hit."""
    found = faulty.plays("read")
    reasons = {line.partition(":")[0]: line for line in found["reasons"]["bmc-light"]}
    assert sorted(reasons) == sorted(BMCS)
    assert all(text in reasons[host] for host, text in BMCS.items())
    assert found["changes"] | {"verify-light": {}} == CHANGES | {"verify-light": {}}
    assert "NVRM: Xid (PCI:00000000:58:00.0): 79" in ssh(faulty, "r01-n06", "dmesg").stdout


def test_uncorrectable_errors_are_what_nvidia_smi_says(brought_up: Hall) -> None:
    """The count is that of the one GPU, and it is gone when the fault is taken back."""
    faults.inject(target(brought_up, "r01-n04"), "gpu-ecc", {"index": 1, "errors": 5})
    assert ssh(brought_up, "r01-n04", ECC).stdout.split() == ["0", "5", *["0"] * 6]
    faults.clear(target(brought_up, "r01-n04"), "gpu-ecc")
    assert set(ssh(brought_up, "r01-n04", ECC).stdout.split()) == {"0"}


def _cable(floor: Hall, host: str) -> str:
    """Return the name of the switch's port at the other end of a host's rail."""
    spaces = {name: floor.state.namespace(name) for name in (host, "leaf01")}
    shown = {
        name: json.loads(subprocess.run(["ip", "-n", space, "-j", "link"], capture_output=True, check=True).stdout)
        for name, space in spaces.items()
    }
    far = next(port["link_index"] for port in shown[host] if port["ifname"] == "rail0")
    return str(next(port["ifname"] for port in shown["leaf01"] if port["ifindex"] == far))


def test_two_cables_are_exchanged_and_put_back(floor: Hall) -> None:
    """Each host's rail ends at the other's switch port, until the fault is taken back."""
    faults.inject(target(floor, "r01-n01"), "wrong-cable", {})
    crossed = [_cable(floor, host) for host in ("r01-n01", "r01-n02")]
    faults.clear(target(floor, "r01-n01"), "wrong-cable")
    assert crossed == ["swp2", "swp1"]
    assert [_cable(floor, host) for host in ("r01-n01", "r01-n02")] == ["swp1", "swp2"]


def test_a_pulled_cable_has_no_carrier(floor: Hall) -> None:
    """The host's port of a cut cable has no carrier, and has one again when it is plugged in."""
    carrier = ["ip", "-n", floor.state.namespace("r01-n03"), "-j", "link", "show", "rail0"]

    def has_carrier() -> bool:
        shown = json.loads(subprocess.run(carrier, capture_output=True, check=True).stdout)
        return "NO-CARRIER" not in shown[0]["flags"]

    faults.inject(target(floor, "r01-n03"), "no-link", {"port": "rail0"})
    assert not has_carrier()
    faults.clear(target(floor, "r01-n03"), "no-link")
    assert has_carrier()


def test_a_machine_that_loops_is_on_and_is_never_up_for_long(floor: Hall) -> None:
    """Its BMC says on; the host's SSH server is another one after some seconds, which no run survives."""
    host = next(machine for machine in machines(floor.name) if machine.name == "r01-n10")
    switch = PowerSwitch(floor.state)
    switch.turn_off(host)
    faults.inject(target(floor, "r01-n10"), "boot-loop", {"after_s": 0.5})
    switch.turn_on(host)
    waits = ssh(floor, "r01-n10", "sleep 30", check=False)
    is_on = switch.is_on(host)
    faults.clear(target(floor, "r01-n10"), "boot-loop")
    switch.turn_off(host)
    switch.turn_on(host)
    assert (waits.returncode, is_on) == (255, True)


def test_a_fault_of_a_guest_is_refused_on_a_light_host(floor: Hall) -> None:
    """The clock of a light host is this machine's: nobody sets it wrong for a test."""
    with pytest.raises(SimError, match="it is a light"):
        faults.inject(target(floor, "r01-n10"), "clock-skew", {})
