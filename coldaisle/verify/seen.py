"""
What a file of neighbours tells, before anybody asks what it means.

Every format is read into these records, so that the comparison knows none of them. Nothing is made up here: what a
file leaves out is None or empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Protocol = Literal["lldp", "ib"]

BAD_TEXT = "\N{REPLACEMENT CHARACTER}"
"""Stands where a file held bytes that are no UTF-8."""

_MAC_DIGITS = 12
_GUID_DIGITS = 16
_GUID_MIDDLES = ("0300", "fffe", "0003")
"""What adapters put into the middle of a MAC to make a GUID of it."""


@dataclass(frozen=True, slots=True)
class Told:
    """
    A device, or a port of it, as somebody tells of it.

    `ports` are names that the port may have, the surest one first. `number` is an InfiniBand switch's port number, and
    `guid` the GUID of such a switch or of an adapter's port, as 0x and 16 digits.
    """

    name: str | None = None
    ports: tuple[str, ...] = ()
    macs: tuple[str, ...] = ()
    number: int | None = None
    guid: str | None = None

    @property
    def label(self) -> str:
        """Name it in words, as well as it is known."""
        return self.name or (self.macs[-1] if self.macs else "a device without a name")

    @property
    def port_label(self) -> str:
        """Name the port in words, as well as it is known."""
        known = [*self.ports, *([] if self.number is None else [str(self.number)]), *self.macs]
        return known[0] if known else "?"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One link, seen from one end."""

    local: Told
    remote: Told


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What one file tells.

    `speakers` are the devices that it tells the neighbours of. `whole` is false where the file, or the table that it
    shows, ends early: what it does not name may be there all the same. `notes` say what was dropped, and why.
    """

    source: str
    protocol: Protocol
    speakers: tuple[Told, ...]
    neighbours: tuple[Neighbour, ...]
    whole: bool = True
    notes: tuple[str, ...] = ()


def as_mac(text: str) -> str | None:
    """Return a MAC address in its common form, from any usual one (colons, dashes, dots); None when it is none."""
    digits = re.sub(r"[:.\-]", "", text.strip().lower())
    if len(digits) != _MAC_DIGITS or not re.fullmatch("[0-9a-f]+", digits) or digits == text.strip().lower():
        return None
    return _with_colons(digits)


def guid_mac(guid: str) -> str | None:
    """Return the MAC that an adapter's port GUID was made of; None when it was made otherwise."""
    digits = guid.lower().removeprefix("0x")
    if len(digits) != _GUID_DIGITS or digits[6:10] not in _GUID_MIDDLES:
        return None
    return _with_colons(digits[:6] + digits[10:])


def _with_colons(digits: str) -> str:
    return ":".join(digits[at : at + 2] for at in range(0, _MAC_DIGITS, 2))
