"""The facility as people write it: halls, rows and racks, with the power chain and the cooling that they use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from coldaisle.spec.base import Name, RackRef, SpecModel, SystemRef, mistake
from coldaisle.spec.catalog import Airflow, Count, Positive
from coldaisle.spec.cooling import Cooling, Density, Floor, HallAir, Overheads, RearDoor
from coldaisle.spec.power import Power, PowerFeed
from coldaisle.spec.ranges import RangeError, expand
from coldaisle.spec.sourced import RackUnits


class Rack(SpecModel):
    """A rack, or racks that are alike, named in a range."""

    name: str
    height_u: RackUnits
    max_weight_kg: Positive | None = None
    """Weight of the devices that the rack carries."""
    empty_weight_kg: Positive | None = None
    """Weight of the rack itself, with its PDUs, manifolds and rear door, for the load on the floor."""
    floor_limit_kg_m2: Positive | None = None
    """What the floor carries here; left out, the hall's `floor.limit_kg_m2`."""
    depth_mm: Positive | None = None
    """Outer depth, for the load on the floor."""
    usable_depth_mm: Positive | None = None
    """Room for devices, between the front rails and what hangs at the rear."""
    cooling: Name | None = None
    """What takes the heat that goes into air: a name under `cooling`."""
    liquid_cooling: Name | None = None
    """What takes the heat that goes into liquid."""
    second_liquid_cooling: Name | None = None
    """A second loop of a rack that is piped to two: they share its heat, and either takes all when the other is out."""
    rear_door: RearDoor | None = None
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
            raise mistake(
                "bad-range", f"rack name {value}: {error}", "write the lower number first, then the last that there is"
            ) from None
        return value

    @field_validator("power_feeds")
    @classmethod
    def _feed_names_differ(cls, value: list[PowerFeed]) -> list[PowerFeed]:
        names = [feed.name for feed in value]
        for name in sorted({name for name in names if names.count(name) > 1}):
            raise mistake("duplicate-name", f"two power feeds of one rack are named {name}", "give each its own name")
        return value

    @model_validator(mode="after")
    def _two_loops_are_two(self) -> Self:
        second = self.second_liquid_cooling
        if second is not None and self.liquid_cooling in {None, second}:
            first = "is the first one too" if self.liquid_cooling else "has no first one beside it"
            fix = "name the first loop in liquid_cooling and the other in second_liquid_cooling"
            raise mistake("second-loop", f"the second loop {second} {first}", fix)
        return self


class Row(SpecModel):
    """A row of racks. `offset_m` is its distance from the hall's cable entry, across the rows."""

    name: Name
    offset_m: Annotated[float, Field(ge=0)] | None = None
    racks: list[Rack]


class Hall(SpecModel):
    """A room with rows of racks."""

    name: Name
    rows: list[Row]
    air: HallAir = HallAir()
    floor: Floor | None = None

    @field_validator("rows")
    @classmethod
    def _row_names_differ(cls, value: list[Row]) -> list[Row]:
        once([row.name for row in value], "rows of one hall")
        return value


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
    airflow: Airflow | None = None
    """Which way it moves air as it is mounted here, over what the catalog says."""


def once(names: list[str], things: str) -> None:
    """Raise a mistake when two things have one name."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise mistake("duplicate-name", f"two {things} are named {name}", "give each its own name")


class FacilitySpec(SpecModel):
    """The section `facility`."""

    halls: list[Hall] = Field(min_length=1)
    power: Power
    cooling: list[Cooling] = Field(default_factory=list)
    density: Density = Density()
    overheads: Overheads = Overheads()
    altitude_m: Annotated[float, Field(ge=0, le=6000)] = 0.0
    """Height above the sea: thinner air carries less heat."""
    airflow: dict[str, Airflow] = Field(default_factory=dict)
    """
    Which way the devices of a model move air as they are mounted here, over what the catalog says: switches are ordered
    with fans of either direction, and mounted with their ports to the front or to the rear.
    """
    cabling: Cabling = Cabling()
    devices: list[PlacedDevice] = Field(default_factory=list)

    @field_validator("cooling")
    @classmethod
    def _cooling_names_differ(cls, value: list[Cooling]) -> list[Cooling]:
        once([cooling.name for cooling in value], "sets of cooling units")
        return value

    @field_validator("halls")
    @classmethod
    def _hall_names_differ(cls, value: list[Hall]) -> list[Hall]:
        once([hall.name for hall in value], "halls")
        return value


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
    air: HallAir
    floor: Floor | None


def placed_racks(facility: FacilitySpec) -> tuple[PlacedRack, ...]:
    """Return every rack, ranges written out, sorted by name; a name given twice is there twice."""
    return tuple(sorted(_walk(facility), key=lambda rack: rack.name))


def _walk(facility: FacilitySpec) -> Iterator[PlacedRack]:
    for hall_at, hall in enumerate(facility.halls):
        for row_at, row in enumerate(hall.rows):
            for rack_at, rack in enumerate(row.racks):
                path = ("facility", "halls", hall_at, "rows", row_at, "racks", rack_at)
                for index, name in enumerate(expand(rack.name)):
                    yield PlacedRack(name, hall.name, row.name, rack, path, index, row.offset_m, hall.air, hall.floor)
