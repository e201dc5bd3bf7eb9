"""
Named faults of a simulated site: what a hall full of machines does to those who run it, on demand.

A fault is one class-less record: what it does, and the two functions that put it in force and take it back. Faults of
BMCs and of booting are only recorded; the BMC's process looks at the record when it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coldaisle.plan.model import NodePlan, SitePlan
from sim.bmc.event_log import CLOCK, EVENT, log_of
from sim.crossing import Plug, cross, neighbour, uncross
from sim.dhcp_faults import answer_dhcp, ask_forever, end_answers, end_asking
from sim.errors import SimError
from sim.fault_lines import stamped
from sim.fault_records import active_faults, forget_fault, record_fault
from sim.fault_standing import planned_device, planned_mtu, ssh
from sim.hall.plan import hall_wiring
from sim.identity_faults import copy_disk, need_other, restore_disk
from sim.machines import Machine, hardware_record
from sim.measures import PART_FAULTS, Cables, Laid, planned_cables
from sim.network import Wiring, is_guest, wiring
from sim.power import write_hardware
from sim.power_faults import POWER_LOST, lose_power, restore_power
from sim.record_faults import RECORD_CHANGES
from sim.replaced import MACHINE, NIC, plug_nic, put_machine, take_machine, unplug_nic
from sim.shell import find, run
from sim.state import HALL_MARK, State, read_json, write_json

Options = Mapping[str, Any]
Change = Callable[["Target", Options], None]


@dataclass(frozen=True, slots=True)
class Target:
    """The node that a fault hits, with the site around it."""

    plan: SitePlan
    state: State
    node: NodePlan
    machine: Machine


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `apply` and `clear` act on the site beside the record; None where the record is all."""

    summary: str
    apply: Callable[[Target, Options], None] | None = None
    clear: Callable[[Target, Options], None] | None = None


# -- the hardware record ----------------------------------------------------------------------------------------
def _write_faulty_hardware(target: Target, _: Options) -> None:
    """Write the hardware record of a node, with all its hardware faults."""
    faults, cables = active_faults(target.state, target.node.name), laid_cables(target.plan, target.state)
    write_hardware(target.machine, faulty_hardware(target.plan, target.node, faults, cables))


def laid_cables(plan: SitePlan, state: State) -> dict[str, dict[str, Laid]]:
    """Return where every cable leads to as it lies now: two that are crossed lead to each other's end."""
    cables = planned_cables(plan)
    for node in plan.nodes:
        crossing = active_faults(state, node.name).get("wrong-cable")
        if crossing is not None:
            (host, nic), (other, port) = _plugs(_wires(plan, state), node.name, crossing)
            cables[host][nic], cables[other][port] = cables[other][port], cables[host][nic]
    return cables


def faulty_hardware(
    plan: SitePlan, node: NodePlan, faults: Mapping[str, Options], cables: Cables | None = None
) -> dict[str, Any]:
    """Return the hardware record of a node as its faults, and cables that lie otherwise than planned, leave it."""
    record = hardware_record(plan, node, cables)
    for name in sorted(PART_FAULTS.keys() & faults):
        PART_FAULTS[name].change(record, faults[name])
    for name in (name for name in RECORD_CHANGES if name in faults):
        RECORD_CHANGES[name](record, faults[name])
    return record


def _and_record(change: Change) -> Change:
    """Return a change of the site that the node's hardware record then follows."""

    def both(target: Target, options: Options) -> None:
        change(target, options)
        _write_faulty_hardware(target, options)

    return both


# -- links ------------------------------------------------------------------------------------------------------
def _set_link(target: Target, port: str, state: str) -> None:
    """Take the switch's end of a node's cable up or down, as if the cable were pulled."""
    device, name = switch_port(target.plan, target.node.name, port)
    run([find("ip", "iproute2"), "-n", target.state.namespace(device), "link", "set", name, state])


def switch_port(plan: SitePlan, node: str, port: str) -> tuple[str, str]:
    """Return the switch and its port at the other end of a node's port. SimError names the ports that there are."""
    found = planned_cables(plan).get(node, {})
    if port not in found:
        raise SimError(node, f"it has no port {port}", f"ports: {', '.join(sorted(found))}", "name one with --port")
    return found[port].device, found[port].port


def _unplug(target: Target, options: Options) -> None:
    _set_link(target, str(options.get("port", "rail0")), "down")


def _plug(target: Target, options: Options) -> None:
    _set_link(target, str(options.get("port", "rail0")), "up")


def _unplug_boot_nic(target: Target, _: Options) -> None:
    _set_link(target, target.node.boot_nic, "down")


def _plug_boot_nic(target: Target, _: Options) -> None:
    _set_link(target, target.node.boot_nic, "up")


def _crossed(target: Target, options: Options) -> tuple[str, Wiring, Plug, Plug]:
    """Return the site's prefix and wires, and the near ends of both cables: `port` of this node, and `other`."""
    wires = _wires(target.plan, target.state)
    return target.state.namespace_prefix, wires, *_plugs(wires, target.node.name, options)


