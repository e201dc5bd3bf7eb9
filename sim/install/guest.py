"""The machine of a rehearsal: QEMU with the node's port and one empty disk that has the planned serial."""

from __future__ import annotations

import shutil
from pathlib import Path

from coldaisle.plan.model import NodePlan
from sim.errors import SimError
from sim.install.place import Lab
from sim.machines import ACCELERATOR, CPU
from sim.network import INTERFACE_CHARS
from sim.shell import find

MEMORY_MIB = 1024
"""The installer needs 780 MB for itself in memory: Debian 12's installation guide, low memory."""

DISK_BYTES = 6 << 30
RETRY_BOOT_MS = 5000
CODE, VARIABLES = Path("/usr/share/OVMF/OVMF_CODE_4M.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
PROCESS = "machine"


def serial_of(node: NodePlan) -> str:
    """
    Return the serial that the machine's disk gets: the one that the plan chooses.

    Raises:
        SimError: the plan chooses several disks, or one by another mark, which this machine does not have.
    """
    if len(node.disks) == 1 and node.disks[0].mark == "serial":
        return node.disks[0].value
    have = ", ".join(f"{disk.count} by {disk.mark}" for disk in node.disks) or "no disk"
    fix = "rehearse a node whose image goes on one disk, by label or serial"
    raise SimError(node.name, "a rehearsed machine has one disk with a serial", have, fix)


def tap_of(node: NodePlan) -> str:
    """Return the name of the tap that carries the machine's port; the provisioner's bridge may have the port's name."""
    return f"tap-{node.boot_nic}"[:INTERFACE_CHARS]


def start(lab: Lab, node: NodePlan) -> None:
    """Make an empty disk, and turn the machine on; its firmware tries the disk first, and then the network."""
    with lab.disk.open("wb") as disk:
        disk.truncate(DISK_BYTES)
    command = [
        find("nice", "coreutils"),
        "-n",
        "19",
        find("qemu-system-x86_64", "qemu-system-x86"),
        *options(lab, node),
    ]
    lab.groups.start(PROCESS, command, lab.logs / "qemu.log", namespace=lab.inside)


def options(lab: Lab, node: NodePlan) -> list[str]:
    """Return the options of the machine: its port, its disk, and a console that can be typed at."""
    nic = next(nic for nic in node.nics if nic.name == node.boot_nic)
    uefi = node.firmware == "uefi"
    console = f"socket,id=tty,path={lab.folder / 'tty'},server=on,wait=off,logfile={lab.logs / 'console.log'}"
    words = ["-name", node.name, "-machine", "q35,graphics=off", "-accel", ACCELERATOR, "-cpu", CPU, "-smp", "1"]
    words += ["-m", str(MEMORY_MIB), "-nodefaults", "-display", "none", "-chardev", console, "-serial", "chardev:tty"]
    words += _firmware(lab) if uefi else ["-boot", f"order=cn,reboot-timeout={RETRY_BOOT_MS}"]
    words += ["-netdev", f"tap,id=net,ifname={tap_of(node)},script=no,downscript=no"]
    words += ["-device", f"virtio-net-pci,netdev=net,mac={nic.mac}{',bootindex=1' if uefi else ''}"]
    # Nothing of the disk must outlive this machine, so that no write waits for it.
    words += ["-drive", f"if=none,id=disk,format=raw,file={lab.disk},cache=unsafe,discard=unmap"]
    return [*words, "-device", f"virtio-blk-pci,drive=disk,serial={serial_of(node)}{',bootindex=0' if uefi else ''}"]


def _firmware(lab: Lab) -> list[str]:
    """Return the options of UEFI firmware with variables of its own, in which an installer writes its boot entry."""
    variables = lab.folder / "variables.fd"
    shutil.copyfile(VARIABLES, variables)
    return [
        *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={CODE}"),
        *("-drive", f"if=pflash,format=raw,unit=1,file={variables}"),
    ]
