"""The files of the test's host: what its kernel tells of hardware, its tools, its packages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "sim" / "image" / "files" / "usr" / "local"
NIC_ADDRESSES = {"rail0": "0000:18:00.0", "rail1": "0000:19:00.0"}
BRIDGE = "0000:17:00.0"
RELEASE = os.uname().release
CMDLINE = "quiet iommu=pt intel_iommu=on hugepagesz=1G hugepages=4\n"

SYS_FILES = {
    "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0",
    "kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "0",
    "devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
    "devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave",
    f"bus/pci/devices/{BRIDGE}/class": "0x060400",
    "module/amdgpu/version": "6.14.14",
    "bus/pci/drivers/amdgpu/0000:2a:00.0/class": "0x120000",
    "bus/pci/drivers/amdgpu/0000:2b:00.0/class": "0x120000",
}


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def lay_out(top: Path, hardware: dict[str, Any]) -> None:
    """Write all files of the host below a folder."""
    for name, text in SYS_FILES.items():
        write(top / "sys" / name, f"{text}\n")
    for number, (nic, address) in enumerate(NIC_ADDRESSES.items()):
        _nic(top / "sys", nic, address, number)
    _tools(top)
    _states(top, hardware)
    _kernel(top)
    _repository(top / "srv" / "packages")


def _nic(sys: Path, nic: str, address: str, number: int) -> None:
    """Write what the kernel tells of a NIC, and of its RDMA device."""
    write(sys / "bus/pci/devices" / address / "class", "0x020000\n")
    write(sys / "bus/pci/devices" / address / "sriov_totalvfs", "8\n")
    write(sys / "bus/pci/devices" / address / "sriov_numvfs", "0\n")
    (sys / "class/net" / nic).mkdir(parents=True)
    (sys / "class/net" / nic / "device").symlink_to(f"/sys/bus/pci/devices/{address}")
    for priority in range(8):
        for end in ("roce_np", "roce_rp"):
            write(sys / "class/net" / nic / "ecn" / end / "enable" / str(priority), "0\n")
    device = sys / "class/infiniband" / f"mlx5_{number}" / "ports/1"
    write(sys / "kernel/config/rdma_cm" / f"mlx5_{number}" / "ports/1/default_roce_tos", "0\n")
    own = f"0000:0000:0000:0000:0000:ffff:0a12:80{2 * number + 1:02x}"
    for index, (gid, kind) in enumerate((("fe80::1", "IB/RoCE v1"), (own, "IB/RoCE v1"), (own, "RoCE v2"))):
        write(device / "gids" / str(index), f"{gid}\n")
        write(device / "gid_attrs/types" / str(index), f"{kind}\n")
    write(device / "gids/3", "0000:0000:0000:0000:0000:0000:0000:0000\n")  # an empty place, which has no type


def _tools(top: Path) -> None:
    """Copy the tools: those of simulated hosts, over them those of this test."""
    for folder in ("bin", "lib"):
        shutil.copytree(IMAGE / folder, top / "usr/local" / folder)
    shutil.copytree(Path(__file__).parent / "bin", top / "usr/local/bin", dirs_exist_ok=True)


def _states(top: Path, hardware: dict[str, Any]) -> None:
    """Write what the tools remember: hardware, units, RDMA devices, the clock."""
    links = [
        {"ifname": f"mlx5_{number}", "port": 1, "state": "ACTIVE", "netdev": nic}
        for number, nic in enumerate(NIC_ADDRESSES)
    ]
    known = ("chrony", "systemd-networkd", "nvidia-imex", "lldpd")
    units = {unit: {"UnitFileState": "disabled", "ActiveState": "inactive"} for unit in known}
    write(top / "run/coldaisle/hardware.json", json.dumps(hardware))
    write(top / "run/units.json", json.dumps(units))
    write(top / "run/rdma.json", json.dumps({"links": links, "netns": "shared"}))
    write(top / "run/cmdline", CMDLINE)
    write(top / "run/offset", "0.000012\n")
    write(top / "run/synchronized", "yes\n")


def _kernel(top: Path) -> None:
    """Write the folder of the kernel's modules: some, and NVIDIA's among them."""
    names = (
        "kernel/ib_umad.ko",
        "kernel/mlx5_ib.ko",
        "kernel/nouveau.ko",
        "kernel/rdma_cm.ko",
        "updates/dkms/nvidia.ko",
    )
    write(top / "usr/lib/modules" / RELEASE / "modules.dep", "".join(f"{name}:\n" for name in names))


def _repository(folder: Path) -> None:
    """Make a repository of three small packages, of which one has two versions."""
    entries = [
        _package(folder, name, version)
        for name, version in (("pinned", "1.0-1"), ("pinned", "1.1-1"), ("nvidia-fabricmanager", "580.95.05-1"))
    ]
    write(folder / "Packages", "\n".join(entries))


def _package(folder: Path, name: str, version: str) -> str:
    """Build a package, and return its entry in the repository's list."""
    control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody\nDescription: a test\n"
    write(folder / name / "DEBIAN/control", control)
    file = folder / f"{name}_{version}_all.deb"
    subprocess.run(["dpkg-deb", "-Znone", "--build", str(folder / name), str(file)], check=True, capture_output=True)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return f"{control}Filename: ./{file.name}\nSize: {file.stat().st_size}\nSHA256: {digest}\n"
