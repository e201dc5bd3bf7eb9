"""
What a simulated host has to offer to pods, as a Node reports it.

GPUs, virtual functions and RDMA devices are counted where a device plugin would look. Processors and memory are those
of the simulated server where the host is one, since the machine under it is far smaller.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, "/usr/local/lib/coldaisle")
from hardware import read_hardware

SERVER_CPUS = 112
SERVER_MEMORY_MIB = 2 * 1024 * 1024
"""A DGX H100: two processors of 56 cores, 2 TiB. Source: its data sheet."""

RESERVED_KIB = 100 * 1024
"""The kubelet's hard eviction threshold keeps 100 Mi from pods."""

RDMA_PODS_PER_PORT = 63
NETWORK = Path("/sys/class/net")


def capacity(max_pods: int, gpus: dict[str, str]) -> dict[str, str]:
    """Return the host's resources as a Node's capacity; `gpus` is what `gpu_resources` found last."""
    disk = os.statvfs("/")
    huge_pages = _meminfo().get("HugePages_Total", 0)
    return {
        **_processors_and_memory(),
        "pods": str(max_pods),
        "ephemeral-storage": f"{disk.f_blocks * disk.f_frsize // 1024}Ki",
        "hugepages-2Mi": f"{huge_pages * 2}Mi",
        **gpus,
        **_rdma(),
    }


def allocatable(of: dict[str, str]) -> dict[str, str]:
    """Return what pods may use: memory less the eviction threshold and the huge pages, the rest as it is."""
    huge_kib = int(of["hugepages-2Mi"].removesuffix("Mi")) * 1024
    memory_kib = int(of["memory"].removesuffix("Ki")) - RESERVED_KIB - huge_kib
    return {**of, "memory": f"{max(memory_kib, 0)}Ki"}


def _processors_and_memory() -> dict[str, str]:
    try:
        hardware = read_hardware()
    except OSError:
        return {"cpu": str(os.cpu_count()), "memory": f"{_meminfo()['MemTotal']}Ki"}
    memory_mib = int(hardware.get("memory_mib", SERVER_MEMORY_MIB))
    return {"cpu": str(hardware.get("cpus", SERVER_CPUS)), "memory": f"{memory_mib * 1024}Ki"}


def _meminfo() -> dict[str, int]:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines)}


def gpu_resources() -> dict[str, str]:
    """Return the GPUs that the driver lists; none are left when the driver does not answer."""
    if shutil.which("nvidia-smi") is None:
        return {}
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    lines = listed.stdout.splitlines() if listed.returncode == 0 else []
    return {"nvidia.com/gpu": str(sum(line.startswith("GPU ") for line in lines))}


def _rdma() -> dict[str, str]:
    """Return virtual functions where there are some, else shares of the RDMA devices where there are some."""
    counts = (_number(path) for path in NETWORK.glob("*/device/sriov_numvfs"))
    functions = sum(counts)
    if functions:
        return {"nvidia.com/rdma_vf": str(functions)}
    devices = Path("/sys/class/infiniband")
    ports = len(list(devices.iterdir())) if devices.is_dir() else 0
    return {"rdma/rdma_shared": str(ports * RDMA_PODS_PER_PORT)} if ports else {}


def _number(path: Path) -> int:
    return int(read(path) or 0)


def runtime_version() -> str:
    """Return the container runtime as a Node names it, such as containerd://1.6.20; unknown where there is none."""
    if shutil.which("containerd") is None:
        return "containerd://unknown"
    printed = subprocess.run(["containerd", "--version"], capture_output=True, text=True, check=False).stdout.split()
    return f"containerd://{printed[2].removeprefix('v')}" if len(printed) > 2 else "containerd://unknown"  # noqa: PLR2004


def node_info(version: str, runtime: str) -> dict[str, Any]:
    """Return the system part of a Node's status, with the versions of the kubelet and of the runtime."""
    lines = read(Path("/etc/os-release")).splitlines()
    release = dict(line.split("=", 1) for line in lines if "=" in line)
    machine = platform.machine()
    machine_id = read(Path("/etc/machine-id"))
    return {
        "machineID": machine_id,
        "systemUUID": read(Path("/sys/class/dmi/id/product_uuid")) or machine_id,
        "bootID": read(Path("/proc/sys/kernel/random/boot_id")),
        "kernelVersion": platform.release(),
        "osImage": release.get("PRETTY_NAME", "Linux").strip('"'),
        "containerRuntimeVersion": runtime,
        "kubeletVersion": version,
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine),
    }


def read(path: Path) -> str:
    """Return the text of a small file, or nothing when it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
