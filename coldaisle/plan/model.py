"""
The site plan: everything that follows from a spec, as frozen plain data.

Nothing after the plan makes a choice, so each record says all that a renderer, a component, a playbook or the
simulated site needs. Units are in the names. `None` means "not known" or "not asked for", never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA_VERSION = "1"
"""Version of the JSON form of a plan (docs/plan-json.md); raised when a key changes its meaning or goes away."""

Facts = Mapping[str, str | int | bool]
"""What a host must look like after one playbook: a flat map of fact name to planned value."""


# -- facility ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One addend of a budget: what draws, how much, and where the number comes from. None is not known, never zero."""

    item: str
    count: int
    each: float | None
    total: float | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPlan:
    """
    One circuit from a panel to a rack: what it may carry, what it carries, and after the worst loss of other feeds.

    A load is None when a figure that it needs is not known.
    """

    name: str
    voltage_v: float
    voltage_reference: Literal["line-to-line", "line-to-neutral"]
    phases: Literal[1, 3]
    breaker_a: float
    derating: float
    power_factor: float
    capacity_w: float
    load_w: float | None
    load_after_loss_w: float | None
    upstream: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamPlan:
    """Utility, UPS, panel …: what it may carry, what hangs below it, and after the worst loss of one beside it."""

    name: str
    kind: str
    capacity_w: float
    load_w: float | None
    load_after_loss_w: float | None
    fed_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlacement:
    """A device in a rack: the lowest rack unit that it takes, and its height."""

    device: str
    model: str
    kind: Literal["node", "switch", "service"]
    rack_unit: int
    height_u: int
    max_power_w: float | None
    weight_kg: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPlan:
    """A rack with its devices and its ledgers."""

    name: str
    hall: str
    row: str
    height_u: int
    used_u: int
    devices: tuple[DevicePlacement, ...]
    feeds: tuple[FeedPlan, ...]
    power_w: float | None
    power_lines: tuple[LedgerLine, ...]
    heat_air_w: float | None
    heat_liquid_w: float | None
    airflow_cfm: float | None
    cooling: str | None
    weight_kg: float | None
    liquid_cooling: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingPlan:
    """
    A cooling loop or a set of air handlers: what it can remove, in full and without its spare units, and what it must.

    `airflow_cfm` (cubic feet a minute) and `coolant_l_min` need the temperature rise of the unit.
    """

    name: str
    kind: Literal["air", "liquid"]
    capacity_w: float
    capacity_after_loss_w: float
    load_w: float | None
    racks: tuple[str, ...]
    airflow_cfm: float | None = None
    coolant_l_min: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacilityPlan:
    """Racks, feeds and cooling of a site, with totals in watts."""

    racks: tuple[RackPlan, ...]
    cooling: tuple[CoolingPlan, ...]
    it_power_w: float | None
    upstream: tuple[UpstreamPlan, ...] = ()


# -- fabrics ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a cable."""

    device: str
    port: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CablePlan:
    """
    A cable: both ends, its rate and, on a routed fabric, the address of each end (with its prefix length).

    `a` is the lower end (node, leaf, spine) and `b` the upper one (leaf, spine, core). `mtu_bytes` is the lower end's.
    """

    a: End
    b: End
    rate_gbps: float
    kind: Literal["node-leaf", "leaf-spine", "spine-core", "oob"]
    rail: int | None = None
    length_m: float | None = None
    a_address: str | None = None
    b_address: str | None = None
    mtu_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPlan:
    """A switch: its place in the fabric and, on a routed fabric, its ASN and loopback."""

    name: str
    role: Literal["leaf", "spine", "core", "oob"]
    model: str
    rack: str | None
    ports: int
    ports_used: int
    rail: int | None = None
    asn: int | None = None
    loopback: str | None = None
    management_address: str | None = None
    mtu_bytes: int | None = None
    rack_unit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceClassPlan:
    """The lossless class of RoCE data and the class of its congestion notifications: DSCP, priority, ECN thresholds."""

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    ecn_min_bytes: int
    ecn_max_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPlan:
    """One fabric. `oversubscription` is leaf downlink rate over leaf uplink rate."""

    name: str
    kind: Literal["infiniband", "roce", "ethernet"]
    topology: Literal["leaf-spine", "three-tier", "single"]
    rails: int
    tiers: int
    switches: tuple[SwitchPlan, ...]
    cables: tuple[CablePlan, ...]
    oversubscription: float | None
    mtu_bytes: int | None
    roce: RoceClassPlan | None = None


