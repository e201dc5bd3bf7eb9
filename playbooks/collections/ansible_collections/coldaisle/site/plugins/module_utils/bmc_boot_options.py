"""Boot options of a machine over Redfish: what each boots from, and which port it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Wire

NAMES = {"Pxe": "pxe", "UefiHttp": "pxe", "Hdd": "disk", "Cd": "cd", "UsbCd": "cd", "BiosSetup": "setup", "Usb": "usb"}
"""Redfish's boot sources in the plan's words."""

SIGNS = {
    "pxe": re.compile(r"\b((pxe|https?)(v[46])?|network|ipv[46]|nic|ethernet)\b|\bmac\("),
    "cd": re.compile(r"\b(cd/dvd|cd-?rom|optical|virtual cd)\b"),
    "shell": re.compile(r"\bshell\b"),
    "usb": re.compile(r"\busb"),
}
"""Words of the kind of a boot option in its name or UEFI path, for BMCs that give no alias; what has none is a disk."""

MAC_IN_PATH = re.compile(r"\bMAC\(([0-9A-F]{12})\b")
MAC_IN_NAME = re.compile(r"(?<![0-9A-F-])((?:[0-9A-F]{2}[:-]){5}[0-9A-F]{2}|[0-9A-F]{12})(?![0-9A-F:-])")
"""A name has the address in any form; a path is full of hexadecimal numbers, GUIDs among them, and marks it."""

REFERENCE = re.compile(r"Boot[0-9A-Fa-f]{4}")
"""How UEFI names a boot option; some AMI firmware puts its title behind it."""


@dataclass(frozen=True)
class Option:
    """A boot option: its reference, what it boots from, and whether firmware passes it over."""

    reference: str
    kind: str
    enabled: bool
    body: Json


class Options:
    """The boot options of one system; they are read once, when they are first asked for."""

    def __init__(self, wire: Wire, system: str) -> None:
        """Speak of the system at a path."""
        self._wire = wire
        self._system = system

    @cached_property
    def by_reference(self) -> dict[str, Option]:
        """The options by their reference. The order of the collection is no boot order (Dell)."""
        folder = ((self._wire.get(self._system).body.get("Boot") or {}).get("BootOptions") or {}).get("@odata.id")
        found = (_option(member.body) for member in self._wire.members(folder))
        return {option.reference: option for option in found}

    def get(self, entry: str) -> Option | None:
        """Return the option that an entry of a boot order names."""
        return self.by_reference.get(reference(entry))

    def in_force(self, order: list[str]) -> Iterator[Option]:
        """Yield the options of a boot order that firmware does not pass over; an unknown one is a kind of its own."""
        for entry in order:
            option = self.get(entry) or Option(entry, entry, enabled=True, body={})
            if option.enabled:
                yield option

    def mac(self, option: Option) -> str | None:
        """Return the MAC address of an option's port, None where the BMC does not tell."""
        if not self._wire.habits.mac_words:
            return self._related_mac(option)
        name, path = (str(option.body.get(key) or "").upper() for key in ("DisplayName", "UefiDevicePath"))
        found = MAC_IN_PATH.search(path) or MAC_IN_NAME.search(name)
        return plain_mac(found.group(1)) if found else self._related_mac(option)

    def _related_mac(self, option: Option) -> str | None:
        for item in option.body.get("RelatedItem") or []:
            port = self._wire.find((item or {}).get("@odata.id"))
            body = port.body if port else {}
            for mac in (body.get("MACAddress"), (body.get("Ethernet") or {}).get("MACAddress")):
                if mac:
                    return plain_mac(str(mac))
        return None


def reference(entry: str) -> str:
    """Return the reference of an entry of the boot order, without a title behind it."""
    found = REFERENCE.match(entry)
    return found.group() if found else entry


def plain_mac(text: str) -> str:
    """Return a MAC address in the plan's form, lower case with colons."""
    digits = re.sub(r"[^0-9a-f]", "", text.lower())
    return ":".join(digits[index : index + 2] for index in range(0, len(digits), 2))


def _option(body: Json) -> Option:
    shown = str(body.get("BootOptionReference") or body.get("Id"))
    return Option(reference(shown), _kind_of(body), body.get("BootOptionEnabled") is not False, body)


def _kind_of(body: Json) -> str:
    """Return what an option boots from: by its alias, else by its words; parts may be empty or null (Dell)."""
    alias = body.get("Alias")
    if alias in NAMES:
        return NAMES[alias]
    words = f"{body.get('DisplayName') or ''} {body.get('UefiDevicePath') or ''}".lower()
    return next((kind for kind, sign in SIGNS.items() if sign.search(words)), "disk")
