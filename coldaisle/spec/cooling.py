"""
Cooling as people write it: air handlers and coolant units, the air of a hall, and what the estimate of the PUE assumes.

Every assumption is a key with a default that is printed beside the figure that it leads to.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from coldaisle.spec.base import Name, SpecModel, mistake
from coldaisle.spec.catalog import Count, Positive, Share

Containment = Literal["none", "cold-aisle", "hot-aisle"]
Coolant = Literal["water", "pg25"]
"""Water, or water with a quarter of propylene glycol, which cold plates are mostly run with."""

BYPASS: dict[Containment, float] = {"none": 0.48, "cold-aisle": 0.05, "hot-aisle": 0.05}
"""
Part of the supplied air that returns without passing a device, where a hall does not say.

S: 48 % in the average room (Upsite, on bypass airflow); at most 5 % is asked of containment (Schneider Electric, on how
much containment is right).
"""


class Cooling(SpecModel):
    """
    Air handlers or coolant units that are alike and share a load.

    `redundant` is how many of `units` may fail: 1 is N+1. The flows and pumps of one unit are checked where they are
    given.
    """

    name: Name
    kind: Literal["air", "liquid"]
    units: Count
    capacity_w_each: Positive
    redundant: Annotated[int, Field(ge=0)] = 0
    temperature_rise_k: Positive | None = None
    """Rise of air or coolant from inlet to outlet, which flow is computed from."""
    supply_temp_c: float | None = None
    """Temperature of the air at the racks' inlets, or of the coolant that leaves the units."""
    airflow_cfm_each: Positive | None = None
    """Air that one unit moves."""
    coolant: Coolant | None = None
    """Left out, water."""
    coolant_l_min_each: Positive | None = None
    """Coolant that one unit moves with its spare pumps out."""
    pumps_each: Count | None = None
    redundant_pumps: Annotated[int, Field(ge=0)] | None = None
    """How many of a unit's pumps may fail without loss of flow."""
    model: str | None = None
    """The coolant unit of the catalog that these are, whose rating `capacity_w_each` is held to."""
    cop: Positive | None = None
    """Heat removed for each watt of chillers and dry coolers; left out, `overheads.cop`."""

    @field_validator("redundant")
    @classmethod
    def _some_unit_is_left(cls, value: int, info: ValidationInfo) -> int:
        units = info.data.get("units", value + 1)
        if value >= units:
            raise mistake("bad-redundancy", f"{value} of {units} units are spare, so none is left", "lower redundant")
        return value

    @model_validator(mode="after")
    def _keys_are_of_its_kind(self) -> Self:
        keys = ("airflow_cfm_each",) if self.kind == "liquid" else _OF_LIQUID
        wrong = [key for key in keys if getattr(self, key) is not None]
        if wrong:
            fix = "leave them out, or correct kind"
            raise mistake("cooling-kind", f"{self.name} is {self.kind} cooling, and has {', '.join(wrong)}", fix)
        return self

    @model_validator(mode="after")
    def _some_pump_is_left(self) -> Self:
        spare = self.redundant_pumps
        if spare is not None and self.pumps_each is None:
            fix = "give pumps_each, or leave redundant_pumps out"
            raise mistake("bad-redundancy", f"{self.name} has spare pumps, and no number of pumps", fix)
        if spare is not None and self.pumps_each is not None and spare >= self.pumps_each:
            what = f"{spare} of {self.pumps_each} pumps of a unit of {self.name} are spare, so none is left"
            raise mistake("bad-redundancy", what, "lower redundant_pumps")
        return self


_OF_LIQUID = ("model", "coolant", "coolant_l_min_each", "pumps_each", "redundant_pumps")


class RearDoor(SpecModel):
    """A heat exchanger in the rear door of a rack: it takes heat out of the rack's air, and gives it to a loop."""

    cooling: Name
    """The loop: a name under `cooling`, of kind liquid."""
    capacity_w: Positive
    """Heat that it takes at the loop's temperature and flow; what is more goes into the room."""
    model: str | None = None
    """The rear door of the catalog that it is, whose rating `capacity_w` is held to."""


class HallAir(SpecModel):
    """How cold and hot air are kept apart in a hall."""

    containment: Containment = "none"
    bypass: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Part of the supplied air that returns unused; left out, 0.48 without containment and 0.05 with it."""

    @property
    def bypass_share(self) -> float:
        """Return the part of the supplied air that returns unused."""
        return BYPASS[self.containment] if self.bypass is None else self.bypass


class Floor(SpecModel):
    """What a hall's floor carries."""

    limit_kg_m2: Positive
    aisle_m: Annotated[float, Field(ge=0)] = 0.0
    """
    Depth of the aisles before and behind a rack, halves together, whose floor carries it too. Left out, none: each rack
    rests on its own footprint.
    """


class Density(SpecModel):
    """What the hall's air can take from one rack before a reader should be told."""

    air_limit_w: Positive = 30_000.0
    """About 30 kW a rack is the usual limit of air; vendors publish more, so passing it is a warning."""


class Overheads(SpecModel):
    """
    What the estimate of the PUE assumes. The defaults are ours, for a first figure; each is printed beside it.

    `fan_w_per_cfm`: 0.5 is a pressure of 640 Pa through fans of 60 %. `pump_w_per_l_min`: 5 is a pressure of 200 kPa
    through pumps of 67 %. `cop`: 5 is 0.7 kW a ton of cooling, chillers and heat rejection together.
    """

    fan_w_per_cfm: Annotated[float, Field(ge=0)] = 0.5
    pump_w_per_l_min: Annotated[float, Field(ge=0)] = 5.0
    cop: Positive = 5.0
    lighting: Share = 0.01
    """Lighting and everything else of the halls, as a part of the IT power."""
    ups_efficiency: Annotated[float, Field(gt=0, le=1)] = 0.96
    """Power out by power in of each UPS of the chain that does not give its own."""
    transformer_efficiency: Annotated[float, Field(gt=0, le=1)] = 0.99
