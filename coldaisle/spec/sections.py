"""The sections of a site's spec, and the spec as a whole once it is valid."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from coldaisle.spec.addressing import AddressingSpec
from coldaisle.spec.base import Address, Name, SpecModel
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.cluster import ClusterSpec, GpuStackSpec
from coldaisle.spec.execution import ExecutionSpec
from coldaisle.spec.fabrics import FabricSpec
from coldaisle.spec.facility import FacilitySpec, PlacedRack, placed_racks
from coldaisle.spec.hardware import HardwareSpec
from coldaisle.spec.health import HealthSpec
from coldaisle.spec.journal import Journal
from coldaisle.spec.marks import Loc, Marks
from coldaisle.spec.node_pools import NodePoolsSpec, PlacedNode, placed_nodes
from coldaisle.spec.provisioning import ProvisioningSpec
from coldaisle.spec.serving import AutoscalingSpec, ServingSpec
from coldaisle.spec.site import SiteSection
from coldaisle.spec.subnet import SwitchHardwareSpec


class Sections(SpecModel):
    """A site's spec: one top-level key a section. A site needs only the sections that it uses."""

    site: SiteSection
    facility: FacilitySpec
    fabrics: dict[Name, FabricSpec] = Field(default_factory=dict)
    addressing: AddressingSpec
    node_pools: NodePoolsSpec
    hardware: HardwareSpec = Field(default_factory=dict)
    switch_hardware: SwitchHardwareSpec = Field(default_factory=dict)
    provisioning: ProvisioningSpec | None = None
    cluster: ClusterSpec | None = None
    gpu: GpuStackSpec | None = None
    serving: ServingSpec | None = None
    autoscaling: AutoscalingSpec | None = None
    health: HealthSpec | None = None
    execution: ExecutionSpec | None = None


class Allocations(SpecModel):
    """What plans have handed out: addresses by name, and other kinds that the fabrics number."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    __pydantic_extra__: dict[str, dict[str, str]]

    management: dict[str, Address] = Field(default_factory=dict)
    bmc: dict[str, Address] = Field(default_factory=dict)
    switches: dict[str, Address] = Field(default_factory=dict)


SECTION_TYPES: dict[str, Any] = {name: info.annotation for name, info in Sections.model_fields.items()}
REQUIRED = tuple(name for name, info in Sections.model_fields.items() if info.is_required())


@dataclass(frozen=True)
class SiteSpec:
    """
    A valid spec: its sections, the catalog that it names systems of, and where each value stands.

    `allocations` is what earlier plans handed out (allocations.yaml), by kind and name, and `allocation_marks` where
    it stands. `journal` has the states of the nodes (nodes.jsonl).
    """

    folder: Path
    sections: Sections
    catalog: Catalog
    marks: Marks
    catalog_marks: tuple[Marks, ...]
    allocations: dict[str, dict[str, str]] = field(default_factory=dict)
    allocation_marks: Marks = field(default_factory=lambda: Marks(""))
    journal: Journal = field(default_factory=Journal)

    @property
    def site(self) -> SiteSection:
        """Name, domain, clock and credentials."""
        return self.sections.site

    @property
    def facility(self) -> FacilitySpec:
        """Racks, power and cooling."""
        return self.sections.facility

    @property
    def fabrics(self) -> dict[str, FabricSpec]:
        """Fabrics by name."""
        return self.sections.fabrics

    @property
    def addressing(self) -> AddressingSpec:
        """Address pools and ASNs."""
        return self.sections.addressing

    @property
    def node_pools(self) -> NodePoolsSpec:
        """Pools by name."""
        return self.sections.node_pools

    @property
    def hardware(self) -> HardwareSpec:
        """The delivery list, by node name."""
        return self.sections.hardware

    @property
    def switch_hardware(self) -> SwitchHardwareSpec:
        """The delivery list of switches, by name."""
        return self.sections.switch_hardware

    @property
    def provisioning(self) -> ProvisioningSpec | None:
        """The host that nodes boot from."""
        return self.sections.provisioning

    @property
    def execution(self) -> ExecutionSpec | None:
        """Machines that run playbooks for the halls near them."""
        return self.sections.execution

    @property
    def cluster(self) -> ClusterSpec | None:
        """The Kubernetes cluster."""
        return self.sections.cluster

    @property
    def gpu(self) -> GpuStackSpec | None:
        """The operators of the GPU stack."""
        return self.sections.gpu

    @property
    def serving(self) -> ServingSpec | None:
        """Model endpoints."""
        return self.sections.serving

    @property
    def autoscaling(self) -> AutoscalingSpec | None:
        """The scale of the endpoints."""
        return self.sections.autoscaling

    @property
    def health(self) -> HealthSpec | None:
        """Answers to what nodes tell of their health; without the section, the defaults."""
        return self.sections.health

    @cached_property
    def nodes(self) -> tuple[PlacedNode, ...]:
        """Every node of every pool, sorted by name; a name that is given twice is there twice."""
        return placed_nodes(self.node_pools)

    @cached_property
    def racks(self) -> tuple[PlacedRack, ...]:
        """Every rack of every hall, sorted by name; a name that is given twice is there twice."""
        return placed_racks(self.facility)

    @cached_property
    def racks_by_name(self) -> dict[str, PlacedRack]:
        """Every rack by its name; of two that share one, the last."""
        return {rack.name: rack for rack in self.racks}

    def catalog_where(self, *loc: str | int) -> str:
        """Return `file:line:column` of a catalog entry, such as ("systems", "dgx-h100"); the site's own file wins."""
        for marks, full in ((self.marks, ("catalog", *loc)), *((marks, loc) for marks in self.catalog_marks)):
            if marks.existing(full) == full:
                return marks.where(full, key=True)
        return ""

    def allocation_where(self, kind: str, name: str) -> str | None:
        """Return `file:line:column` of what allocations.yaml says of a name, or None where it says nothing."""
        return self.allocation_marks.where((kind, name)) if name in self.allocations.get(kind, {}) else None

    def where(self, loc: Loc) -> str:
        """Return `file:line:column` of a value of the spec."""
        return self.marks.where(loc)
