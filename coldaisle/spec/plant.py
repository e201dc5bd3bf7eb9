"""
What stands between the building and the servers: rack PDUs, power shelves, UPS, coolant units, rear-door exchangers.

The figures are those that placement, power and cooling need of them. Capacities are what the vendor prints, at the
conditions that the entry names: derating and redundancy are the site's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.sourced import Count, Positive, RackUnits, Share, Sourced

HeightU = Annotated[int, Field(ge=0)]
"""Rack units; 0 where a device stands beside them, as a vertical PDU does."""


class RackPdu(Sourced):
    """
    A rack PDU. `outlets` counts them by type, and `banks` are the breakers between inlet and outlets.

    Volts say what they are measured against, as a feed's do; `capacity_w` is at `inlet_a` without derating.
    """

    vendor: str
    description: str
    inputs: Count = 1
    phases: Literal[1, 3]
    voltage_v: Positive
    voltage_reference: Literal["line-to-line", "line-to-neutral"]
    inlet_a: Positive
    capacity_w: Positive | None = None
    outlets: dict[Literal["c13", "c19", "c13-c19", "c39", "saf-d-grid"], Count] = Field(default_factory=dict)
    banks: Count | None = None
    bank_breaker_a: Positive | None = None
    height_u: HeightU | None = None
    weight_kg: Positive | None = None


class PowerShelf(Sourced):
    """
    A shelf of supplies for a rack's busbar.

    `capacity_w` is all of its supplies together: what may be used of it depends on how many are spare, which the site
    says.
    """

    vendor: str
    description: str
    height_u: RackUnits | None = None
    psus: Count
    psu_w: Positive
    capacity_w: Positive
    output_v: Positive | None = None
    efficiency: Share | None = None
    weight_kg: Positive | None = None


class Ups(Sourced):
    """A UPS. `efficiency` is watts out over watts in while it converts twice, and `module_w` one of its modules."""

    vendor: str
    description: str
    capacity_w: Positive
    module_w: Positive | None = None
    voltage_v: Positive | None = None
    voltage_reference: Literal["line-to-line", "line-to-neutral"] | None = None
    efficiency: Share | None = None
    weight_kg: Positive | None = None


class Cdu(Sourced):
    """
    A coolant distribution unit, liquid to liquid.

    `capacity_w` holds at `approach_k`, the difference between the coolant it gives and the water it gets, and at
    `flow_l_per_min` where the document names it. `height_u` is set for a unit that stands in a rack.
    """

    vendor: str
    description: str
    capacity_w: Positive
    approach_k: Positive | None = None
    flow_l_per_min: Positive | None = None
    head_kpa: Positive | None = None
    inputs: Count | None = None
    max_power_w: Positive | None = None
    height_u: RackUnits | None = None
    width_mm: Positive | None = None
    depth_mm: Positive | None = None
    weight_kg: Positive | None = None


class RearDoorExchanger(Sourced):
    """A heat exchanger in a rack's rear door: it takes the heat of one rack's air. An active one has fans."""

    vendor: str
    description: str
    active: bool
    capacity_w: Positive | None = None
    inputs: Count | None = None
    max_power_w: Positive | None = None
    depth_mm: Positive | None = None
    weight_kg: Positive | None = None
