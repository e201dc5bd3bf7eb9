"""What a device draws beside its maximum: usually, for milliseconds, at start-up, and with which power factor."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.base import SpecModel
from coldaisle.spec.sourced import Positive

Draw = Positive | Literal["not-applicable"] | None
"""Watts; `not-applicable` where a document says that there is no such draw, so that the maximum counts."""


class Draws(SpecModel):
    """
    Draws of a device in watts at its inlet, beside its maximum. Each is optional.

    What is left out is not known, unless the site has a rule for it (`facility.power.draw_rules`).
    """

    typical_power_w: Positive | None = None
    transient_power_w: Draw = None
    startup_power_w: Draw = None
    power_factor: Annotated[float, Field(gt=0, le=1)] | None = None
