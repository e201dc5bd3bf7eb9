"""The nodes and pools of a plan: where a server stands, how it boots, and what it must look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from coldaisle.plan.model.install import DiskPlan, InstallPlan
from coldaisle.plan.model.rollout import AcceptancePlan, RolloutPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class NicPlan:
    """
    A network port of a node.

    `address` has a prefix length; `gpu` is the index of the GPU that it is nearest to, `plane` its plane of the fabric.
    """

    name: str
    fabric: str
    rail: int | None
    mac: str | None
    address: str | None
    gateway: str | None
    mtu_bytes: int
    vfs: int
    gpu: int | None
    plane: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BmcPlan:
    """
    A node's management controller.

    `credentials` names where user and password are read from (never a value): `file:PATH` of a YAML file with
    `username` and `password`, or `env:PREFIX` for PREFIX_USERNAME and PREFIX_PASSWORD. `default_credentials` names in
    the same form what it came with, None where nothing is rotated. `event_destination` is where it sends its events.
    `settings` are further facts that it makes true, by their names.
    """

    address: str
    mac: str | None
    protocol: Literal["redfish", "ipmi"]
    credentials: str
    ca_file: str | None
    boot_order: tuple[str, ...]
    settings: Mapping[str, str | int | bool]
    default_credentials: str | None = None
    event_destination: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsPlan:
    """
    The parts of a node as they were delivered: serials of the chassis, and of GPUs and memory modules by their slots.

    A slot is named as the BMC names it. Where the delivery list has no serials, only the number of GPUs is known.
    """

    serial: str | None
    gpus: Mapping[str, str]
    dimms: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """
    A server: where it stands, how it boots, and what it must look like when it is done.

    `nvlink_domain` names the nodes whose GPUs talk over NVLink with each other; None where NVLink ends at the node.

    `disks` are those that its image is installed on, and `wipe_consent` the serials of disks that may be wiped for it.

    `power_limit_w` is what its BMC must keep it under, None where its pool has no cap: whole watts, never more than the
    ledgers count.

    `state` is where the node is in its life, None where no journal knows it: then it takes work as any other.
    """

    name: str
    fqdn: str
    pool: str
    rack: str
    rack_unit: int
    system: str
    management_address: str
    boot_nic: str
    boot: Literal["network", "image-installed"]
    architecture: str
    firmware: Literal["bios", "uefi"]
    gpus: int
    nics: tuple[NicPlan, ...]
    bmc: BmcPlan | None
    labels: Mapping[str, str]
    taints: tuple[str, ...]
    nvlink_domain: str | None = None
    power_limit_w: int | None = None
    disks: tuple[DiskPlan, ...] = ()
    wipe_consent: tuple[str, ...] = ()
    parts: PartsPlan | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PciPlan:
    """PCI Express of a pool's rail ports; None leaves a setting as the firmware has it."""

    max_read_request_bytes: int | None
    relaxed_ordering: bool | None
    acs_redirect: Literal["off"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OsPlan:
    """
    The operating system settings of a pool. `hugepages_2mi` counts pages of 2 MiB, `hugepages_1gi` those of 1 GiB.

    `packages` are pinned and held, the kernel's among them; `kernel_arguments` are words of the kernel's command line.
    A setting that is None stays as the image has it.
    """

    timezone: str
    ntp_servers: tuple[str, ...]
    sysctl: Mapping[str, str]
    hugepages_2mi: int
    hugepages_1gi: int
    boot_timeout_s: int
    admin_user: str
    admin_authorized_keys_file: str
    kernel_release: str | None
    kernel_arguments: tuple[str, ...]
    modules: tuple[str, ...]
    packages: Mapping[str, str]
    cpu_governor: str | None
    pci: PciPlan
    time_service: Literal["timesyncd", "chrony"]
    clock_synchronized: bool
    max_clock_offset_ms: int | None
    nofile: str | None
    verify_path_mtu: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaPlan:
    """
    RDMA settings of a pool. `memlock` is a limit for PAM.

    `dscp` is the mark of RoCE data, `priority` the priority that ports send it in, and pause it by; both are None
    without RoCE, and `priority` where nobody sets ports.
    """

    mode: Literal["roce", "infiniband"]
    dscp: int | None
    priority: int | None
    memlock: str
    vfs_per_port: int
    firmware_vfs: int | None
    netns: Literal["shared", "exclusive"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPlan:
    """
    GPU settings of a pool. `driver_floor` is the lowest accepted driver version, `driver_version` the only one.

    `max_uncorrected_ecc` is how many uncorrectable ECC errors a host's GPUs may have together since their last reset.

    `driver_owner` installs the driver; `fabric_manager` says whether the host runs one, which must have the driver's
    version.
    """

    count: int
    model: str
    vendor: str
    driver_owner: Literal["host", "operator"]
    driver_floor: str
    driver_version: str | None
    packages: Mapping[str, str]
    persistence: bool
    fabric_state: str | None
    fabric_manager: bool
    imex: Literal["off", "host"]
    max_uncorrected_ecc: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerCapPlan:
    """A cap as the pool has it, for each GPU or for the whole node; `node_w` is what a node then draws at most."""

    watts: float
    scope: Literal["gpu", "node"]
    node_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmwarePlan:
    """
    An item of the firmware inventory that a pool pins: the version that it must show, and the image that brings it.

    `target` is what Redfish's SimpleUpdate is given, None for the item itself.
    """

    name: str
    version: str
    image: str
    sha256: str
    target: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """
    A group of like nodes, and the settings that they share; a section that a pool does not use is None.

    `offers` has the extended resources of Kubernetes, with the least number of each, that a node gives to pods.
    """

    name: str
    role: Literal["training", "serving"]
    system: str
    image: str | None
    nodes: tuple[str, ...]
    os: OsPlan
    rdma: RdmaPlan | None
    gpu: GpuPlan | None
    power_cap: PowerCapPlan | None = None
    install: InstallPlan | None = None
    secure_boot: bool = False
    firmware: tuple[FirmwarePlan, ...] = ()
    rollout: RolloutPlan | None = None
    acceptance: AcceptancePlan | None = None
    offers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """
    A net-boot image: its files below `source`, each pinned by its SHA-256, or measured when it is published.

    `rootfs` is the root file system, the ISO of an autoinstall image, or None where all comes from `mirror`. `keyring`
    has the keys that sign the mirror, where they are not Debian's own.
    """

    name: str
    kind: Literal["squashfs", "autoinstall", "preseed", "kickstart"]
    source: str
    kernel: str
    initrd: str
    rootfs: str | None
    kernel_arguments: str
    sha256: Mapping[str, str]
    suite: str
    mirror: str | None
    security_mirror: str | None
    keyring: str | None
    kernel_package: str
    signed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BootProgramPlan:
    """A first program of a network boot: where it is had, its name on the provisioner, and its SHA-256."""

    name: str
    source: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HallSourcesPlan:
    """What a hall serves to its racks: where images lie, and package mirrors by image, over the site's own."""

    images_url: str | None
    mirrors: Mapping[str, str]
    security_mirrors: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningPlan:
    """
    The host that answers DHCP, TFTP and HTTP, the network that it serves, and the images that it offers.

    `transfers` is how many files of images are sent at once; `relayed` says that DHCP reaches it through a router.
    `programs` are first programs beside those of the ipxe package; `signed` has the architectures with a signed chain.
    `by_rack` has what a rack's hall serves itself, where it serves anything.
    """

    host: str
    host_address: str
    interface: str
    subnet: str
    gateway: str | None
    http_port: int
    images: tuple[ImagePlan, ...]
    proxy: str | None
    name_servers: tuple[str, ...]
    transfers: int
    relayed: bool
    programs: tuple[BootProgramPlan, ...]
    signed: tuple[str, ...]
    by_rack: Mapping[str, HallSourcesPlan] = field(default_factory=dict)
