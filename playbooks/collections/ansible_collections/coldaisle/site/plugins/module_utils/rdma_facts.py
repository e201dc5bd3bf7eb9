"""Facts of RDMA: virtual functions, RDMA devices, the class of RoCE traffic, the limit of locked memory."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    per_reading,
    read_text,
    run,
    wait_until,
    write_text,
)
from ansible_collections.coldaisle.site.plugins.module_utils.services import restart

RDMA_CM = Path("/sys/kernel/config/rdma_cm")
ROCE_SERVICE = "coldaisle-roce.service"
"""Written by the role: it sets the class at every boot, and now."""

DSCP_SHIFT = 2
"""A DSCP is the upper six bits of the type-of-service byte that rdma_cm takes (RFC 2474)."""


def _vfs_path(nic: str) -> Path:
    return Path(f"/sys/class/net/{nic}/device/sriov_numvfs")


def _set_vfs(nic: str, planned: Value, _context: Context) -> None:
    """Set the number of virtual functions; a kernel takes a new number only from zero."""
    path = _vfs_path(nic)
    total = int(read_text(path.with_name("sriov_totalvfs")))
    if int(planned) > total:
        raise FactError(
            f"{nic} offers {total} virtual functions, the plan asks for {planned}: set NUM_OF_VFS in firmware"
        )
    if read_text(path) != "0":
        write_text(path, "0\n")
        wait_until(lambda: _made_vfs(nic) == 0, timeout_s=10)
    write_text(path, f"{planned}\n")
    wait_until(lambda: _read_vfs(nic) == planned, timeout_s=20)


def _read_vfs(nic: str) -> int:
    return int(read_text(_vfs_path(nic)))


def _made_vfs(nic: str) -> int:
    return len(list(Path(f"/sys/class/net/{nic}/device").glob("virtfn*")))


@per_reading
def rdma_links() -> dict[str, dict[str, str]]:
    """Return the RDMA link of each network port that has one."""
    links = json.loads(run("rdma", "-j", "link", "show") or "[]")
    return {link["netdev"]: link for link in links if "netdev" in link}


def _read_device(nic: str) -> str:
    link = rdma_links().get(nic)
    return link["state"].lower() if link else "absent"


def _read_dscp(_name: str) -> Value:
    """Return the class of all devices; configfs shows a device only once its folder was made, by whoever sets it."""
    devices = rdma_links().values()
    if not devices:
        raise FactError("there is no RDMA device whose class could be read")
    paths = [RDMA_CM / link["ifname"] / "ports" / str(link["port"]) / "default_roce_tos" for link in devices]
    values = sorted({str(int(read_text(path)) >> DSCP_SHIFT) if path.exists() else "not set" for path in paths})
    return int(values[0]) if len(values) == 1 and values[0].isdigit() else ",".join(values)


def _set_dscp(_name: str, _planned: Value, _context: Context) -> None:
    restart(ROCE_SERVICE)


def _read_limit(resource: str) -> str:
    """Return the limit that systemd gives to services: the one that a container runtime and its pods get."""
    limit = run("systemctl", "show", f"--property=DefaultLimit{resource}", "--value").strip()
    return "unlimited" if limit in {"infinity", str(2**64 - 1)} else limit


def _set_limit(_name: str, _planned: Value, _context: Context) -> None:
    """Let the service manager read its files again; services that run keep their limit until they restart."""
    run("systemctl", "daemon-reexec", timeout_s=60)


FACTS: dict[str, Fact] = {
    "vfs": Fact(_read_vfs, _set_vfs, "SR-IOV in the BIOS (and IOMMU), NUM_OF_VFS in the NIC's firmware"),
    "rdma_device": Fact(_read_device, None, "whether the port is up, its driver (mlx5_ib) is loaded, and `rdma link`"),
    "roce_dscp": Fact(_read_dscp, _set_dscp, "cat /sys/kernel/config/rdma_cm/*/ports/1/default_roce_tos"),
    "memlock": Fact(
        lambda _name: _read_limit("MEMLOCK"),
        _set_limit,
        "files in /etc/systemd/system.conf.d that come later by name",
        rule="limit",
    ),
    "nofile": Fact(
        lambda _name: _read_limit("NOFILE"),
        _set_limit,
        "files in /etc/systemd/system.conf.d that come later by name",
        rule="limit",
    ),
}
