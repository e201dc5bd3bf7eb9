"""
Optics and cables of the catalog, by what they reach.

A link is a cable with its plugs on, or two transceivers with fibre between them. A cabling plan picks by rate, form
factor and reach, and a switch's budget counts the watts of what is plugged into it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from coldaisle.spec.sourced import Count, Positive, Sourced

FormFactor = Literal[
    "osfp", "osfp-flat-top", "qsfp112", "qsfp-dd", "qsfp56", "qsfp28", "sfp28", "rj45", "mpo-12-apc", "lc-duplex"
]
"""What a plug fits into. OSFP cages of adapters with a heat sink of their own take flat-top modules only."""

LinkKind = Literal["infiniband", "ethernet"]
Watts = Annotated[float, Field(ge=0)]


class Optic(Sourced):
    """
    A transceiver.

    `rate_gbps` is the whole module; `ports` is how many links of an equal part of it leave it, each with a connector
    of its own. `power_w` is one module at most, `typical_power_w` in use. `reach_m` is the longest fibre on which its
    document promises the rate.
    """

    vendor: str
    description: str
    rate_gbps: Positive
    form_factor: FormFactor
    ports: Count = 1
    fibre: Literal["multimode", "single-mode"]
    connector: Literal["mpo-12-apc", "mpo-12-upc", "mpo-16-apc", "lc-duplex"]
    reach_m: Positive
    power_w: Positive | None = None
    typical_power_w: Positive | None = None
    kinds: list[LinkKind] = Field(min_length=1)


class Cable(Sourced):
    """
    A cable: copper or optical with its plugs on, or fibre to put between two transceivers.

    `power_w` is what one end draws from its port at most. `far_ends` of `far_form_factor` is a splitter. `lengths_m`
    are the lengths that are made; without them any length up to `reach_m` is.
    """

    vendor: str
    description: str
    medium: Literal["passive-copper", "active-copper", "active-optical", "multimode", "single-mode", "twisted-pair"]
    rate_gbps: Positive
    form_factor: FormFactor
    far_form_factor: FormFactor | None = None
    far_ends: Count = 1
    reach_m: Positive
    lengths_m: list[Positive] = Field(default_factory=list)
    power_w: Watts | None = None
    kinds: list[LinkKind] = Field(min_length=1)