def _wires(plan: SitePlan, state: State) -> Wiring:
    return hall_wiring(plan) if state.mark == HALL_MARK else wiring(plan)


def _plugs(wires: Wiring, node: str, options: Options) -> tuple[Plug, Plug]:
    ours = (node, str(options.get("port", "rail0")))
    device, _, port = str(options.get("other", "")).partition(":")
    return ours, (device, port) if port else neighbour(wires, ours)


def _cross_cables(target: Target, options: Options) -> None:
    cross(*_crossed(target, options))
    _write_both(target, options)


def _uncross_cables(target: Target, options: Options) -> None:
    uncross(*_crossed(target, options))
    _write_both(target, options)


def _write_both(target: Target, options: Options) -> None:
    """Write what both ends of a crossing hear from now on."""
    _, _, _, (other, _port) = _crossed(target, options)
    _write_faulty_hardware(target, options)
    _write_faulty_hardware(find_target(target.plan, target.state, other), options)


# -- drift by hand ----------------------------------------------------------------------------------------------
def _drift_mtu(target: Target, options: Options) -> None:
    command = f"ip link set {options.get('port', 'rail0')} mtu {options.get('mtu_bytes', 1500)}"
    ssh(target.state, target.node, command)


def _repair_mtu(target: Target, options: Options) -> None:
    command = f"ip link set {options.get('port', 'rail0')} mtu {planned_mtu(target.node, options)}"
    ssh(target.state, target.node, command)


def _drift_boot_order(target: Target, _: Options) -> None:
    """Set the boot override to the device that the plan does not want first, at the BMC itself."""
    _write_boot(target, "Hdd" if planned_device(target.node) == "Pxe" else "Pxe")


def _repair_boot_order(target: Target, _: Options) -> None:
    _write_boot(target, planned_device(target.node))


def _write_boot(target: Target, device: str) -> None:
    path = target.state.bmcs / f"{target.node.name}.json"
    write_json(path, {**read_json(path), "boot_device": device, "boot_enabled": "Continuous"})


# -- the BMC's event log ----------------------------------------------------------------------------------------
def _log_event(target: Target, options: Options) -> None:
    sensor, count = str(options.get("sensor", "memory")), int(options.get("count", 1))
    log_of(target.state, target.node.name).add(sensor, count=count)


def _log_end(target: Target, options: Options) -> None:
    """Log that it is over: what was logged stays."""
    log_of(target.state, target.node.name).add(str(options.get("sensor", "memory")), begins=False)


FAULTS: Mapping[str, Fault] = {
    "bmc-hang": Fault("the BMC takes requests and never answers"),
    "bmc-slow": Fault("the BMC answers 3 to 8 s late (--set at_least_s=, at_most_s=; repeatable by --seed)"),
    "bmc-wrong-password": Fault("the BMC refuses the site's password"),
    EVENT: Fault("the BMC logs an event, and its end when taken back (--set sensor=, count=)", _log_event, _log_end),
    CLOCK: Fault("the clock of the BMC is wrong (--set ahead_s=, 3600)"),
    "bmc-no-power": Fault("the BMC accepts a power-on, and nothing happens"),
    POWER_LOST: Fault(
        "machine and BMC have no power; then the machine does what its power policy says", lose_power, restore_power
    ),
    "no-boot": Fault("the firmware finds nothing to boot from, at every power-on"),
    "no-dhcp": Fault("nobody answers the boot NIC's DHCP: its cable is cut", _unplug_boot_nic, _plug_boot_nic),
    "rogue-dhcp": Fault(
        "the node answers DHCP on the network that nodes boot from, with other addresses and another boot file",
        answer_dhcp,
        end_answers,
    ),
    "dhcp-exhausted": Fault(
        "the node asks for addresses under a new MAC address each second, until a server has none left",
        ask_forever,
        end_asking,
    ),
    "another-machine": Fault("the BMC is plugged into another machine (--set of=NODE)", need_other),
    "copied-disk": Fault(
        "the disk of a light host is a copy of another's, from its next power-on (--set of=NODE)",
        copy_disk,
        restore_disk,
    ),
    "boot-loop": Fault(
        "the machine starts over and over, and its BMC says on (--set after_s=; from the next power-on)"
    ),
    "clock-skew": Fault("the clock of a guest is wrong at its next power-on (--set ahead_s=, 3600)"),
    "slow-disk": Fault("the disks of a guest take 64 KiB a second from its next power-on (--set bytes_s=)"),
    "wrong-cable": Fault(
        "the switch's plugs of two cables are exchanged (--port, --set other=NODE:PORT)", _cross_cables, _uncross_cables
    ),
    "no-link": Fault("the cable of a rail port is cut (--port)", _unplug, _plug),
    "gpu-missing": Fault(
        "one GPU fell off the bus (--set index=; the last one by default)",
        _write_faulty_hardware,
        _write_faulty_hardware,
    ),
    "gpu-replaced": Fault(
        "another GPU is in a slot (--set index=, serial=)", _write_faulty_hardware, _write_faulty_hardware
    ),
    NIC: Fault(
        "another adapter is in a light host (--port, --set mac=)", _and_record(plug_nic), _and_record(unplug_nic)
    ),
    MACHINE: Fault(
        "another machine stands in a light host's place, off and with a fresh disk (--set tag=)",
        _and_record(put_machine),
        _and_record(take_machine),
    ),
    "dimm-missing": Fault(
        "a memory module is gone (--set slot=; the last one by default)", _write_faulty_hardware, _write_faulty_hardware
    ),
    "gpu-ecc": Fault(
        "a GPU has uncorrectable ECC errors (--set index=, errors=)", _write_faulty_hardware, _write_faulty_hardware
    ),
    "gpu-xid": Fault(
        "the kernel's log has an Xid of a GPU, which falls off the bus with 79 (--set index=, code=79, count=)",
        _write_faulty_hardware,
        _write_faulty_hardware,
    ),
    "link-flap": Fault(
        "the kernel's log tells of a port that goes down and up (--port, --set count=6)",
        _write_faulty_hardware,
        _write_faulty_hardware,
    ),
    "gpu-fabric": Fault("the GPUs' fabric state stays In Progress", _write_faulty_hardware, _write_faulty_hardware),
    "gpu-driver-old": Fault(
        "an older GPU driver is installed (--set version=)", _write_faulty_hardware, _write_faulty_hardware
    ),
    "gpu-driver-dead": Fault("the GPU driver does not answer", _write_faulty_hardware, _write_faulty_hardware),
    **{
        name: Fault(fault.summary, _write_faulty_hardware, _write_faulty_hardware)
        for name, fault in PART_FAULTS.items()
    },
    "mtu-drift": Fault("somebody set the MTU of a port by hand (--port, --set mtu_bytes=)", _drift_mtu, _repair_mtu),
    "boot-order-drift": Fault("somebody changed the boot device at the BMC", _drift_boot_order, _repair_boot_order),
}
"""Every fault by its name."""


