"""
Hardware facts: what a system, a switch, a GPU or a port is, with the document that says so.

Facts never live in code. A figure that no document gives stays out of the catalog: it reads as None here, and a plan
that needs it reports a missing figure instead of counting zero.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from coldaisle.spec.acceptance import AcceptanceLimits
from coldaisle.spec.base import SpecModel, mistake, refers_to
from coldaisle.spec.draws import Draws
from coldaisle.spec.links import Cable, FormFactor, Optic
from coldaisle.spec.plant import Cdu, PowerShelf, RackPdu, RearDoorExchanger, Ups
from coldaisle.spec.sourced import Bytes, Count, Positive, RackUnits, Share, Sourced

__all__ = [
    "Cable", "Catalog", "Cdu", "Count", "Gpu", "NetworkOs", "Nic", "NicRole", "Optic", "PortBlock", "Positive",
    "PowerShelf", "PowerShelves", "Psus", "RackPdu", "RearDoorExchanger", "Share", "Sourced", "Switch", "System",
    "SystemGpus", "SystemNic", "Ups",
]  # fmt: skip

NicRole = Literal["compute", "storage", "management", "bmc"]
Airflow = Literal["front-to-rear", "rear-to-front", "side"]
"""Which way a device moves air, seen from the front of its rack."""
NetworkOs = Literal["cumulus", "sonic", "eos", "nvos", "mlnx-os", "frr"]
"""Operating systems of switches."""
AshraeClass = Literal["A1", "A2", "A3", "A4", "H1"]
"""Thermal class of air-cooled equipment (ASHRAE TC 9.9); its temperatures are in coldaisle.plan.climate."""


class Psus(SpecModel):
    """
    Power supplies of a device.

    `needed` keep full performance (the 4 of 4+2). `needed_to_boot` keep it running at all; None where no document
    says it.
    """

    count: Count
    needed: Count
    needed_to_boot: Count | None = None
    rated_w: Positive | None = None

    @model_validator(mode="after")
    def _needed_fits(self) -> Self:
        if max(self.needed, self.needed_to_boot or 0) > self.count:
            raise mistake("bad-psus", f"needs more supplies than the {self.count} it has", "correct needed or count")
        return self


class Fit(SpecModel):
    """
    How a device fits into a rack, and the air and coolant that it may be given. Every key is optional.

    `inlet_min_c` and `inlet_max_c` are what its document prints; where it prints a class only, `ashrae_class` says
    the same. `coolant_max_c` is the warmest coolant that may enter it.
    """

    depth_mm: Positive | None = None
    airflow: Airflow | None = None
    ashrae_class: AshraeClass | None = None
    inlet_min_c: float | None = None
    inlet_max_c: float | None = None
    coolant_max_c: Positive | None = None


class PowerShelves(SpecModel):
    """Power shelves of a rack-scale system: `count` shelves of `psus_each` supplies of `psu_w` watts."""

    count: Count
    psus_each: Count
    psu_w: Positive


class SystemGpus(SpecModel):
    """The GPUs of a system: how many of which model."""

    model: Annotated[str, refers_to("gpu")]
    count: Count


class SystemNic(SpecModel):
    """
    A network port of a system.

    `rail` is the index among the ports of its role that go to separate leaves, and `plane` the fabric's plane that it
    goes to; `gpu` is the index of the nearest GPU, and `numa` the index of the NUMA node that it hangs on.
    """

    rate_gbps: Positive
    role: NicRole
    rail: Annotated[int, Field(ge=0)] | None = None
    plane: Annotated[int, Field(ge=0)] = 0
    gpu: Annotated[int, Field(ge=0)] | None = None
    numa: Annotated[int, Field(ge=0)] | None = None


class System(Sourced, Fit, Draws):
    """
    A server model, or another device that stands in a rack.

    Powers are watts at the inlet, weights kilograms, heights rack units. `air_share` is the part of its heat that
    goes into room air; the rest goes into liquid. What boots nothing, as a power shelf, has no `architecture` and no
    `firmware`.
    """

    vendor: str
    description: str
    height_u: RackUnits | None = None
    max_power_w: Positive | None = None
    weight_kg: Positive | None = None
    air_share: Share | None = None
    psus: Psus | None = None
    power_shelves: PowerShelves | None = None
    gpus: SystemGpus | None = None
    adapters: dict[NicRole, Annotated[str, refers_to("adapter")]] = Field(default_factory=dict)
    """Adapter that the ports of a role are on, where a document says it: it has their form factor and their driver."""
    nics: dict[str, SystemNic] = Field(default_factory=dict)
    nvlink_domain: Literal["rack"] | None = None
    """What its GPUs share NVLink with beyond the system: all like systems of its rack."""
    boot_nic: str | None = None
    architecture: Literal["x86_64", "aarch64"] | None = None
    firmware: Literal["bios", "uefi"] | None = None

    @property
    def is_server(self) -> bool:
        """Tell whether it boots, so that it can be a node."""
        return self.architecture is not None and self.firmware is not None

    @model_validator(mode="after")
    def _boot_nic_exists(self) -> Self:
        if self.boot_nic is not None and self.boot_nic not in self.nics:
            fix = f"use one of {', '.join(self.nics)}" if self.nics else "list the port under nics"
            raise mistake("unknown-nic", f"boot_nic {self.boot_nic} is not one of the system's nics", fix)
        return self

    @model_validator(mode="after")
    def _nearest_gpus_exist(self) -> Self:
        count = self.gpus.count if self.gpus else 0
        wrong = sorted(name for name, nic in self.nics.items() if nic.gpu is not None and nic.gpu >= count)
        if wrong:
            what = f"nics {', '.join(wrong)} name a gpu that the system does not have"
            raise mistake("unknown-gpu", what, "correct gpu", f"{count} GPUs")
        return self

    def nics_of(self, role: NicRole) -> tuple[str, ...]:
        """Return the names of the ports of one role: by rail, then by name."""
        return tuple(sorted((n for n, nic in self.nics.items() if nic.role == role), key=self._rail_then_name))

    def _rail_then_name(self, name: str) -> tuple[int, str]:
        rail = self.nics[name].rail
        return (-1 if rail is None else rail, name)


class SonicPorts(SpecModel):
    """
    How SONiC numbers a block's ports: the number in a port's name, and the electrical lanes of the switch chip.

    Both count from the first port on, by `step` and by `lane_step` from one cage to the next; where lanes follow no
    step, `cage_lanes` has the first one of each cage. Both are left out where no platform file was read; then there is
    no configuration for SONiC. `alias` and, for a port that is broken out, `split_alias` are the names of the front.
    """

    first: Annotated[int, Field(ge=0)] = 0
    step: Count
    first_lane: Annotated[int, Field(ge=0)] = 0
    lane_step: Count | None = None
    cage_lanes: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list)
    alias: str = "etp{cage}"
    split_alias: str = "etp{cage}{letter}"

    def behind(self, cages: int) -> SonicPorts:
        """Return the numbers of what stands behind some cages."""
        lane = self.first_lane + cages * (self.lane_step or 0)
        update = {"first": self.first + cages * self.step, "first_lane": lane, "cage_lanes": self.cage_lanes[cages:]}
        return self.model_copy(update=update)

    def cage_lane(self, cage: int) -> int | None:
        """Return the first lane of a cage counted from 0; None where the catalog does not say."""
        if self.cage_lanes:
            return self.cage_lanes[cage] if cage < len(self.cage_lanes) else None
        return None if self.lane_step is None else self.first_lane + cage * self.lane_step


class PortBlock(SpecModel):
    """
    A run of like ports on a switch.

    `name` is a pattern with `{port}` (first number `first`), or `{cage}` and `{lane}` where a cage holds
    `ports_per_cage` ports, as OSFP cages do; `{serdes}` is the first electrical lane of a port in its cage, from 1, and
    `{sonic}` the number that SONiC gives it.
    """

    count: Count
    rate_gbps: Positive
    form_factor: FormFactor | None = None
    """What its cages take; None where no document says it."""
    name: str = "swp{port}"
    first: int = 1
    ports_per_cage: Count = 1
    first_lane: int = 1
    cage_step: Count = 1
    splits: list[Count] = Field(default_factory=list)
    """Numbers of ports that one port can be broken out into."""
    split_name: str = "swp{cage}s{lane}"
    """Pattern of the names of such ports; their lanes count from 0."""
    also_gbps: list[Positive] = Field(default_factory=list)
    """Lower rates that the port runs at too."""
    lanes: Count | None = None
    """Electrical lanes of a cage."""
    sonic: SonicPorts | None = None

    def port_name(self, index: int) -> str:
        """Return the name of the port at a place counted from 0 within the block."""
        cage, lane = divmod(index, self.ports_per_cage)
        return self.name.format(
            port=self.first + index,
            cage=self.first + cage * self.cage_step,
            lane=self.first_lane + lane,
            serdes=1 + lane * self.port_lanes,
            sonic=self._sonic_number(cage * self.cage_step, lane),
        )

    @property
    def port_lanes(self) -> int:
        """Return the electrical lanes of one port; 0 where the catalog does not say."""
        return (self.lanes or 0) // self.ports_per_cage

    def _sonic_number(self, cages: int, lane: int) -> int:
        if self.sonic is None:
            return 0
        return self.sonic.first + cages * self.sonic.step + lane * (self.sonic.step // self.ports_per_cage)

    def sonic_lanes(self, index: int) -> tuple[int, ...]:
        """Return the switch chip's lanes of a port as SONiC counts them; none where the catalog does not say."""
        cage, lane = divmod(index, self.ports_per_cage)
        start = self.sonic.cage_lane(cage * self.cage_step) if self.sonic else None
        if start is None:
            return ()
        first = start + lane * self.port_lanes
        return tuple(range(first, first + self.port_lanes))

    def sonic_alias(self, index: int) -> str | None:
        """Return the name of a port on the front, as SONiC's platform files write it; None where there is none."""
        if self.sonic is None:
            return None
        cage, lane = divmod(index, self.ports_per_cage)
        pattern = self.sonic.split_alias if self.ports_per_cage > 1 else self.sonic.alias
        number, serdes = self.first + cage * self.cage_step, 1 + lane * self.port_lanes
        return pattern.format(cage=number, letter=chr(ord("a") + lane), serdes=serdes, part=1 + lane)


