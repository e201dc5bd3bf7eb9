"""Firmware that a pool pins: items of a BMC's inventory, each with its version and the image that brings it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coldaisle.spec.base import SpecModel
from coldaisle.spec.provisioning import Sha256

ImageUrl = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S+$")]


class FirmwareSpec(SpecModel):
    """One item of the firmware inventory of a pool's nodes."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    """Its id below UpdateService/FirmwareInventory of the BMC, such as BMC or BIOS."""
    version: str = Field(min_length=1)
    """The version that the BMC shows, to the letter."""
    image: ImageUrl
    """Where BMCs fetch the image."""
    sha256: Sha256
    target: str | None = None
    """What SimpleUpdate is given as its target; left out, the item of the inventory."""
