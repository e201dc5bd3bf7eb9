"""What the BMCs of a pool are told besides the boot device and power; what is left out is left alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from coldaisle.spec.base import SpecModel

BiosValue = StrictBool | StrictInt | str
"""A value of an attribute: the BIOS's own registry says which type it has, and a run checks that before it asks."""


class BmcSettings(SpecModel):
    """Settings that Redfish knows and IPMI does not."""

    boot_mode: bool = False
    """Whether the firmware is set to the mode that the catalog has for the system (its `firmware`)."""
    secure_boot: bool | None = None
    """Whether UEFI checks signatures of what it boots."""
    boot_nic: bool = False
    """Whether the port that the system boots from comes before other ports in the boot order, by its MAC address."""
    boot_override: Literal["none"] | None = None
    """`none` takes away an override that somebody has left."""
    virtual_media: Annotated[str, Field(pattern=r"^(none|https?://\S+)$")] | None = None
    """The image in the virtual drive by its URL, or `none` for an empty drive."""
    bios: dict[str, BiosValue] = Field(default_factory=dict)
    """Attributes of the BIOS by the vendor's names; a number that Supermicro puts behind a name may be left out."""
