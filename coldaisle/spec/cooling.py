"""Cooling as people write it: air handlers and coolant units, and what air can take from one rack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from coldaisle.spec.base import Name, SpecModel, mistake
from coldaisle.spec.catalog import Count, Positive


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