OF_GUESTS = frozenset({"no-boot", "no-dhcp", "clock-skew", "slow-disk"})
"""Faults of what only a guest has: other machines share this one's clock and disks, and do not boot."""


def find_fault(name: str) -> Fault:
    """Return a fault by name; SimError lists the names that there are."""
    if name not in FAULTS:
        raise SimError("fault", f"there is no fault {name}", f"faults: {', '.join(FAULTS)}", "choose one of them")
    return FAULTS[name]


def find_target(plan: SitePlan, state: State, host: str) -> Target:
    """Return the node that a fault shall hit; SimError lists the nodes, or says that the site is not up."""
    node = next((node for node in plan.nodes if node.name == host), None)
    if node is None:
        names = ", ".join(node.name for node in plan.nodes)
        raise SimError(plan.name, f"there is no node {host}", f"nodes: {names}", "choose one of them")
    records = read_json(state.folder / "machines.json").get("machines", [])
    machine = next((Machine.from_dict(record) for record in records if record["name"] == host), None)
    if machine is None:
        raise SimError(plan.name, "the simulated site is not up", f"no {state.folder}", f"coldaisle sim up {plan.name}")
    return Target(plan, state, node, machine)


def inject(target: Target, name: str, options: Options) -> None:
    """Put a fault in force. Raises SimError when it does not exist or does not fit the node."""
    fault = find_fault(name)
    if name in OF_GUESTS and target.machine.kind != "guest":
        guests = ", ".join(node.name for node in target.plan.nodes if is_guest(node)) or "none"
        what = f"{name} needs a whole machine, which boots over the network and has a clock and disks of its own"
        raise SimError(target.node.name, what, f"it is a {target.machine.kind}; guests: {guests}", "choose a guest")
    record_fault(target.state, target.node.name, name, stamped(name, options))
    if fault.apply is not None:
        _or_forget(target, name, fault.apply, options)


def _or_forget(target: Target, name: str, apply: Callable[[Target, Options], None], options: Options) -> None:
    """Apply a fault; when that fails it is not in force."""
    try:
        apply(target, options)
    except SimError:
        forget_fault(target.state, target.node.name, name)
        raise


def clear(target: Target, name: str) -> bool:
    """Take a fault back, and return whether it was in force."""
    fault = find_fault(name)
    options = active_faults(target.state, target.node.name).get(name)
    if options is None:
        return False
    forget_fault(target.state, target.node.name, name)
    if fault.clear is not None:
        fault.clear(target, options)
    return True


def change(target: Target, name: str, options: Options, *, back: bool) -> str:
    """Put a fault in force, or take it `back`, and return the line that says which."""
    host = target.node.name
    if not back:
        inject(target, name, options)
        return f"{host}: {name} is in force ({find_fault(name).summary})"
    return f"{host}: {name} {'is taken back' if clear(target, name) else 'was not in force'}"
