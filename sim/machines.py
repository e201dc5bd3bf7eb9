"""
The machines of a site as plain records, and the command line that each one runs as.

A guest is a whole machine in QEMU that boots over the network; a container is a light host with an init of its own, and
`light` is one without (sim.light). A `board` is a BMC with nothing behind it: its power is remembered, no more.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from coldaisle.plan.model import NodePlan, SitePlan
from sim.image import kubelet
from sim.measures import Cables, gpu_parts, node_parts, planned_cables
from sim.network import guest_mtu_bytes, is_guest
from sim.parts import dimms, gpu_slot, serial_of
from sim.state import State

GUEST_MEMORY_MIB = 768
"""Room for the root file system (105 MB, in memory), the kernel and what the roles install."""

KUBELET_MEMORY_MIB = 1536
"""The same, and the real kubelet, containerd and pods."""

ACCELERATOR = "tcg,tb-size=128"
"""Emulation, which runs on every machine, with 128 MiB of translated code; QEMU's own choice takes a gigabyte."""

CPU = "max,erms=off,la57=off"
"""
All that emulation can do but two: copies by `rep movsb` go byte by byte when emulated, and a fifth level of page
tables costs each translation. Without them a boot takes a fifth less CPU time (measured).
"""

NAMESPACE_UUID = uuid.UUID("c01da151-e000-4000-8000-000000000000")
"""Root of all made-up identifiers, so that the same site has the same ones each time."""

VFS_PER_PORT = 8
"""Virtual functions that a simulated port can have."""

DRIVER_VERSION = "580.95.05"
GPU_MEMORY_MIB = 81559
GPU_DEVICE_ID = "0x2330"
"""Device id of the H100 SXM (pci.ids: 10de:2330)."""

PRODUCT_NAMES = {"h100-sxm5": "NVIDIA H100 80GB HBM3", "h200-sxm5": "NVIDIA H200"}
"""How the driver spells GPUs, by their name in the catalog."""

RETRY_BOOT_MS = 5000
"""A machine that shall boot over the network tries again, as servers do, when nobody answered."""

Kind = Literal["guest", "container", "light", "board"]
KINDS: tuple[Kind, ...] = get_args(Kind)

GUEST_DISKS = ("state", "hardware")
"""The names of a guest's disks in its emulator."""