# -- nodes ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class NicPlan:
    """A network port of a node. `address` has a prefix length; `gpu` is the index of the GPU that it is nearest to."""

    name: str
    fabric: str
    rail: int | None
    mac: str | None
    address: str | None
    gateway: str | None
    mtu_bytes: int
    vfs: int
    gpu: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BmcPlan:
    """
    A node's management controller.

    `credentials` names where user and password are read from (never a value): `file:PATH` of a YAML file with
    `username` and `password`, or `env:PREFIX` for PREFIX_USERNAME and PREFIX_PASSWORD.
    """

    address: str
    mac: str | None
    protocol: Literal["redfish", "ipmi"]
    credentials: str
    ca_file: str | None
    boot_order: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """A server: where it stands, how it boots, and what it must look like when it is done."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OsPlan:
    """The operating system settings of a pool. `hugepages_2mi` counts pages of 2 MiB."""

    timezone: str
    ntp_servers: tuple[str, ...]
    sysctl: Mapping[str, str]
    hugepages_2mi: int
    boot_timeout_s: int
    admin_user: str
    admin_authorized_keys_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaPlan:
    """RDMA settings of a pool. `dscp` is the class that RoCE data is marked with; `memlock` is a limit for PAM."""

    mode: Literal["roce", "infiniband"]
    dscp: int | None
    memlock: str
    vfs_per_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPlan:
    """GPU settings of a pool. `driver_floor` is the lowest accepted driver version."""

    count: int
    model: str
    driver_floor: str
    persistence: bool
    fabric_state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """A group of like nodes, and the settings that they share; a section that a pool does not use is None."""

    name: str
    role: Literal["training", "serving"]
    system: str
    image: str | None
    nodes: tuple[str, ...]
    os: OsPlan
    rdma: RdmaPlan | None
    gpu: GpuPlan | None


# -- provisioning -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """A net-boot image: three files below `source`, each pinned by its SHA-256, or measured when it is published."""

    name: str
    source: str
    kernel: str
    initrd: str
    rootfs: str
    kernel_arguments: str
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningPlan:
    """The host that answers DHCP, TFTP and HTTP, the network that it serves, and the images that it offers."""

    host: str
    host_address: str
    interface: str
    subnet: str
    gateway: str | None
    http_port: int
    images: tuple[ImagePlan, ...]


# -- cluster ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """A Helm release. `repository` is the chart mirror of the site."""

    name: str
    namespace: str
    chart: str
    version: str
    repository: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePlan:
    """A namespace with its pod security level."""

    name: str
    pod_security: Literal["privileged", "baseline", "restricted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """
    The Kubernetes cluster of the site.

    `kubeconfig` and `bootstrap_token` say where a secret is read from, as `BmcPlan.credentials` does.
    """

    name: str
    version: str
    api_server: str
    ca_file: str
    kubeconfig: str
    bootstrap_token: str
    pod_cidr: str
    service_cidr: str
    cluster_dns: str
    max_pods: int
    topology_manager_policy: str
    namespaces: tuple[NamespacePlan, ...]
    prometheus_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuStackPlan:
    """The operators that make GPUs and RDMA devices allocatable: releases, and their custom resources as manifests."""

    releases: tuple[ReleasePlan, ...]
    resources: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPlan:
    """A model endpoint: its manifests by kind (Deployment, Service, PodDisruptionBudget), ready to be applied."""

    name: str
    namespace: str
    model: str
    replicas: int | None
    gpus_per_replica: int
    startup_s: int
    manifests: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerPlan:
    """KEDA as a release, and one ScaledObject an endpoint, as manifests by endpoint name."""

    release: ReleasePlan
    scaled_objects: Mapping[str, Mapping[str, Any]]


# -- bring-up ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class PlayPlan:
    """
    A playbook applied to some hosts: one resource of the stack.

    `facts` is, for each host, what the playbook makes true and drift compares; `after` names plays that come first.
    """

    name: str
    playbook: str
    facts: Mapping[str, Facts]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePlan:
    """
    The whole plan of a site. Sections that the site does not use are None or empty.

    `admin_private_key_file` is the SSH key that the deploy host logs in with (a path, never the key).
    """

    name: str
    domain: str
    facility: FacilityPlan
    fabrics: Mapping[str, FabricPlan]
    nodes: tuple[NodePlan, ...]
    pools: tuple[PoolPlan, ...]
    provisioning: ProvisioningPlan | None
    cluster: ClusterPlan | None
    gpu_stack: GpuStackPlan | None
    endpoints: tuple[EndpointPlan, ...]
    autoscaler: AutoscalerPlan | None
    plays: tuple[PlayPlan, ...]
    admin_private_key_file: str | None = None
    schema_version: str = field(default=SCHEMA_VERSION)
