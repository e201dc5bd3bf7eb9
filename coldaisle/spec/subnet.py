"""
The subnet of an InfiniBand fabric: how its manager routes, and which ports may talk to which.

A port is in a partition as a full member, which talks to all members, or as a limited one, which talks to full members
only. GUIDs are facts of what was delivered, and stand in `hardware` and `switch_hardware`.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from coldaisle.spec.base import Mac, Name, SpecModel, mistake, refers_to

DEFAULT_PKEY = 0x7FFF
"""P_Key of the partition that every subnet has (InfiniBand specification, section 10.9)."""

RoutingEngine = Literal["ftree", "updn", "minhop", "ar_updn", "ar_ftree"]
"""Engines for fat trees: the first three are opensm's own, and UFM's subnet manager has all but minhop too."""

PoolRef = Annotated[str, refers_to("pool")]


def _guid(text: str) -> str:
    digits = text.lower().removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9a-f]{16}", digits):
        what = "not a GUID: it has 16 hexadecimal digits"
        raise mistake("bad-value", what, 'write it in quotes, such as "0x0002c90300a1b2c3"', f'"{text}"')
    return f"0x{digits}"


Guid = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_guid)]
"""A GUID as labels and tools print it; it is kept with 0x before it and without colons."""


class PartitionSpec(SpecModel):
    """
    A partition of a subnet: a P_Key of 15 bits, and the pools whose nodes are members with all of their ports.

    `ipoib` makes the multicast group that IP over InfiniBand needs.
    """

    name: Name
    pkey: Annotated[int, Field(ge=1, lt=DEFAULT_PKEY)]
    ipoib: bool = True
    full: list[PoolRef] = Field(default_factory=list)
    limited: list[PoolRef] = Field(default_factory=list)


class SubnetSpec(SpecModel):
    """
    What the subnet manager of an InfiniBand fabric is told.

    The default engine is `ftree`, since every fabric of leaves and spines here is a fat tree and both opensm and UFM
    have it. With `partitions`, ports are only limited members of the default partition, so that those of two
    partitions do not meet there; without, all are full members, as they are without any file.
    """

    routing_engine: RoutingEngine = "ftree"
    partitions: list[PartitionSpec] = Field(default_factory=list)


class SwitchHardware(SpecModel):
    """One delivered switch: the MAC of its management port, and its GUID where it speaks InfiniBand."""

    mac: Mac | None = None
    guid: Guid | None = None


SwitchHardwareSpec = dict[str, SwitchHardware]
