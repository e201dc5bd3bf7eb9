"""
The fabrics as people write them: which ports a fabric connects, through which switches, and how.

Counts of switches follow from the nodes; a count is written down only to hold a site to what was bought.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from coldaisle.spec.addressing import AddressPool
from coldaisle.spec.base import Name, Names, SpecModel, SwitchRef, mistake, near_miss
from coldaisle.spec.catalog import Count, NetworkOs, NicRole, Positive
from coldaisle.spec.media import CableKind, LinkMedia
from coldaisle.spec.overlay import BondSpec, Mtu, OverlaySpec
from coldaisle.spec.ranges import RangeError, expand
from coldaisle.spec.rollout import RolloutSpec
from coldaisle.spec.site import SecretRef
from coldaisle.spec.sourced import Bytes, Share
from coldaisle.spec.subnet import SubnetSpec

LossKind = Literal["link", "uplink", "optic", "leaf", "spine", "core", "feed", "upstream"]
"""A node's cable, one between switches, a transceiver, a switch of a tier, a rack's feed, a part above the feeds."""
Dscp = Annotated[int, Field(ge=0, le=63)]
Asn = Annotated[int, Field(ge=1, le=4294967294)]


class SwitchGroup(SpecModel):
    """
    The switches of one tier.

    They stand at each of `rack_units` in each of `racks`, rack by rack; without racks they are planned but not placed.
    """

    model: SwitchRef
    name: Name | None = None
    """Beginning of the switches' names, before a number; left out, the tier's name (a single fabric's own name)."""
    count: Count | None = None
    """Switches that there are; left out, as many as the nodes need."""
    racks: list[str] = Field(default_factory=list)
    rack_units: list[Count] = Field(default_factory=list)
    """The rack units that take a switch in each of the racks."""
    breakout: Count | None = None
    """Ports that each port towards the nodes is broken out into: 2 makes two of half the rate."""
    breakout_ports: Count | None = None
    """How many ports are broken out; left out, half of the switch's first kind of port."""
    max_power_w: Positive | None = None
    """The draw that the site budgets for one switch with its optics, where the catalog has none or a lower one."""

    @field_validator("racks")
    @classmethod
    def _racks_are_known(cls, value: list[str], info: ValidationInfo) -> list[str]:
        racks = info.context.by_kind.get("rack") if isinstance(info.context, Names) else None
        for pattern in value:
            try:
                names = expand(pattern)
            except RangeError as error:
                raise mistake(
                    "bad-range", f"rack {pattern}: {error}", "write the lower number first, then the last that there is"
                ) from None
            for name in names if racks is not None else ():
                if racks is not None and name not in racks:
                    raise mistake("unknown-rack", f"there is no rack named {name}", near_miss(name, racks))
        return value

    def placements(self) -> tuple[tuple[str, int], ...]:
        """Return rack and rack unit of each switch that has a place, rack by rack."""
        racks = [name for pattern in self.racks for name in expand(pattern)]
        return tuple((rack, unit) for rack in racks for unit in self.rack_units)

    @model_validator(mode="after")
    def _racks_have_units(self) -> Self:
        if bool(self.racks) != bool(self.rack_units):
            there, missing = ("racks", "rack_units") if self.racks else ("rack_units", "racks")
            raise mistake("bad-placement", f"there are {there} but no {missing}", f"give {missing}, or remove {there}")
        return self


class RoceClass(SpecModel):
    """
    The lossless class of RoCE, and the class of its congestion notifications.

    The defaults are Cumulus' own: data DSCP 26 on priority 3, notifications DSCP 48 in a strict queue. The map is
    always emitted, because other systems' stock maps put DSCP 26 into a lossy class (F12). Every other mark is best
    effort, in priority 0. Marks begin at `ecn_min_bytes` of a queue, and `ecn_probability_percent` of the packets have
    one at `ecn_max_bytes`. The class has `bandwidth_percent` of a busy link that the strict queue leaves, and its
    headroom is for cables of `cable_length_m`. Source: Cumulus Linux User Guide, RDMA over Converged Ethernet, default
    configuration of lossless mode and `nv show qos roce`.
    """

    dscp: Dscp = 26
    priority: Annotated[int, Field(ge=0, le=7)] = 3
    cnp_dscp: Dscp = 48
    cnp_priority: Annotated[int, Field(ge=0, le=7)] = 6
    ecn_min_bytes: Bytes = 150_000
    ecn_max_bytes: Bytes = 1_501_500
    ecn_probability_percent: Annotated[int, Field(ge=1, le=100)] = 100
    bandwidth_percent: Annotated[int, Field(ge=1, le=99)] = 50
    cable_length_m: Annotated[int, Field(ge=1, le=1000)] = 100


class BgpSpec(SpecModel):
    """
    What every BGP session of a fabric has.

    Keepalives and hold time are FRR's data center defaults, which Cumulus Linux ships. `maximum_paths` is the most that
    NVUE takes (NVUE reference, `multipaths ebgp`), and more than any pod has spines.
    """

    keepalive_s: Annotated[int, Field(ge=1, le=21845)] = 3
    hold_s: Annotated[int, Field(ge=3, le=65535)] = 9
    maximum_paths: Annotated[int, Field(ge=1, le=128)] = 128


class FabricAsn(SpecModel):
    """
    Autonomous system numbers of one fabric, after RFC 7938.

    One for each leaf, one for the spines of each pod (two tiers are one pod), one for all cores: a path that crosses
    two pods must not meet one number twice.
    """

    leaf_first: Asn
    spine_first: Asn
    core: Asn | None = None


class FabricManagers(SpecModel):
    """Appliances that manage an InfiniBand fabric from ports of their own, where nodes would be."""

    name: str
    """Name, or names in a range."""
    ports_each: Count
    port: str = "ib{port}"
    """Pattern of port names, counted from 0."""


class SurvivalSpec(SpecModel):
    """
    What a fabric must survive: the loss of any one part of these kinds, without a node cut off from the others.

    `bisection_left` is the share of the bandwidth between two halves of the leaves that must be left in each case.
    """

    loss_of: list[LossKind] = Field(min_length=1)
    bisection_left: Share = 0.0


class SwitchAccess(SpecModel):
    """
    How a site reaches its switches to configure them; FRR ones need none, since they have the site's own SSH key.

    EOS and Cumulus Linux are configured over HTTPS by who `credentials` names, SONiC over SSH with the site's key.
    """

    credentials: SecretRef | None = None
    """Where user and password are read from, as for BMCs: a secret itself never stands in a spec."""
    ca_file: str | None = None
    """Authority that signed the switches' certificates; null accepts none but those that the system trusts."""
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """TCP port of their API; left out, 443 of EOS and 8765 of Cumulus Linux."""
    ssh_user: str = Field(default="admin", pattern=r"^[a-z_][a-z0-9_-]*$")
    """Who logs in to SONiC and may become root there without a password: its own user."""


class FabricSpec(SpecModel):
    """
    One fabric.

    A `leaf-spine` fabric becomes three tiers when two cannot carry its nodes. A `single` fabric is switches with no
    tier above them, as an out-of-band network is.
    """

    kind: Literal["infiniband", "roce", "ethernet"]
    topology: Literal["leaf-spine", "single"]
    connects: list[NicRole | Literal["switch"]] = Field(min_length=1)
    """Which ports it takes: those of a role on every node, BMCs, and management ports of switches."""
    rail_optimized: bool = False
    """Rail n of each node goes to a leaf of its own, so that GPUs of one rank talk through one switch."""
    rails: Count = 1
    planes: Count = 1
    """
    Fabrics side by side that no link joins, each with leaves and spines of its own: a port of two planes of 400G is two
    ports of the catalog's system, each with its `plane`.
    """
    leaf: SwitchGroup | None = None
    spine: SwitchGroup | None = None
    core: SwitchGroup | None = None
    switch: SwitchGroup | None = None
    nodes_per_leaf_group: Count | None = None
    """
    Nodes that share one set of leaves (a scalable unit); left out, as many as half of a leaf's ports hold, and on a
    single fabric all of them. Ports that a group leaves are for switches and service hosts: with none left, these stand
    at the end of the last switch, and move when a switch is added.
    """
    managers: FabricManagers | None = None
    """Fabric managers (UFM), which take the places of nodes at the end of the last group."""
    uplinks_per_spine: Count | None = None
    """Parallel links of each leaf-spine pair; left out, as many as the leaves' rate asks for."""
    media: dict[CableKind, LinkMedia] = Field(default_factory=dict)
    """What is ordered for its cables, by kind; left out, a check asks only whether the catalog has what fits."""
    oversubscription: Positive = 1.0
    """Leaf downlink rate over leaf uplink rate that is accepted: 1 is non-blocking."""
    mtu_bytes: Mtu | None = None
    host_mtu_bytes: Mtu | None = None
    """MTU of the nodes' ports; left out, the fabric's."""
    roce: RoceClass = RoceClass()
    links: AddressPool | None = None
    """Where link addresses come from; left out, `addressing.fabric_links`. Two routed fabrics need a pool each."""
    loopbacks: AddressPool | None = None
    """Where loopbacks come from; left out, `addressing.loopbacks`."""
    survives: SurvivalSpec | None = None
    """What it must survive; left out, whatever its shape and the number of its nodes' ports allow."""
    asn: FabricAsn | None = None
    """Autonomous system numbers; left out, `addressing.asn`."""
    network_os: NetworkOs | None = None
    """Operating system of its switches; left out, the first that the catalog names for each model."""
    unnumbered: bool = False
    """Links between switches have link-local addresses only (RFC 8950), and sessions name their port; else /31s."""
    bgp: BgpSpec = BgpSpec()
    lldp_interval_s: Annotated[int, Field(ge=5, le=254)] = 30
    """Time between two LLDP frames: IEEE 802.1AB's own default."""
    unplanned_config: Literal["remove", "keep"] = "remove"
    """What becomes of sections of a switch's configuration that the plan does not have."""
    commit_timer_s: Annotated[int, Field(ge=30, le=3600)] = 120
    """Seconds after which a switch takes back a new configuration that could not be confirmed."""
    rollout: RolloutSpec | None = None
    """How changes go through its switches; left out, through all that a play configures at once."""
    switch_access: SwitchAccess | None = None
    """How switches that do not run FRR are reached; left out, nothing configures them but their files."""
    management_vrf: Name = "mgmt"
    """Where switches' management ports are: Cumulus Linux and SONiC have no other name for it."""
    access_vlan: Annotated[int, Field(ge=2, le=4094)] = 10
    """VLAN of the ports that are not routed, on each switch by itself. SONiC takes no VLAN 1."""
    overlay: OverlaySpec | None = None
    """Tenants over EVPN-VXLAN; left out, nodes of an Ethernet fabric reach only those on their own switch."""
    bond: BondSpec | None = None
    """The ports of a node as one LACP bond; left out, each by itself."""
    subnet: SubnetSpec = SubnetSpec()
    """Routing and partitions of an InfiniBand fabric."""

    @model_validator(mode="after")
    def _tiers_are_there(self) -> Self:
        wanted = ("leaf", "spine") if self.topology == "leaf-spine" else ("switch",)
        for tier in wanted:
            if getattr(self, tier) is None:
                raise mistake("missing-tier", f"a {self.topology} fabric needs {tier}", f"add {tier}: {{model: …}}")
        return self

    @model_validator(mode="after")
    def _overlay_has_ground(self) -> Self:
        if self.overlay is None:
            return self
        if self.kind != "ethernet" or self.topology != "leaf-spine":
            what = f"a {self.kind} fabric of topology {self.topology} carries no overlay"
            raise mistake("bad-overlay", what, "give the overlay to an ethernet fabric of leaves and spines")
        for name in {"default", self.management_vrf} & self.overlay.tenants.keys():
            fix = "give the tenant another name"
            raise mistake("bad-overlay", f"a tenant is named {name}, as a VRF that every switch has", fix)
        return self

    @model_validator(mode="after")
    def _bond_is_ethernet(self) -> Self:
        if self.bond is not None and self.kind != "ethernet":
            what = f"ports of nodes on a fabric of kind {self.kind} are rails of their own, which no bond can join"
            raise mistake("bad-bond", what, "leave bond out: RDMA spreads over rails by itself")
        return self

    @property
    def node_mtu_bytes(self) -> int | None:
        """Return the MTU of the nodes' ports."""
        return self.host_mtu_bytes if self.host_mtu_bytes is not None else self.mtu_bytes
