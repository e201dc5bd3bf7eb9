"""
Faults of a repair: another adapter, or another machine, stands where the old one stood.

What is new follows from a tag, so that it is known beforehand which serials and addresses come: ours, and nobody's.
"""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sim.errors import SimError
from sim.light import install_light
from sim.machines import NAMESPACE_UUID
from sim.parts import serial_of
from sim.power import PowerSwitch
from sim.shell import find, run

if TYPE_CHECKING:
    from sim.faults import Target

Options = Mapping[str, Any]
Record = dict[str, Any]

MACHINE, NIC = "machine-replaced", "nic-replaced"


def new_mac(host: str, port: str, tag: str = "new") -> str:
    """Return the MAC address of a new machine's port: locally administered, in a range of its own."""
    digest = hashlib.sha256(f"{tag}/{host}/{port}".encode()).hexdigest()
    return "52:54:0a:" + ":".join(digest[at : at + 2] for at in (0, 2, 4))


def new_name(host: str, options: Options) -> str:
    """Return what a new machine's serials follow from, in place of the node's name."""
    return f"{host}/{options.get('tag', 'new')}"


def new_uuid(host: str, options: Options) -> str:
    """Return the UUID of a new machine."""
    return str(uuid.uuid5(NAMESPACE_UUID, new_name(host, options)))


def replace_nic(record: Record, options: Options) -> None:
    """Change what a node's BMC shows of one port."""
    port = str(options.get("port", "rail0"))
    record.setdefault("macs", {})[port] = _mac(record["host"], port, options)


def replace_machine(record: Record, options: Options) -> None:
    """Change every serial and MAC address that a node's BMC shows."""
    name, tag = new_name(record["host"], options), str(options.get("tag", "new"))
    record["serial"] = serial_of(name)
    for kind in ("gpus", "dimms"):
        for part in record[kind]:
            part["serial"] = serial_of(name, part["slot"])
    record.setdefault("macs", {}).update({port: new_mac(record["host"], port, tag) for port in record["neighbours"]})


def plug_nic(target: Target, options: Options) -> None:
    """Give a port its new address on the wire."""
    port = str(options.get("port", "rail0"))
    _set_mac(target, port, _mac(target.node.name, port, options))


def unplug_nic(target: Target, options: Options) -> None:
    """Put the old adapter back."""
    port = str(options.get("port", "rail0"))
    _set_mac(target, port, next(nic.mac for nic in target.node.nics if nic.name == port))


def put_machine(target: Target, options: Options) -> None:
    """Put another machine in a node's place: off, with other ports, and with a disk that nobody has seen."""
    tag = str(options.get("tag", "new"))
    _fresh_disk(target, new_uuid(target.node.name, options))
    for nic in target.node.nics:
        _set_mac(target, nic.name, new_mac(target.node.name, nic.name, tag))


def take_machine(target: Target, _options: Options) -> None:
    """Put the old machine back; its disk is a fresh one, too."""
    _fresh_disk(target, target.machine.uuid)
    for nic in target.node.nics:
        _set_mac(target, nic.name, nic.mac)


def _mac(host: str, port: str, options: Options) -> str:
    return str(options.get("mac", new_mac(host, port, str(options.get("tag", "new")))))


def _fresh_disk(target: Target, its_uuid: str) -> None:
    _of_a_hall(target)
    machine = target.machine
    PowerSwitch(target.state).turn_off(machine)
    for name in ("upper", "work"):
        shutil.rmtree(machine.path / name, ignore_errors=True)
    install_light(machine, target.state.ssh_key.with_suffix(".pub").read_text())
    (machine.path / "upper/etc/machine-id").write_text(f"{its_uuid.replace('-', '')}\n")


def _set_mac(target: Target, port: str, mac: str | None) -> None:
    _of_a_hall(target)
    if mac is not None:
        run([find("ip", "iproute2"), "-n", target.machine.namespace, "link", "set", "dev", port, "address", mac])


def _of_a_hall(target: Target) -> None:
    if target.machine.kind != "light":
        what = "only a light host's ports and disk can be exchanged"
        raise SimError(target.node.name, what, f"it is a {target.machine.kind}", "choose a light host of a hall")
