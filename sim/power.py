"""Turning machines on and off: what a BMC does to the board that it sits on."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sim.fault_records import active_faults
from sim.light import BLOCK, FLOOR, light_command
from sim.light.disks import write_disk
from sim.machines import GUEST_DISKS, Machine, container_command, guest_command
from sim.mounts import is_mounted
from sim.processes import ProcessGroups
from sim.shell import find, run
from sim.state import State

STATE_DISK_BYTES = 32 * 1024 * 1024
HARDWARE_DISK_BYTES = 64 * 1024
"""Size of the disk that carries a guest's hardware record: read whole, so small; room for hundreds of GPUs."""

BOOT_LOOP = 'after=$1; shift; while :; do timeout --signal=KILL "$after" "$@"; sleep 1; done'
LOOP_S = {"guest": 12, "container": 2, "light": 2}
"""Seconds after which a machine of each kind that loops starts again: a guest takes longer to boot than that."""

POWERED = "powered"
"""The file that a board which is on has in its folder."""

POWEROFF_SIGNAL = signal.SIGRTMIN + 4
"""Asks an init to power off (systemd(1), SIGRTMIN+4)."""


class PowerSwitch:
    """Power of the machines of one site."""

    def __init__(self, state: State) -> None:
        """Use the processes and folders of a site."""
        self._state = state
        self._groups = ProcessGroups(state.site)

    def is_on(self, machine: Machine) -> bool:
        """Tell whether the machine runs: as seen, not as asked for."""
        if machine.kind == "board":
            return (machine.path / POWERED).exists()
        return bool(self._groups.pids(machine.name))

    def turn_on(self, machine: Machine, *, network_boot: bool = True, boot_once: bool = False) -> None:
        """Turn a machine on, unless it is; `network_boot` says what its firmware tries first."""
        if self.is_on(machine):
            return
        if "no-boot" in active_faults(self._state, machine.name):
            network_boot = False
        if machine.kind == "guest":
            self._start_guest(machine, network_boot=network_boot, boot_once=boot_once)
        elif machine.kind == "container":
            self._start_container(machine)
        elif machine.kind == "light":
            self._start(machine, light_command(machine), namespace=machine.namespace)
        else:
            (machine.path / POWERED).touch()

    def turn_off(self, machine: Machine) -> None:
        """Cut the power."""
        (machine.path / POWERED).unlink(missing_ok=True)
        self._groups.stop(machine.name, grace_s=0)
        (machine.path / "qmp.sock").unlink(missing_ok=True)
        unmount_root(machine)

    def shut_down(self, machine: Machine) -> None:
        """Press the power button: the operating system ends by itself, or does not listen."""
        if machine.kind == "guest":
            send_qmp(machine, "system_powerdown")
            return
        if machine.kind in ("light", "board"):  # neither has an init that could take its time
            self.turn_off(machine)
            return
        for pid in self._groups.pids(machine.name):
            if _is_init(pid):
                os.kill(pid, POWEROFF_SIGNAL)

    def _start_guest(self, machine: Machine, *, network_boot: bool, boot_once: bool) -> None:
        folder = machine.path
        if not (folder / "state.img").exists():
            _make_state_disk(folder / "state.img")
        qemu = find("qemu-system-x86_64", "qemu-system-x86")
        command = guest_command(machine, qemu, network_boot=network_boot, boot_once=boot_once)
        command += faulty_parts(active_faults(self._state, machine.name), datetime.now(UTC))
        self._start(machine, command, namespace=machine.namespace)

    def _start_container(self, machine: Machine) -> None:
        mount_root(machine)
        command = container_command(machine, find("systemd-nspawn", "systemd-container"))
        # A real host sets its own network's sysctls; the rest of the kernel is the machine's.
        variables = {"SYSTEMD_NSPAWN_LOCK": "0", "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"}
        self._start(machine, command, extra_environment=variables)

    def _start(
        self,
        machine: Machine,
        command: list[str],
        *,
        namespace: str | None = None,
        extra_environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a machine's process; one that loops ends after some seconds and starts again, while it is on."""
        loop = active_faults(self._state, machine.name).get("boot-loop")
        if loop is not None:
            command = ["sh", "-c", BOOT_LOOP, "boot-loop", str(loop.get("after_s", LOOP_S[machine.kind])), *command]
        log = machine.path / "console.log"
        self._groups.start(machine.name, command, log, namespace=namespace, extra_environment=extra_environment)


def faulty_parts(faults: Mapping[str, Any], now: datetime) -> list[str]:
    """Return the options of QEMU for a guest with a wrong clock or slow disks; `now` is the machine's own time."""
    parts = []
    if "clock-skew" in faults:
        clock = now + timedelta(seconds=float(faults["clock-skew"].get("ahead_s", 3600)))
        parts += ["-rtc", f"base={clock:%Y-%m-%dT%H:%M:%S}"]
    if "slow-disk" in faults:
        rate = int(faults["slow-disk"].get("bytes_s", 65536))
        parts += [word for disk in GUEST_DISKS for word in ("-set", f"drive.{disk}.throttling.bps-total={rate}")]
    return parts


def _make_state_disk(path: Path) -> None:
    """Make the small disk on which a guest keeps its SSH host keys and its machine id."""
    with path.open("wb") as disk:
        disk.truncate(STATE_DISK_BYTES)
    run([find("mkfs.ext4", "e2fsprogs"), "-q", "-L", "coldaisle", path])


def _is_init(pid: int) -> bool:
    """Tell whether a process is the first one of its container."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in lines)
    return False


def send_qmp(machine: Machine, command: str) -> None:
    """Send one command to a guest's QEMU and wait for its answer; a machine that is off ignores it."""
    with socket.socket(socket.AF_UNIX) as link, suppress(OSError):
        link.settimeout(5)
        link.connect(str(machine.path / "qmp.sock"))
        stream = link.makefile("rw")
        stream.readline()
        for name in ("qmp_capabilities", command):
            stream.write(json.dumps({"execute": name}))
            stream.flush()
            while "return" not in stream.readline():
                pass  # events come between the answers


def write_hardware(machine: Machine, record: dict[str, Any]) -> None:
    """Write a machine's hardware record where its host reads it; a running host sees the change at once."""
    text = json.dumps(record).encode()
    (machine.path / "hardware").mkdir(parents=True, exist_ok=True)
    # Written in place: a container sees the folder, and a guest's QEMU keeps the disk open.
    (machine.path / "hardware/hardware.json").write_bytes(text)
    if machine.kind == "light" and "address" in record:
        write_disk(machine.path / BLOCK, record)
        # What a program that talks to other hosts asks of them: a light host sees this folder.
        (machine.path.parent / FLOOR).mkdir(exist_ok=True)
        (machine.path.parent / FLOOR / f"{record['address']}.json").write_bytes(text)
    disk = machine.path / "hardware.img"
    with disk.open("r+b" if disk.exists() else "wb") as file:
        file.write(text.ljust(HARDWARE_DISK_BYTES, b"\0"))


def mount_root(machine: Machine) -> None:
    """Mount a container's root: its own layer over the image's, so that its changes outlive a power cycle."""
    root, upper, work = (machine.path / name for name in ("root", "upper", "work"))
    for folder in (root, upper, work):
        folder.mkdir(parents=True, exist_ok=True)
    unmount_root(machine)  # it may be of an older image
    if not is_mounted(root):
        options = f"lowerdir={':'.join(machine.layers)},upperdir={upper},workdir={work}"
        run(["mount", "-t", "overlay", "-o", options, "none", root])


def unmount_root(machine: Machine) -> None:
    """Take the root of a container that is off apart; its own layer stays."""
    if is_mounted(machine.path / "root"):
        run(["umount", machine.path / "root"], check=False)