class Lossless(SpecModel):
    """Lengths of cable for which SONiC's platform has a lossless buffer profile at a rate; it takes no other (F9)."""

    rate_gbps: Positive
    lengths_m: list[Positive] = Field(min_length=1)


class Switch(Sourced, Fit, Draws):
    """
    A switch model. `ports` lists its blocks in the order in which they are numbered.

    `ibdm_type` is the type of system that NVIDIA's InfiniBand tools know it as in topology files.
    """

    vendor: str
    ibdm_type: str | None = None
    kind: Literal["infiniband", "ethernet"]
    height_u: RackUnits
    ports: list[PortBlock] = Field(min_length=1)
    max_power_w: Positive | None = None
    weight_kg: Positive | None = None
    psus: Psus | None = None
    management_port: str | None = None
    management_gbps: Positive | None = None
    max_mtu_bytes: Bytes | None = None
    lossless: list[Lossless] = Field(default_factory=list)
    """Empty where no such table was read, or where the platform works the profiles out from the length."""
    network_os: list[NetworkOs] = Field(default_factory=list)
    """
    Operating systems that its document or their sources say it runs; a fabric that chooses none gets the first.
    """

    @property
    def port_count(self) -> int:
        """Count all ports."""
        return sum(block.count for block in self.ports)

    def port_names(self) -> tuple[str, ...]:
        """Name every port, in order."""
        return tuple(block.port_name(index) for block in self.ports for index in range(block.count))

    def block_of(self, index: int) -> tuple[PortBlock, int]:
        """Return block, and place within it, of the port at a place counted from 0; past the end, the last block's."""
        for block in self.ports[:-1]:
            if index < block.count:
                return block, index
            index -= block.count
        return self.ports[-1], index

    def port_name(self, index: int) -> str:
        """Name the port at a place counted from 0; a place past the end is named too, and a check tells of it."""
        block, within = self.block_of(index)
        return block.port_name(within)


