"""
The facility as people write it: halls, rows, racks, the power chain from the utility to each feed, and cooling.

Volts say what they are measured against, because a three-phase feed of the same number carries 1.73 times as much when
the number is line to neutral.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from coldaisle.spec.base import Name, RackRef, SpecModel, SystemRef, mistake
from coldaisle.spec.catalog import Count, Positive
from coldaisle.spec.ranges import RangeError, expand

VoltageReference = Literal["line-to-line", "line-to-neutral"]
Derating = Annotated[float, Field(gt=0, le=1)]


class PowerFeed(SpecModel):
    """One circuit from a panel to a rack."""

    name: Name
    voltage_v: Positive
    voltage_reference: VoltageReference
    """What the volts are measured against; a three-phase feed carries sqrt(3) or 3 times volts by amps."""
    phases: Literal[1, 3]
    breaker_a: Positive
    derating: Derating | None = None
    """Part of the breaker's rating for continuous load; left out, `power.derating`."""
    power_factor: Annotated[float, Field(gt=0, le=1)] = 1.0
    upstream: Name | None = None
    """What feeds the circuit: a name under `power.upstream`."""


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


class UpstreamPower(SpecModel):
    """
    Something that feeds racks or other parts of the chain: utility, transformer, UPS, panel, PDU.

    `allocated_w` is a draw set by hand; it replaces the sum of what hangs below, as an operator's allocation does.
    """

    name: Name
    kind: Literal["utility", "generator", "transformer", "ups", "panel", "busway", "pdu"]
    capacity_w: Positive
    fed_by: Name | None = None
    allocated_w: Annotated[float, Field(ge=0)] | None = None


class Power(SpecModel):
    """The power chain above the racks."""

    derating: Derating
    """Part of a breaker's rating that may be drawn continuously."""
    upstream: list[UpstreamPower] = Field(default_factory=list)


class Cooling(SpecModel):
    """
    Air handlers or coolant units that are alike and share a load.

    `redundant` is how many of `units` may fail: 1 is N+1.
    """

    name: Name
    kind: Literal["air", "liquid"]
    units: Count
    capacity_w_each: Positive
    redundant: Annotated[int, Field(ge=0)] = 0
    temperature_rise_k: Positive | None = None
    """Rise of air or coolant from inlet to outlet, which flow is computed from."""

    @field_validator("redundant")
    @classmethod
    def _some_unit_is_left(cls, value: int, info: ValidationInfo) -> int:
        units = info.data.get("units", value + 1)
        if value >= units:
            raise mistake("bad-redundancy", f"{value} of {units} units are spare, so none is left", "lower redundant")
        return value


class Density(SpecModel):
    """What the hall's air can take from one rack before a reader should be told."""

    air_limit_w: Positive = 30_000.0
    """About 30 kW a rack is the usual limit of air; vendors publish more, so passing it is a warning."""


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
