"""Power lost to a node and its BMC: both are gone at once, and come back as the BMC's power policy says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sim.bmc.firmware import Firmware
from sim.fault_records import record_fault
from sim.hall.plan import hall_wiring
from sim.network import BMC_DEVICE, wiring
from sim.power import PowerSwitch
from sim.shell import find, run
from sim.state import HALL_MARK, read_json

if TYPE_CHECKING:
    from sim.faults import Target

POWER_LOST = "power-lost"
WAS_ON = "was_on"


def lose_power(target: Target, options: Mapping[str, Any]) -> None:
    """Cut the feeds: the machine is off, nobody answers at its BMC's address, and an update under way is lost."""
    switch = PowerSwitch(target.state)
    was_on = bool(options.get(WAS_ON, switch.is_on(target.machine)))
    record_fault(target.state, target.node.name, POWER_LOST, {**options, WAS_ON: was_on})
    _set_route(target, "del")
    switch.turn_off(target.machine)
    Firmware(target.state.bmcs / f"{target.node.name}.firmware.json").lose_power()


def restore_power(target: Target, options: Mapping[str, Any]) -> None:
    """Give the feeds back: the BMC answers again, and the machine does what its power policy says."""
    _set_route(target, "replace")
    policy = read_json(target.state.bmcs / f"{target.node.name}.json").get("power_policy", "LastState")
    if policy == "AlwaysOn" or (policy == "LastState" and options.get(WAS_ON)):
        PowerSwitch(target.state).turn_on(target.machine)


def _set_route(target: Target, verb: str) -> None:
    """
    Take a BMC's address out of those that the port of all BMCs answers for, or put it back.

    It goes out of the table of local addresses, as the kernel writes it: to remove the first address of a network would
    remove the others of it, too, and a listener of the address works on when it is back.
    """
    address, wires = target.machine.bmc_address, hall_wiring if target.state.mark == HALL_MARK else wiring
    ends = (end for link in wires(target.plan).links for end in (link.a, link.b) if end.device == BMC_DEVICE)
    where = ["-n", target.state.namespace(BMC_DEVICE), "route", verb, "table", "local", "local", str(address)]
    for port in ends:
        run([find("ip", "iproute2"), *where, "dev", port.name, "proto", "kernel", "scope", "host"])
