"""
Node pools: which systems stand where, what they run, and what they are for.

A pool lists its nodes by name, in ranges where they repeat. `placed_nodes` writes them out, one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from coldaisle.spec.acceptance import AcceptanceSpec
from coldaisle.spec.base import Name, SpecModel, SystemRef, check_name, mistake, refers_to
from coldaisle.spec.bmc import BmcSettings
from coldaisle.spec.firmware import FirmwareSpec
from coldaisle.spec.host_settings import GpuSpec, OsSpec, RdmaSpec
from coldaisle.spec.install import InstallSpec
from coldaisle.spec.power import PowerCap, ShelfRedundancy
from coldaisle.spec.ranges import RangeError, expand, expand_with, ranges_of
from coldaisle.spec.rollout import RolloutSpec


def _counts_up(pattern: str) -> str:
    try:
        expand(pattern)
    except RangeError as error:
        raise mistake(
            "bad-range", f"{pattern}: {error}", "write the lower number first, then the last that there is"
        ) from None
    return pattern


NodePattern = Annotated[str, AfterValidator(_counts_up)]
"""A node's name, or names in ranges."""


class Place(SpecModel):
    """Where the nodes of one line stand."""

    rack: str
    """Rack, or racks in a range that walks along with the names' range."""
    rack_unit: int | list[int] = Field(union_mode="left_to_right")
    """Lowest rack unit; a list gives one for each value of the names' range that the rack does not follow."""
    without: list[str] = Field(default_factory=list)
    """Names of the range that are left out."""

    @field_validator("rack")
    @classmethod
    def _rack_is_known(cls, value: str, info: ValidationInfo) -> str:
        for rack in expand(_counts_up(value)):
            check_name("rack", rack, info)
        return value


class PoolSpec(SpecModel):
    """A group of like nodes."""

    system: Annotated[SystemRef, refers_to("server")]
    role: Literal["training", "serving"]
    nodes: dict[NodePattern, Place] = Field(default_factory=dict)
    """Node name, or names in ranges, to the place."""
    count: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """How many nodes the pool shall have; `coldaisle place` proposes where those go that stand nowhere yet."""
    image: Annotated[str, refers_to("image")] | None = None
    boot: Literal["network", "image-installed"] = "image-installed"
    install: InstallSpec | None = None
    """Where an image with an installer is installed to."""
    secure_boot: bool = False
    """The firmware starts signed programs only."""
    rdma: RdmaSpec | None = None
    gpu: GpuSpec | None = None
    power_cap: PowerCap | None = None
    """Limit that the nodes are set to, and that the ledgers count instead of the catalog's maximum."""
    shelf_redundancy: ShelfRedundancy | None = None
    """What may fail of the power shelves of a rack-scale system; it has no default, and such a system needs it."""
    os: OsSpec = OsSpec()
    bmc: BmcSettings = BmcSettings()
    firmware: list[FirmwareSpec] = Field(default_factory=list)
    """Firmware of the nodes in the order in which it is updated; what is left out is left alone."""
    rollout: RolloutSpec | None = None
    """How changes go through the pool; left out, through all of its nodes at once."""
    acceptance: AcceptanceSpec | None = None
    """Acceptance as a part of `up`; left out, it runs by `coldaisle accept` only, and nothing waits for it."""
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[str] | None = None
    """Kubernetes taints `key=value:Effect`; left out, a training pool is tainted with its role."""

    @field_validator("nodes")
    @classmethod
    def _ranges_fit(cls, value: dict[str, Place]) -> dict[str, Place]:
        for pattern, place in value.items():
            try:
                _placements("", "", pattern, place)
            except RangeError as error:
                fix = "give names, rack and rack_unit ranges that fit each other"
                raise mistake("bad-range", f"nodes {pattern}: {error}", fix) from None
        return value

    @model_validator(mode="after")
    def _says_how_many(self) -> Self:
        if not self.nodes and self.count is None:
            what, fix = "the pool has no nodes", "give nodes, or count and then places from `coldaisle place`"
            raise mistake("missing-key", what, fix, "neither nodes nor count")
        return self


NodePoolsSpec = dict[Name, PoolSpec]


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """One node of a pool, written out. `key` is the line of the spec that it comes from."""

    name: str
    pool: str
    system: str
    rack: str
    rack_unit: int
    key: str


def _rack_units(pattern: str, place: Place, count: int) -> tuple[int, ...]:
    """Return a rack unit for each name of a pattern."""
    if isinstance(place.rack_unit, int):
        return (place.rack_unit,) * count
    units = place.rack_unit
    rack_ranges = list(ranges_of(place.rack))
    free = [values for values in ranges_of(pattern) if values not in rack_ranges]
    if not free or len(free[-1]) != len(units) or ranges_of(pattern)[-1] != free[-1]:
        raise RangeError(
            f"{len(units)} rack units, but the last range of the names has another length or follows the rack"
        )
    return tuple(units) * (count // len(units))


def _placements(pool: str, system: str, pattern: str, place: Place) -> tuple[PlacedNode, ...]:
    pairs = expand_with(pattern, place.rack)
    units = _rack_units(pattern, place, len(pairs))
    left_out = set(place.without)
    return tuple(
        PlacedNode(name, pool, system, rack, unit, pattern)
        for (name, rack), unit in zip(pairs, units, strict=True)
        if name not in left_out
    )


def placed_nodes(pools: Mapping[str, PoolSpec]) -> tuple[PlacedNode, ...]:
    """Return every node of every pool, sorted by name; a name given twice is there twice."""
    nodes = [
        node
        for pool_name, pool in pools.items()
        for pattern, place in pool.nodes.items()
        for node in _placements(pool_name, pool.system, pattern, place)
    ]
    return tuple(sorted(nodes, key=lambda node: (node.name, node.pool)))