OVMF = Path("/usr/share/OVMF/OVMF_CODE.fd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic:
    """
    A port of a guest: the tap that carries it, and the largest MTU that it offers (None: the default).

    `speed_mbps` is what the port says of itself, full duplex; without it the guest knows none, and LACP leaves it out.
    """

    name: str
    mac: str | None
    mtu_bytes: int | None
    speed_mbps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine, as its BMC starts it. `layers` are the folders of a container's root, the upper one first."""

    name: str
    kind: Kind
    folder: str
    namespace: str
    firmware: Literal["bios", "uefi"]
    nics: tuple[Nic, ...]
    boot_nic: str
    layers: tuple[str, ...]
    bmc_address: str | None
    memory_mib: int = GUEST_MEMORY_MIB
    """Of a guest; a container shares the memory of this machine."""

    @property
    def path(self) -> Path:
        """The machine's folder in the state of the site."""
        return Path(self.folder)

    @property
    def uuid(self) -> str:
        """The system's UUID, as its firmware and its BMC report it."""
        return str(uuid.uuid5(NAMESPACE_UUID, self.name))

    def as_dict(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Machine:
        """Return the record that `as_dict` gave."""
        nics = tuple(Nic(**nic) for nic in values["nics"])
        return cls(**{**values, "nics": nics, "layers": tuple(values["layers"])})


def machines(plan: SitePlan, state: State, layers: Sequence[Path]) -> tuple[Machine, ...]:
    """Return the machines of a plan: the service host first, then the nodes in the plan's order."""
    nodes = [
        node_machine(node, state, layers, "guest" if is_guest(node) else "container", _memory_mib(plan, node))
        for node in plan.nodes
    ]
    return (*([_service_host(plan, state, layers)] if plan.provisioning else []), *nodes)


def runs_kubelet(plan: SitePlan, node: NodePlan) -> bool:
    """Tell whether a node boots the image with the real kubelet, so that nobody plays its pods."""
    return next(pool.image for pool in plan.pools if pool.name == node.pool) == kubelet.IMAGE


def _memory_mib(plan: SitePlan, node: NodePlan) -> int:
    return KUBELET_MEMORY_MIB if runs_kubelet(plan, node) else GUEST_MEMORY_MIB


def node_machine(
    node: NodePlan, state: State, layers: Sequence[Path], kind: Kind, memory_mib: int = GUEST_MEMORY_MIB
) -> Machine:
    """Return the machine of a node; `memory_mib` is a guest's."""
    return Machine(
        name=node.name,
        kind=kind,
        folder=str(state.machines / node.name),
        namespace=state.namespace(node.name),
        firmware=node.firmware,
        nics=tuple(Nic(name=nic.name, mac=nic.mac, mtu_bytes=guest_mtu_bytes(nic)) for nic in node.nics),
        boot_nic=node.boot_nic,
        layers=tuple(map(str, layers)),
        bmc_address=node.bmc.address.split("/")[0] if node.bmc else None,
        memory_mib=memory_mib,
    )


def _service_host(plan: SitePlan, state: State, layers: Sequence[Path]) -> Machine:
    """Return the host of the provisioning services: always on, without a BMC."""
    if plan.provisioning is None:
        raise ValueError("the site has no provisioning section")
    name = plan.provisioning.host
    return Machine(
        name=name,
        kind="container",
        folder=str(state.machines / name),
        namespace=state.namespace(name),
        firmware="bios",
        nics=(),
        boot_nic=plan.provisioning.interface,
        layers=tuple(map(str, layers)),
        bmc_address=None,
    )


def hardware_record(plan: SitePlan, node: NodePlan, cables: Cables | None = None) -> dict[str, Any]:
    """
    Return what the stand-ins of a node's host report: GPUs, driver, fabric, virtual functions, and the other parts.

    `cables` are all of them as they lie; left out, as they are planned.
    """
    pool = next((pool for pool in plan.pools if pool.name == node.pool), None)
    gpu = pool.gpu if pool else None
    name = PRODUCT_NAMES.get(gpu.model, gpu.model) if gpu else ""
    return {
        "gpus": [_gpu(node.name, index, name) | gpu_parts() for index in range(node.gpus)],
        "driver_version": DRIVER_VERSION if node.gpus else "",
        "fabric_state": "Completed",
        "kernel_log": [],
        "model": node.system,
        "serial": serial_of(node.name),
        "dimms": dimms(node.name),
        "sriov_totalvfs": {nic.name: VFS_PER_PORT for nic in node.nics if nic.rail is not None},
        **node_parts(node, planned_cables(plan) if cables is None else cables),
    }


def _gpu(host: str, index: int, name: str) -> dict[str, Any]:
    return {
        "index": index,
        "slot": gpu_slot(index),
        "serial": serial_of(host, gpu_slot(index)),
        "name": name,
        "uuid": f"GPU-{uuid.uuid5(NAMESPACE_UUID, f'{host}/gpu{index}')}",
        "pci": f"00000000:{0x40 + 8 * index:02X}:00.0",
        "device_id": GPU_DEVICE_ID,
        "memory_mib": GPU_MEMORY_MIB,
    }


def guest_command(machine: Machine, qemu: str, *, network_boot: bool, boot_once: bool = False) -> list[str]:
    """
    Return the QEMU command line of a guest.

    Args:
        machine: The guest.
        qemu: The path of qemu-system-x86_64.
        network_boot: Whether the firmware tries the boot NIC; otherwise it only finds a disk without a boot sector.
        boot_once: The network is tried at this power-on only, and the disk after a reset.
    """
    folder = machine.path
    command = [
        qemu,
        "-name",
        machine.name,
        "-uuid",
        machine.uuid,
        "-machine",
        "q35,graphics=off",
        "-accel",
        ACCELERATOR,
    ]
    command += ["-cpu", CPU, "-smp", "1", "-m", str(machine.memory_mib), "-nodefaults", "-display", "none"]
    command += ["-serial", f"file:{folder / 'serial.log'}", "-qmp", f"unix:{folder / 'qmp.sock'},server=on,wait=off"]
    command += ["-boot", _boot_order(network_boot=network_boot, once=boot_once)]
    command += _firmware(machine)
    for nic in machine.nics:
        command += _nic_options(machine, nic, network_boot=network_boot)
    command += _disk("state", folder / "state.img", "coldaisle-state", read_only=False)
    return command + _disk("hardware", folder / "hardware.img", "coldaisle-hw", read_only=True)


def _boot_order(*, network_boot: bool, once: bool) -> str:
    if not network_boot:
        return "order=c,strict=on"
    order = "order=c,once=n" if once else "order=n"
    return f"{order},strict=on,reboot-timeout={RETRY_BOOT_MS}"


def _firmware(machine: Machine) -> list[str]:
    """Return the options of UEFI firmware; q35 brings a BIOS of its own."""
    if machine.firmware == "bios":
        return []
    return ["-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={OVMF}"]


def _nic_options(machine: Machine, nic: Nic, *, network_boot: bool) -> list[str]:
    """Return the options of one port; only the boot NIC has a network boot program, and only if it shall boot."""
    boots = nic.name == machine.boot_nic and network_boot
    device = f"virtio-net-pci,netdev={nic.name}"
    device += f",mac={nic.mac}" if nic.mac else ""
    device += f",host_mtu={nic.mtu_bytes}" if nic.mtu_bytes else ""
    device += f",speed={nic.speed_mbps},duplex=full" if nic.speed_mbps else ""
    device += "" if boots else ",romfile="
    device += ",bootindex=0" if boots and machine.firmware == "uefi" else ""
    return ["-netdev", f"tap,id={nic.name},ifname={nic.name},script=no,downscript=no", "-device", device]


def _disk(name: str, path: Path, serial: str, *, read_only: bool) -> list[str]:
    drive = f"if=none,id={name},format=raw,file={path}{',readonly=on' if read_only else ''}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name},serial={serial}"]


def container_command(machine: Machine, nspawn: str) -> list[str]:
    """Return the systemd-nspawn command line of a light host: a real systemd in the namespace of its ports."""
    folder = machine.path
    return [
        nspawn,
        "--quiet",
        f"--directory={folder / 'root'}",
        f"--machine={machine.name}",
        f"--uuid={machine.uuid}",
        f"--network-namespace-path=/run/netns/{machine.namespace}",
        "--register=no",
        "--keep-unit",
        "--console=pipe",
        "--capability=CAP_NET_ADMIN",  # its ports are its own, as a real host's are
        "--boot",
        f"--bind-ro={folder / 'hardware'}:/run/coldaisle",
    ]
