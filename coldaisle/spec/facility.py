"""The facility as people write it: halls, rows and racks, with the power chain and the cooling that they use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, field_validator

from coldaisle.spec.base import Name, RackRef, SpecModel, SystemRef, mistake
from coldaisle.spec.catalog import Count, Positive
from coldaisle.spec.cooling import Cooling, Density
from coldaisle.spec.power import Power, PowerFeed
from coldaisle.spec.ranges import RangeError, expand


class Rack(SpecModel):
    """A rack, or racks that are alike, named in a range."""

    name: str
    height_u: Count
    max_weight_kg: Positive | None = None
    cooling: Name | None = None
    """What takes the heat that goes into air: a name under `cooling`."""
    liquid_cooling: Name | None = None
    """What takes the heat that goes into liquid."""
    position_m: Annotated[float, Field(ge=0)] | None = None
    """Distance of the first rack from the head of the row, for cable lengths."""
    pitch_m: Positive = 0.6
    """Width of one rack in the row."""
    power_feeds: list[PowerFeed] = Field(min_length=1)

    @field_validator("name")
    @classmethod
    def _range_counts_up(cls, value: str) -> str:
        try:
            expand(value)
        except RangeError as error:
            raise mistake("bad-range", f"rack name {value}: {error}", "write the lower number first") from None
        return value

    @field_validator("power_feeds")
    @classmethod
    def _feed_names_differ(cls, value: list[PowerFeed]) -> list[PowerFeed]:
        names = [feed.name for feed in value]
        for name in sorted({name for name in names if names.count(name) > 1}):
            raise mistake("duplicate-name", f"two power feeds of one rack are named {name}", "give each its own name")
        return value


class Row(SpecModel):
    """A row of racks. `offset_m` is its distance from the hall's cable entry, across the rows."""

    name: Name
    offset_m: Annotated[float, Field(ge=0)] | None = None
    racks: list[Rack]


class Hall(SpecModel):
    """A room with rows of racks."""

    name: Name
    rows: list[Row]


class Cabling(SpecModel):
    """How cables run, for their lengths: up to a tray above the racks, along it, and down again."""

    tray_above_rack_m: Annotated[float, Field(ge=0)] = 0.5
    slack: Annotated[float, Field(ge=0)] = 0.1
    """Part of the length that is added for dressing and service loops."""


class PlacedDevice(SpecModel):
    """A device that no pool and no fabric places: a service host, storage, an appliance."""

    name: Name
    model: SystemRef
    rack: RackRef
    rack_unit: Count
    max_power_w: Positive | None = None
    """The draw that the site budgets for it, where the catalog has none."""


class FacilitySpec(SpecModel):
    """The section `facility`."""

    halls: list[Hall] = Field(min_length=1)
    power: Power
    cooling: list[Cooling] = Field(default_factory=list)
    density: Density = Density()
    cabling: Cabling = Cabling()
    devices: list[PlacedDevice] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlacedRack:
    """One rack written out. `path` leads to its line of the spec, and `index` counts within that line."""

    name: str
    hall: str
    row: str
    spec: Rack
    path: tuple[str | int, ...]
    index: int
    row_offset_m: float | None


def placed_racks(facility: FacilitySpec) -> tuple[PlacedRack, ...]:
    """Return every rack, ranges written out, sorted by name; a name given twice is there twice."""
    return tuple(sorted(_walk(facility), key=lambda rack: rack.name))


def _walk(facility: FacilitySpec) -> Iterator[PlacedRack]:
    for hall_at, hall in enumerate(facility.halls):
        for row_at, row in enumerate(hall.rows):
            for rack_at, rack in enumerate(row.racks):
                path = ("facility", "halls", hall_at, "rows", row_at, "racks", rack_at)
                for index, name in enumerate(expand(rack.name)):
                    yield PlacedRack(name, hall.name, row.name, rack, path, index, row.offset_m)
