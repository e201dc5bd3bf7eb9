"""The machines that follow from a plan, and their command lines."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coldaisle.plan.model import SitePlan
from sim.cluster.layout import layout_of
from sim.errors import SimError
from sim.image import kubelet
from sim.machines import (
    GUEST_DISKS,
    GUEST_MEMORY_MIB,
    KUBELET_MEMORY_MIB,
    Machine,
    container_command,
    guest_command,
    hardware_record,
    machines,
)
from sim.power import HARDWARE_DISK_BYTES, faulty_parts, write_hardware
from sim.services import install_machines
from sim.state import State

LAYERS = (Path("/cache/layer"), Path("/cache/root"))


@pytest.fixture
def found(plan: SitePlan, state: State) -> dict[str, Machine]:
    """Return the machines of the site by name."""
    return {machine.name: machine for machine in machines(plan, state, LAYERS)}


def test_the_provisioner_is_a_machine_without_a_bmc(found: dict[str, Machine]) -> None:
    """The host of the boot services comes first and has no power button."""
    assert list(found) == ["prov01", "r01-n01", "r01-n02", "r02-n01", "r02-n02"]
    assert found["prov01"].bmc_address is None
    assert {found["r01-n01"].kind, found["r01-n02"].kind} == {"guest", "container"}


def test_a_machine_survives_the_way_through_json(found: dict[str, Machine]) -> None:
    """The BMCs' process reads the very machine that `sim up` wrote."""
    for machine in found.values():
        assert Machine.from_dict(json.loads(json.dumps(machine.as_dict()))) == machine


def with_kubelet(plan: SitePlan, *pools: str) -> SitePlan:
    """Return a plan in which some pools boot the image with the real kubelet."""
    chosen = [replace(pool, image=kubelet.IMAGE) if pool.name in pools else pool for pool in plan.pools]
    return replace(plan, pools=tuple(chosen))


def test_a_guest_with_the_real_kubelet_has_memory_for_it(plan: SitePlan, state: State) -> None:
    """Other guests stay as small as they are."""
    found = {machine.name: machine for machine in machines(with_kubelet(plan, "guests"), state, LAYERS)}
    command = guest_command(found["r01-n01"], "qemu", network_boot=True)
    assert command[command.index("-m") + 1] == str(KUBELET_MEMORY_MIB)
    assert machines(plan, state, LAYERS)[1].memory_mib == GUEST_MEMORY_MIB


def test_pods_are_played_everywhere_or_nowhere(plan: SitePlan, state: State) -> None:
    """A cluster of both kinds of nodes is refused, since two would hand out addresses of pods."""
    assert not layout_of(plan, state.folder).real_nodes
    assert layout_of(with_kubelet(plan, "guests", "light"), state.folder).real_nodes
    with pytest.raises(SimError, match="pods are played on all nodes or on none"):
        layout_of(with_kubelet(plan, "guests"), state.folder)


def test_only_the_boot_nic_has_a_boot_program(found: dict[str, Machine]) -> None:
    """The firmware tries the boot NIC only, when the BMC says that it shall boot over the network."""
    devices = [word for word in guest_command(found["r01-n01"], "qemu", network_boot=True) if "virtio-net" in word]
    assert [("romfile=" in device) for device in devices] == [False, True, True]
    assert "mac=52:54:00:01:01:01" in devices[0]
    assert "host_mtu=9216" in devices[1]


@pytest.mark.parametrize(
    ("network_boot", "once", "order"),
    [(False, False, "order=c,"), (True, False, "order=n,"), (True, True, "order=c,once=n,")],
)
def test_boot_order_follows_the_bmc(found: dict[str, Machine], network_boot: bool, once: bool, order: str) -> None:  # noqa: FBT001
    """Disk only, network always, or network once: as the boot override says."""
    command = guest_command(found["r01-n01"], "qemu", network_boot=network_boot, boot_once=once)
    assert command[command.index("-boot") + 1].startswith(order)
    roms = sum("virtio-net" in word and "romfile=" not in word for word in command)
    assert roms == int(network_boot)


def test_a_container_runs_in_the_namespace_of_its_ports(found: dict[str, Machine]) -> None:
    """A light host boots a real init where its cables end."""
    command = container_command(found["r01-n02"], "nspawn")
    assert "--network-namespace-path=/run/netns/ca-sim-r01-n02" in command
    assert "--boot" in command


def test_hardware_says_what_the_plan_says(plan: SitePlan) -> None:
    """A node has the planned number of GPUs, each with its own UUID, the same at each start."""
    node = plan.nodes[0]
    record = hardware_record(plan, node)
    assert len({gpu["uuid"] for gpu in record["gpus"]}) == node.gpus == 8
    assert record == hardware_record(plan, node)
    assert record["sriov_totalvfs"] == {"rail0": 8, "rail1": 8}


def test_hardware_is_written_in_place(plan: SitePlan, found: dict[str, Machine]) -> None:
    """A running guest keeps its disk open, so a change must not make a new file."""
    machine = found["r01-n01"]
    machine.path.mkdir()
    write_hardware(machine, {"gpus": [1, 2]})
    inode = (machine.path / "hardware.img").stat().st_ino
    write_hardware(machine, hardware_record(plan, plan.nodes[0]))
    disk = machine.path / "hardware.img"
    assert (disk.stat().st_ino, disk.stat().st_size) == (inode, HARDWARE_DISK_BYTES)
    assert json.loads(disk.read_bytes().rstrip(b"\0")) == hardware_record(plan, plan.nodes[0])


def test_an_installed_host_has_its_name_and_the_key(plan: SitePlan, state: State, found: dict[str, Machine]) -> None:
    """Containers begin as an installed image does; a second start leaves what they wrote since."""
    state.ssh_key.with_suffix(".pub").write_text("ssh-ed25519 AAAA site\n")
    install_machines(plan, state, list(found.values()))
    upper = state.machines / "r01-n02/upper"
    assert (upper / "etc/hostname").read_text() == "r01-n02\n"
    assert (upper / "root/.ssh/authorized_keys").read_text() == "ssh-ed25519 AAAA site\n"
    assert (
        "Address=198.18.1.2/24" in (state.machines / "prov01/upper/etc/systemd/network/10-static.network").read_text()
    )
    (upper / "etc/hostname").write_text("changed\n")
    install_machines(plan, state, list(found.values()))
    assert (upper / "etc/hostname").read_text() == "changed\n"


def test_two_starts_at_once_are_told_apart(state: State) -> None:
    """The second start says which process has the lock, and what to do."""
    with state.locked(), pytest.raises(SimError, match="wait until it ends"), state.locked():
        pytest.fail("the lock was given twice")


def test_a_guest_has_its_faulty_clock_and_slow_disks_from_its_next_start() -> None:
    """The emulator is told a time that is ahead, and a rate for each disk; without faults it is told nothing."""
    now = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
    assert faulty_parts({}, now) == []
    parts = faulty_parts({"clock-skew": {"ahead_s": 90}, "slow-disk": {}}, now)
    assert parts[:2] == ["-rtc", "base=2026-11-28T12:01:30"]
    assert parts[2::2] == ["-set"] * len(GUEST_DISKS)
    assert parts[3::2] == [f"drive.{disk}.throttling.bps-total=65536" for disk in GUEST_DISKS]
