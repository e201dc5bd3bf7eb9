"""Hosts that are there before the first playbook runs: the provisioner, and nodes with an installed image."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from coldaisle.plan.model import SitePlan
from sim.machines import Machine, hardware_record
from sim.network import with_prefix
from sim.power import write_hardware
from sim.state import State


def install_machines(plan: SitePlan, state: State, machines: Sequence[Machine]) -> None:
    """Give each machine its hardware record, and each container what an installed image has: its name and a key."""
    nodes = {node.name: node for node in plan.nodes}
    for machine in machines:
        machine.path.mkdir(exist_ok=True)
        if not (machine.path / "hardware/hardware.json").exists():
            node = nodes.get(machine.name)
            write_hardware(machine, hardware_record(plan, node) if node else {"gpus": [], "driver_version": ""})
        if machine.kind == "container" and not (machine.path / "upper").exists():
            install_container(machine, state.ssh_key.with_suffix(".pub").read_text())
    if plan.provisioning is not None:
        _fix_address(next(machine for machine in machines if machine.name == plan.provisioning.host), plan)


def install_container(machine: Machine, public_key: str) -> None:
    """Write the files of a container's own layer."""
    upper = machine.path / "upper"
    (upper / "root/.ssh").mkdir(parents=True, mode=0o700)
    (upper / "root/.ssh/authorized_keys").write_text(public_key)
    (upper / "etc").mkdir()
    (upper / "etc/hostname").write_text(f"{machine.name}\n")


def _fix_address(machine: Machine, plan: SitePlan) -> None:
    """Give the provisioner its address in its own settings: nobody answers its DHCP."""
    if plan.provisioning is None:
        return
    folder = machine.path / "upper/etc/systemd/network"
    folder.mkdir(parents=True, exist_ok=True)
    address = ipaddress.ip_interface(with_prefix(plan.provisioning.host_address))
    text = f"[Match]\nName={machine.boot_nic}\n\n[Network]\nAddress={address}\nIPv6AcceptRA=no\n"
    (folder / "10-static.network").write_text(text)
