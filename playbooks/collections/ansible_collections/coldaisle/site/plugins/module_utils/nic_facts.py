"""
Facts of RDMA ports: PFC, trust and marking, ECN, GIDs, the network namespaces of devices, and VFs in firmware.

Forms of output: mlnx_qos as NVIDIA's "HowTo" of it prints them, mlxconfig as the MFT manual does, ECN's files as the
driver's manual lists them (/sys/class/net/PORT/ecn), GIDs as the kernel's sysfs-class-infiniband.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    per_reading,
    read_text,
    run,
)
from ansible_collections.coldaisle.site.plugins.module_utils.pci_facts import pci_address
from ansible_collections.coldaisle.site.plugins.module_utils.rdma_facts import rdma_links
from ansible_collections.coldaisle.site.plugins.module_utils.services import restart

PORTS_SERVICE = "coldaisle-ports.service"
"""Written by the role: it sets what ports forget at a reboot, at every boot, and now."""

ROCE_V2 = "RoCE v2"
INFINIBAND = Path("/sys/class/infiniband")
EMPTY_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


@per_reading
def _qos(nic: str) -> str:
    """Return what mlnx_qos says of a port, from one call for all facts of it."""
    return run("mlnx_qos", "-i", nic)


def _set_qos(_name: str, _planned: Value, _context: Context) -> None:
    restart(PORTS_SERVICE)


def _read_trust(nic: str) -> str:
    found = re.search(r"^Priority trust state: (\w+)", _qos(nic), flags=re.MULTILINE)
    if found is None:
        raise FactError(f"mlnx_qos -i {nic} names no trust state")
    return found[1]


def _read_pfc(nic: str) -> str:
    """Return the priorities that PFC is on for."""
    found = re.search(
        r"^PFC configuration:\n\s*priority\s+([\d ]+)\n\s*enabled\s+([\d ]+)", _qos(nic), flags=re.MULTILINE
    )
    if found is None:
        raise FactError(f"mlnx_qos -i {nic} shows no PFC configuration")
    on = [priority for priority, flag in zip(found[1].split(), found[2].split(), strict=True) if flag == "1"]
    return ",".join(on) or "none"


def _read_dscp_priority(name: str) -> Value:
    """Return the priority that a port gives to a DSCP, of `PORT.DSCP`."""
    nic, _, dscp = name.rpartition(".")
    for priority, marks in re.findall(r"prio:(\d+) dscp:([\d,]+)", _qos(nic)):
        if int(dscp) in {int(mark) for mark in marks.split(",") if mark}:
            return int(priority)
    return "none"


def _read_ecn(nic: str) -> str:
    """Return the priorities that ECN is on for at both ends: where congestion is noticed, and where it slows down."""
    folder = Path(f"/sys/class/net/{nic}/ecn")
    if not folder.is_dir():
        raise FactError(f"{folder} does not exist: its driver comes with DOCA-OFED, not with the kernel")
    ends = [{file.name for file in (folder / end / "enable").glob("*") if read_text(file) == "1"} for end in ECN_ENDS]
    return ",".join(sorted(set.intersection(*ends))) or "none"


ECN_ENDS = ("roce_np", "roce_rp")
"""Notification point and reaction point."""


def _gids(nic: str) -> list[tuple[str, str]]:
    """Return the GIDs of a port's RDMA device, each with its type; an empty place of the table has neither."""
    link = rdma_links().get(nic)
    if link is None:
        raise FactError(f"{nic} has no RDMA device")
    folder = INFINIBAND / link["ifname"] / "ports" / str(link["port"])
    found = []
    for index in os.listdir(folder / "gids"):  # noqa: PTH208  # a thousand: a Path of each costs a slow host a second
        gid = _read_small(f"{folder}/gids/{index}")
        if gid != EMPTY_GID:
            found.append((gid, read_text(folder / "gid_attrs/types" / index)))
    return found


def _read_small(path: str) -> str:
    """Return a line of the kernel's; a text stream for each of a thousand costs as much as the reading."""
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 64).decode("ascii").strip()
    finally:
        os.close(handle)


def _read_gid(nic: str) -> str:
    """Return the IPv4 addresses that have a RoCE v2 GID; a GID with one is the address mapped into IPv6."""
    mapped = [ipaddress.IPv6Address(gid).ipv4_mapped for gid, kind in _gids(nic) if kind == ROCE_V2]
    return ",".join(sorted(str(address) for address in mapped if address is not None)) or "none"


def _read_netns(_name: str) -> str:
    """Return the mode of all RDMA devices: shared by all network namespaces, or each of one only."""
    system = json.loads(run("rdma", "-j", "system", "show"))
    return str((system[0] if isinstance(system, list) else system)["netns"])


def _set_netns(_name: str, planned: Value, _context: Context) -> None:
    run("rdma", "system", "set", "netns", str(planned))


def _read_firmware_vfs(nic: str) -> int:
    """Return how many virtual functions a port offers from the next boot on; none where SR-IOV is off."""
    said = run("mlxconfig", "-d", pci_address(nic), "query", "SRIOV_EN", "NUM_OF_VFS", timeout_s=60)
    found = dict(re.findall(r"^\s*\*?\s*(SRIOV_EN|NUM_OF_VFS)\s+(\S+)", said, flags=re.MULTILINE))
    if set(found) != {"SRIOV_EN", "NUM_OF_VFS"}:
        raise FactError(f"mlxconfig shows no SRIOV_EN and NUM_OF_VFS of {nic}")
    return int(found["NUM_OF_VFS"]) if found["SRIOV_EN"].startswith("True") else 0


def _set_firmware_vfs(nic: str, planned: Value, _context: Context) -> None:
    """Ask for them; the firmware takes them up at its next reset, and `vfs` fails until then."""
    run("mlxconfig", "-y", "-d", pci_address(nic), "set", "SRIOV_EN=1", f"NUM_OF_VFS={planned}", timeout_s=60)


_QOS_HINT = f"journalctl -u {PORTS_SERVICE}, mlnx_qos -i of the port: does DCBX let the switch decide?"
FACTS: dict[str, Fact] = {
    "pfc": Fact(_read_pfc, _set_qos, _QOS_HINT, rule="set"),
    "qos_trust": Fact(_read_trust, _set_qos, _QOS_HINT),
    "dscp_priority": Fact(_read_dscp_priority, _set_qos, _QOS_HINT),
    "ecn": Fact(_read_ecn, _set_qos, f"journalctl -u {PORTS_SERVICE}", rule="contains"),
    "gid": Fact(
        _read_gid,
        None,
        "rdma link and ip address of the port: GIDs follow its addresses",
        rule="contains",
        follows=True,
    ),
    "rdma_netns": Fact(_read_netns, _set_netns, "rdma system show: it changes only while no namespace has devices"),
    "firmware_vfs": Fact(
        _read_firmware_vfs,
        _set_firmware_vfs,
        "mlxconfig query of the port, and mlxfwreset or a reboot",
        rule="at_least",
    ),
}
