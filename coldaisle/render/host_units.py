"""
The commands that set what a host forgets at a reboot, one unit of systemd a role.

The unit runs at every boot, and once more when its fact does not hold: there is one way to set a thing, not two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldaisle.plan.host_facts import rails
from coldaisle.render.files import HostFile, render, unit_file

if TYPE_CHECKING:
    from coldaisle.plan.model import NicPlan, NodePlan, OsPlan, PciPlan, RdmaPlan

HOST_UNIT = "coldaisle-host.service"
PORTS_UNIT = "coldaisle-ports.service"

SMALLEST_READ_BYTES = 128
"""Maximum read request size 0 of PCI Express; each step doubles it."""

PRIORITIES = 8
"""Priorities of Ethernet (IEEE 802.1Q)."""

ESCAPED_HYPHEN = "\\x2d"
"""A hyphen of a name in the name of its unit, where a plain one stands for a slash (systemd.unit)."""

GOVERNOR = "for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do echo {} > $file; done"
NO_REDIRECT = (
    "for device in /sys/bus/pci/devices/*; do case $(cat $device/class) in 0x0604*) "
    "setpci -s ${device##*/} ECAP_ACS+6.w=0000:000c || true;; esac; done"
)
"""Clears the redirect bits of every bridge; one without the capability is told by setpci, and has none to clear."""


def host_unit(node: NodePlan, os: OsPlan) -> list[HostFile]:
    """Return the unit of clock rate and PCI Express; none where there is nothing to set."""
    lines = [_shell(GOVERNOR.format(os.cpu_governor))] if os.cpu_governor else []
    lines += [_shell(NO_REDIRECT)] if os.pci.acs_redirect == "off" else []
    _value, mask = _device_control(os.pci)
    ports = rails(node) if mask else []
    lines += [_shell(_set_device_control(os.pci, nic)) for nic in ports]
    return _unit(HOST_UNIT, "Set clock rate and PCI Express", lines, ports)


def ports_unit(node: NodePlan, rdma: RdmaPlan) -> list[HostFile]:
    """Return the unit of PFC, trust and ECN of RoCE ports; none where nobody sets them."""
    if rdma.priority is None:
        return []
    ports = rails(node)
    lines = [line for nic in ports for line in _qos(nic.name, rdma.priority, rdma.dscp)]
    return _unit(PORTS_UNIT, "Set priorities of RoCE ports", lines, ports)


def _qos(nic: str, priority: int, dscp: int | None) -> list[str]:
    flags = ",".join(str(int(number == priority)) for number in range(PRIORITIES))
    ends = " ".join(f"/sys/class/net/{nic}/ecn/{end}/enable/{priority}" for end in ("roce_np", "roce_rp"))
    return [
        f"mlnx_qos -i {nic} --trust dscp",
        f"mlnx_qos -i {nic} --dscp2prio set,{dscp},{priority}",
        f"mlnx_qos -i {nic} --pfc {flags}",
        _shell(f"for file in {ends}; do echo 1 > $file; done"),
    ]


def _device_control(pci: PciPlan) -> tuple[int, int]:
    """Return value and mask of the bits that are set of PCI Express's device control register; the mask 0 sets none."""
    value = mask = 0
    if pci.max_read_request_bytes is not None:
        step = (pci.max_read_request_bytes // SMALLEST_READ_BYTES).bit_length() - 1
        value, mask = value | step << 12, mask | 0x7000
    if pci.relaxed_ordering is not None:
        value, mask = value | int(pci.relaxed_ordering) << 4, mask | 0x0010
    return value, mask


def _set_device_control(pci: PciPlan, nic: NicPlan) -> str:
    value, mask = _device_control(pci)
    device = f"$(basename $(readlink -f /sys/class/net/{nic.name}/device))"
    return f"setpci -s {device} CAP_EXP+8.w={value:04x}:{mask:04x}"


def _shell(command: str) -> str:
    """Return a command for a shell that stops at a failure; systemd takes two dollar signs for one."""
    return f"/bin/sh -ec '{command.replace('$', '$$')}'"


def _unit(name: str, description: str, lines: list[str], ports: list[NicPlan]) -> list[HostFile]:
    if not lines:
        return []
    names = [nic.name.replace("-", ESCAPED_HYPHEN) for nic in ports]
    devices = [f"sys-subsystem-net-devices-{port}.device" for port in names]
    content = render("os/settings.service.j2", description=description, lines=lines, devices=devices)
    return [unit_file(name, content)]
