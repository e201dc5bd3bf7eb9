"""What a pool's hosts are set to beyond their ports: kernel, packages, PCI Express, clock, limits, RDMA and GPUs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from coldaisle.spec.base import SpecModel

PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$")]
"""As Debian and RPM allow names."""

PackageVersion = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+:~_^-]*$")]
"""A full version with its packaging's part, as apt and dnf take it: one without it would match several packages."""

ModuleName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]+$")]

KernelArgument = Annotated[str, StringConstraints(pattern=r"^[^\s=\"'$\\]+(=[^\s\"'$\\]*)?$")]
"""A word of the kernel's command line, which goes through shells' files unquoted."""

Packages = dict[PackageName, PackageVersion]


class KernelSpec(SpecModel):
    """The kernel that a pool's hosts run. Its packages have these versions, and upgrades leave them alone."""

    release: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+[A-Za-z0-9.+_~-]*$")]
    """As `uname -r` says it."""
    packages: Packages = Field(default_factory=dict)
    """The image's package, its modules (on Ubuntu linux-modules-extra too) and its headers, each with its version."""


class PciSpec(SpecModel):
    """PCI Express of the ports of a pool's rails; what is left out stays as the firmware sets it."""

    max_read_request_bytes: Literal[128, 256, 512, 1024, 2048, 4096] | None = None
    """Most that a NIC asks for in one read (MaxReadReq)."""
    relaxed_ordering: bool | None = None
    """Whether the root complex may reorder what a NIC writes."""
    acs_redirect: Literal["off"] | None = None
    """`off` lets GPUs and NICs behind one switch talk directly; leave it out where guests get devices."""


class OsSpec(SpecModel):
    """Operating system settings of a pool. What has no default of its own stays as the image has it."""

    sysctl: dict[str, str] = Field(default_factory=dict)
    hugepages_2mi: int = Field(default=0, ge=0)
    """Pages of 2 MiB."""
    hugepages_1gi: int = Field(default=0, ge=0)
    """Pages of 1 GiB, which are asked for on the kernel's command line too: later there are seldom any."""
    boot_timeout_s: int = Field(default=600, ge=30)
    """How long a node may take from power-on to SSH; servers with eight GPUs test their memory for minutes."""
    kernel: KernelSpec | None = None
    kernel_arguments: list[KernelArgument] = Field(default_factory=list)
    """Words of the kernel's command line, beside those that other settings ask for."""
    modules: list[ModuleName] = Field(default_factory=list)
    """Kernel modules that are loaded at boot, beside those that the catalog names for the pool's GPUs."""
    packages: Packages = Field(default_factory=dict)
    """Packages that are pinned: installed in this version, and held."""
    iommu: Literal["off", "passthrough", "on"] | None = None
    """`passthrough` keeps DMA of the host's own devices untranslated, and leaves SR-IOV and VFIO possible."""
    numa_balancing: bool | None = None
    """Whether the kernel moves memory after its users; it costs jobs that are pinned to their NUMA node."""
    cpu_governor: Literal["performance", "powersave", "schedutil", "ondemand"] | None = None
    pci: PciSpec = PciSpec()
    time_service: Literal["timesyncd", "chrony"] = "timesyncd"
    max_clock_offset_ms: Annotated[int, Field(ge=1)] | None = None
    """How far the clock may be off, which chrony tells."""
    clock_synchronized: bool = False
    """Whether the kernel must call the clock synchronised; a host that has just booted needs a minute for it."""
    nofile: str | None = Field(default=None, pattern=r"^(unlimited|\d+)$")
    """Files that a service may have open."""
    verify_path_mtu: bool = True
    """Whether each rail's gateway must answer a packet of the rail's MTU that may not be cut into pieces."""


class RdmaSpec(SpecModel):
    """RDMA on the hosts of a pool."""

    mode: Literal["roce", "infiniband"]
    vfs_per_port: int = Field(default=0, ge=0, le=127)
    """SR-IOV virtual functions of each port."""
    firmware_vfs: Annotated[int, Field(ge=1, le=127)] | None = None
    """Virtual functions that the firmware of each port offers (NUM_OF_VFS); left out, it stays as it came."""
    memlock: str = "unlimited"
    """Locked memory that a process may have, as PAM limits write it."""
    netns: Literal["shared", "exclusive"] | None = None
    """Whether RDMA devices are seen in all network namespaces; `exclusive` gives a pod its own. Left out, as it is."""
    nic_qos: Literal["mlnx", "none"] = "mlnx"
    """Who sets PFC, trust and ECN on RoCE ports: mlnx_qos and the files of DOCA-OFED's driver, or nobody here."""


class GpuSpec(SpecModel):
    """What must be true of the GPUs and their driver on a host."""

    driver_floor: str = Field(pattern=r"^\d+(\.\d+)+$")
    """Lowest accepted driver version, as its vendor writes it."""
    driver_version: str | None = Field(default=None, pattern=r"^\d+(\.\d+)+$")
    """The driver that the host has, to the digit; fabric manager must have the same. Left out, the floor is enough."""
    driver_packages: Packages = Field(default_factory=dict)
    """Packages of the driver and of fabric manager, pinned; left out, they come with the image."""
    persistence: bool = True
    fabric_state: Literal["Completed"] | None = None
    """NVLink fabric state that each GPU must report; null where the system has no NVSwitch."""
    max_uncorrected_ecc: Annotated[int, Field(ge=0)] | None = None
    """Uncorrectable ECC errors that a host's GPUs may have together since their last reset; null: not looked at."""
    imex: Literal["off", "host"] = "off"
    """Who runs IMEX: nobody on the host (the DRA driver's compute domains do), or each host, with its NVLink domain."""
