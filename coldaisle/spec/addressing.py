"""Address pools and autonomous system numbers of a site."""

from __future__ import annotations

import ipaddress
from typing import Self

from pydantic import Field, model_validator

from coldaisle.spec.base import Address, SpecModel, Subnet, mistake


class AddressPool(SpecModel):
    """A subnet that addresses are handed out of, from `first` upwards."""

    subnet: Subnet
    first: Address | None = None
    """First address handed out; left out, the first host address of the subnet."""
    gateway: Address | None = None

    @model_validator(mode="after")
    def _inside(self) -> Self:
        network = ipaddress.ip_network(self.subnet)
        for key, value in (("first", self.first), ("gateway", self.gateway)):
            if value is not None and ipaddress.ip_address(value) not in network:
                fix = f"give an address inside of {self.subnet}"
                raise mistake("address-outside-pool", f"{key} {value} is not in {self.subnet}", fix)
        return self


class AsnSpec(SpecModel):
    """Autonomous system numbers: one for all spines, one for each leaf from `leaf_first` upwards (RFC 7938)."""

    spine: int = Field(ge=1, le=4294967294)
    leaf_first: int = Field(ge=1, le=4294967294)


class AddressingSpec(SpecModel):
    """Where each kind of address comes from."""

    bmc: AddressPool | None = None
    management: AddressPool
    switches: AddressPool | None = None
    loopbacks: AddressPool | None = None
    fabric_links: AddressPool | None = None
    asn: AsnSpec | None = None
