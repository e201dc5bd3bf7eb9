"""
The power chain as people write it, from the utility to each feed of a rack, its breaker banks and their outlets.

Volts say what they are measured against, because a three-phase feed of the same number carries 1.73 times as much when
the number is line to neutral.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from coldaisle.spec.base import Name, SpecModel, mistake
from coldaisle.spec.catalog import Count, Positive, Share

VoltageReference = Literal["line-to-line", "line-to-neutral"]
Derating = Annotated[float, Field(gt=0, le=1)]
PowerFactor = Annotated[float, Field(gt=0, le=1)]
Phase = Literal["L1", "L2", "L3", "L1-L2", "L2-L3", "L3-L1", "L1-L2-L3"]
"""Conductors that a bank hangs on: one and the neutral, two, or all three."""
BankName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=63)]
"""A bank as it is printed on its PDU, such as A_1."""


class Bank(SpecModel):
    """
    Outlets behind one breaker of a rack's PDU.

    A bank with `rack_units` takes the supplies of the devices that stand there; one without takes what is left, and
    banks that may take a supply take turns.
    """

    name: BankName
    breaker_a: Positive
    phase: Phase | None = None
    """Left out, the bank's own load is known, and the phases of its feed are not."""
    rack_units: list[Count] = Field(default_factory=list)
    """Lowest and highest rack unit whose devices are plugged in here."""
    outlets: Count | None = None
    """How many supplies can be plugged in; left out, as many as come."""

    @field_validator("rack_units")
    @classmethod
    def _from_below_to_above(cls, value: list[int]) -> list[int]:
        if value and (len(value) != 2 or value[0] > value[1]):  # noqa: PLR2004 - lowest and highest
            raise mistake("bad-bank", f"rack_units {value} are no range", "give the lowest and the highest rack unit")
        return value


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
    power_factor: PowerFactor = 1.0
    upstream: Name | None = None
    """What feeds the circuit: a name under `power.upstream`."""
    pdu: str | None = None
    """The rack PDU of the catalog on this circuit, whose inlet, volts and banks the circuit is held to."""
    banks: list[Bank] = Field(default_factory=list)
    """Breakers of the rack's PDU between this circuit and the outlets."""

    @model_validator(mode="after")
    def _banks_fit(self) -> Self:
        names = [bank.name for bank in self.banks]
        for name in sorted({name for name in names if names.count(name) > 1}):
            raise mistake("duplicate-name", f"two banks of feed {self.name} are named {name}", "rename one")
        wrong = [bank.name for bank in self.banks if self.phases == 1 and bank.phase is not None]
        if wrong:
            what = f"feed {self.name} has one phase, and its banks {', '.join(wrong)} name theirs"
            raise mistake("bad-bank", what, "leave phase out, or correct phases")
        return self


UpstreamKind = Literal["utility", "generator", "transformer", "ups", "panel", "busway", "pdu", "sts"]


class UpstreamPower(SpecModel):
    """
    Something that feeds racks or other parts of the chain: utility, transformer, UPS, panel, PDU.

    `allocated_w` is a draw set by hand; it replaces the sum of what hangs below, as an operator's allocation does.
    """

    name: Name
    kind: UpstreamKind
    capacity_w: Positive
    """What it gives to what hangs below it, with all its units."""
    fed_by: Name | None = None
    allocated_w: Annotated[float, Field(ge=0)] | None = None
    units: Count = 1
    """Modules that make up the capacity together."""
    redundant: Annotated[int, Field(ge=0)] = 0
    """How many of the units may fail: 1 is N+1."""
    derating: Derating = 1.0
    """Part of the capacity that may be drawn continuously."""
    efficiency: Annotated[float, Field(gt=0, le=1)] | None = None
    """Power out by power in; left out, its losses are not counted."""
    heat_to: Name | None = None
    """What cools its losses: a name under `cooling`; left out, they count as nobody's heat."""
    model: str | None = None
    """The UPS of the catalog that its units are, whose rating they are held to."""
    catcher_for: list[Name] = Field(default_factory=list)
    """Parts that this one takes over for when any of them fails: the catcher of several UPS, or a generator."""

    @model_validator(mode="after")
    def _model_is_a_ups(self) -> Self:
        if self.model is not None and self.kind != "ups":
            what = f"{self.name} is a {self.kind}, and only a UPS names its model"
            raise mistake("unknown-model", what, "leave model out, or correct kind")
        return self

    @model_validator(mode="after")
    def _some_unit_is_left(self) -> Self:
        if self.redundant >= self.units:
            what = f"{self.redundant} of {self.units} units of {self.name} are spare, so none is left"
            raise mistake("bad-redundancy", what, "lower redundant")
        return self

    @property
    def usable_w(self) -> float:
        """Return what it may give continuously with its spare units out, in watts."""
        return self.capacity_w * (self.units - self.redundant) / self.units * self.derating


class DrawRules(SpecModel):
    """
    A site's rules for draws that the catalog has no figure of, each as a factor of the maximum.

    A factor of 1.0 says that a draw is the maximum; left out, it is not known.
    """

    typical: Share | None = None
    transient: Annotated[float, Field(ge=1)] | None = None
    """Excursions of milliseconds above the maximum."""
    startup: Positive | None = None
    """Power-on to the end of the self-tests."""


class Power(SpecModel):
    """The power chain above the racks."""

    derating: Derating
    """Part of a breaker's rating that may be drawn continuously."""
    upstream: list[UpstreamPower] = Field(default_factory=list)
    draw_rules: DrawRules = DrawRules()
    unbalance_limit: Share = 0.2
    """Difference between the most and the least loaded phase of a feed, as a part of what a phase may carry."""
    start_first: list[Name] = Field(default_factory=list)
    """Pools in the order in which they start after a blackout; the others follow together."""


ShelfRedundancy = Literal["none", "shelf", "supply"]
"""What may fail of a system's power shelves without loss: nothing, one whole shelf, or one supply of each shelf."""


class PowerCap(SpecModel):
    """
    A limit of power that a pool's nodes are set to.

    The scope has no default: 700 W for each GPU and 700 W for a whole node of eight are both written `700`.
    """

    watts: Positive
    scope: Literal["gpu", "node"]
