"""BIOS attributes, boot mode and secure boot over Redfish: asked for now, in force after a reset, read back then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, Setting, text_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_attributes import Attribute, attributes_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_boot import ON_RESET, BootSettings
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Resource, Wire

NUMBERED = re.compile(r"(#|_)[0-9A-F]{4}$")
"""What Supermicro puts behind an attribute's name: it differs between BIOS versions."""

SECURE = {True: "on", False: "off", "Enabled": "on", "Disabled": "off"}
"""SecureBootEnable and SecureBootCurrentBoot in the plan's words."""


class BiosSettings:
    """The firmware settings of one system."""

    def __init__(self, wire: Wire, system: str, registries: str | None, boot: BootSettings) -> None:
        """Speak of the system at a path; `registries` is where the service keeps its attribute registries."""
        self._wire = wire
        self._system = system
        self._registries = registries
        self._boot = boot

    # -- attributes ---------------------------------------------------------------------------------------------
    def attribute(self, name: str) -> Setting:
        """
        Return an attribute of the BIOS.

        Raises:
            BmcError: the BIOS has no such attribute.

        """
        bios = self._bios()
        attributes = _attributes(bios)
        key = self._key(attributes, name)
        pending = _attributes(self._wire.find(bios.settings)).get(key)
        return Setting(text_of(attributes[key]), None if pending is None else text_of(pending))

    def set_attributes(self, wanted: Mapping[str, str]) -> None:
        """
        Ask for attributes, all in one request, for the next reset.

        Raises:
            BmcError: the BIOS has no such attribute, or its registry does not allow the value.

        """
        bios = self._bios()
        attributes = _attributes(bios)
        known = self._known(bios)
        change: Json = {}
        for name, text in wanted.items():
            key = self._key(attributes, name)
            change[key] = (known.get(key) or Attribute.of_value(key, attributes[key])).value(text)
        times = (bios.body.get("@Redfish.Settings") or {}).get("SupportedApplyTimes") or []
        body = {"Attributes": change} | (ON_RESET if "OnReset" in times else {})
        self._wire.patch(self._wire.find(bios.settings) or bios, body)

    def _bios(self) -> Resource:
        bios = self._wire.find(self._wire.get(self._system).link("Bios"))
        if bios is None:
            raise BmcError("no-bios", "the BMC shows no BIOS settings", "the BMC's licence and its firmware version")
        return bios

    @staticmethod
    def _key(attributes: Json, name: str) -> str:
        """Return the attribute's full name: as given, or the only one that is it with a number behind."""
        if name in attributes:
            return name
        found = [key for key in attributes if NUMBERED.sub("", key) == name]
        if len(found) == 1:
            return found[0]
        near = [key for key in attributes if name.lower() in key.lower()][:5]
        what = f"the BIOS has {len(found)} attributes {name}; have: {', '.join(found or near) or 'nothing like it'}"
        raise BmcError("no-bios-attribute", what, "bmc.bios of the node's pool, and the BIOS's attribute registry")

    def _known(self, bios: Resource) -> dict[str, Attribute]:
        """Return what the registry says of each attribute, nothing where the BMC keeps none."""
        name = str(bios.body.get("AttributeRegistry") or "")
        return attributes_of(self._wire, self._registries, name) if name else {}

    # -- boot mode ----------------------------------------------------------------------------------------------
    def boot_mode(self) -> Setting:
        """
        Return `uefi` or `bios`: by the BIOS attribute that this vendor has for it, else by the override's mode.

        Raises:
            BmcError: the BMC shows neither.

        """
        words = self._mode_words
        if words is None:
            return Setting(self._boot.mode() or self._no_mode())
        name, values = words
        shown = self.attribute(name)
        modes = {value.lower(): mode for mode, value in values.items()}
        now, then = (modes.get((text or "").lower(), text) for text in (shown.now, shown.then))
        return Setting(now or "", then)

    def set_boot_mode(self, mode: str) -> None:
        """Ask for `uefi` or `bios`."""
        words = self._mode_words
        if words is None:
            self._boot.set_mode(mode)
        else:
            self.set_attributes({words[0]: words[1][mode]})

    @cached_property
    def _mode_words(self) -> tuple[str, Mapping[str, str]] | None:
        """The attribute of the boot mode and its values, where the BIOS has what the table says."""
        bios = self._wire.find(self._wire.get(self._system).link("Bios"))
        names = {NUMBERED.sub("", key) for key in _attributes(bios)}
        table = self._wire.habits.boot_mode_attributes
        return next(((name, values) for name, values in table.items() if name in names), None)

    @staticmethod
    def _no_mode() -> str:
        raise BmcError("no-boot-mode", "the BMC shows no boot mode", "whether the machine knows one at all")

    # -- secure boot --------------------------------------------------------------------------------------------
    def secure_boot(self) -> Setting:
        """Return `on` or `off`: what this boot was, and what the next one will be."""
        body = self._secure_boot().body
        wanted = SECURE.get(bool(body.get("SecureBootEnable")), "off")
        now = SECURE.get(body.get("SecureBootCurrentBoot") or "", wanted)
        return Setting(now, wanted)

    def set_secure_boot(self, state: str) -> None:
        """Ask for secure boot `on` or `off`."""
        resource = self._secure_boot()
        target = self._wire.find(resource.settings) or resource
        self._wire.patch(target, {"SecureBootEnable": state == "on"})

    def _secure_boot(self) -> Resource:
        found = self._wire.find(self._wire.get(self._system).link("SecureBoot"))
        if found is None:
            raise BmcError("no-secure-boot", "the BMC shows no secure boot", "whether the machine boots by UEFI")
        return found


def _attributes(resource: Resource | None) -> dict[str, Any]:
    """Return the attributes of a BIOS resource; one without any (Supermicro, nothing pending) has none."""
    return (resource.body.get("Attributes") or {}) if resource else {}