class Gpu(Sourced):
    """
    A GPU model.

    `module_power_w` is one module, not a node. `link` is what GPUs of one system talk over, and `link_bytes_per_s` all
    links of one GPU with both directions together, as vendors print it: one direction has half of it.
    """

    vendor: str
    module_power_w: Positive | None = None
    memory_bytes: Bytes | None = None
    memory_bytes_per_s: Positive | None = None
    link: str | None = None
    link_bytes_per_s: Positive | None = None
    host_modules: list[str] = Field(default_factory=list)
    """Kernel modules that its driver's services need on the host, where a document names some."""


class Nic(Sourced):
    """A network adapter model. `rate_gbps` is one port; `max_power_w` one adapter without what is plugged into it."""

    vendor: str
    description: str = ""
    rate_gbps: Positive
    ports: Count
    kinds: list[Literal["infiniband", "ethernet"]]
    form_factors: list[FormFactor] = Field(default_factory=list)
    """What its cages take."""
    max_power_w: Positive | None = None
    driver: str | None = None
    """Kernel module that drives it; reloading it takes down every port that it drives."""


class Catalog(SpecModel):
    """All hardware facts that a site can name: the built-in catalog, with the site's own entries over it."""

    systems: dict[str, System] = Field(default_factory=dict)
    switches: dict[str, Switch] = Field(default_factory=dict)
    gpus: dict[str, Gpu] = Field(default_factory=dict)
    nics: dict[str, Nic] = Field(default_factory=dict)
    optics: dict[str, Optic] = Field(default_factory=dict)
    cables: dict[str, Cable] = Field(default_factory=dict)
    pdus: dict[str, RackPdu] = Field(default_factory=dict)
    power_shelves: dict[str, PowerShelf] = Field(default_factory=dict)
    ups: dict[str, Ups] = Field(default_factory=dict)
    cdus: dict[str, Cdu] = Field(default_factory=dict)
    rear_doors: dict[str, RearDoorExchanger] = Field(default_factory=dict)
    acceptance: dict[str, AcceptanceLimits] = Field(default_factory=dict)
