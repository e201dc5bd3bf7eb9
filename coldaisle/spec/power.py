"""
The power chain as people write it, from the utility to each feed of a rack.

Volts say what they are measured against, because a three-phase feed of the same number carries 1.73 times as much when
the number is line to neutral.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.base import Name, SpecModel
from coldaisle.spec.catalog import Positive

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
