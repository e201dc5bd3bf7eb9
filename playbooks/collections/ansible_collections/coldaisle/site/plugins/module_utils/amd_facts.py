"""Facts of AMD's GPUs, from the kernel's own files: how many the driver has, and which driver it is."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Fact, read_text

DRIVER = Path("/sys/bus/pci/drivers/amdgpu")
VERSION = Path("/sys/module/amdgpu/version")
"""AMD's own driver (amdgpu-dkms) has a version; the one in the kernel has none."""


def _read_count(_name: str) -> int:
    """Return the number of PCI devices that the driver has taken."""
    return len(list(DRIVER.glob("[0-9a-f]*:[0-9a-f]*:*.*")))


def _read_version(_name: str) -> str:
    if VERSION.exists():
        return read_text(VERSION)
    return "the kernel's own" if VERSION.parent.exists() else "not loaded"


FACTS: dict[str, Fact] = {
    "amd_gpu_count": Fact(_read_count, None, "dmesg for amdgpu, then lspci: is the device there without its driver?"),
    "amd_driver": Fact(_read_version, None, "amdgpu-dkms in the image, or the AMD GPU operator", rule="version"),
}
