"""What a machine boots from, over Redfish: the boot order, the network port in it, and the override."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_boot_options import NAMES, Option, Options, reference
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, RefusedError, Resource, Wire

BY_OPTION = "UefiBootNext"
"""A source that stands for the boot option in BootNext: what Supermicro makes of Pxe in UEFI mode."""

ALLOWED = "@Redfish.AllowableValues"
ENABLED, TARGET, MODE = "BootSourceOverrideEnabled", "BootSourceOverrideTarget", "BootSourceOverrideMode"
DISABLED, ONCE, CONTINUOUS = "Disabled", "Once", "Continuous"
NONE = "none"
ON_RESET = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}


class BootSettings:
    """Boot order and override of one system."""

    def __init__(self, wire: Wire, path: str) -> None:
        """Speak of the system at a path."""
        self._wire = wire
        self._path = path
        self._options = Options(wire, path)

    # -- boot order ---------------------------------------------------------------------------------------------
    def first_device(self) -> str:
        """Return what comes first: of a lasting override, else of the boot order, as it is at the next boot."""
        boot = self._boot()
        if boot.get(ENABLED) == CONTINUOUS:
            return self._source(boot)
        if boot.get("BootOrder"):
            return next((option.kind for option in self._options.in_force(boot["BootOrder"])), "nothing")
        return f"{self._source(boot)} once" if boot.get(ENABLED) == ONCE else "default"

    def set_first_device(self, device: str) -> None:
        """
        Move the device to the front of the boot order, or override the boot source for good where there is no order.

        Raises:
            BmcError: the BMC offers no such device.

        """
        boot = self._boot()
        if not boot.get("BootOrder"):
            self._override(boot, device, CONTINUOUS)
            return
        if boot.get(ENABLED) == CONTINUOUS:
            self._override(boot, NONE, DISABLED)
        self._reorder(boot, lambda option: option.kind == device, f"no boot option is a {device}")

    def first_nic(self) -> str:
        """
        Return the MAC address of the first network port in the boot order.

        Raises:
            BmcError: there is no boot order, no network port in it, or the BMC does not tell which port it is.

        """
        order = self._boot().get("BootOrder") or []
        first = next((option for option in self._options.in_force(order) if option.kind == "pxe"), None)
        if first is None:
            raise BmcError("no-network-option", "no port is in the boot order", "the BIOS's network boot settings")
        mac = self._options.mac(first)
        if mac is None:
            what = f"boot option {first.reference} ({first.body.get('DisplayName')}) does not say which port it is"
            raise BmcError("boot-nic-unknown", what, "the BMC's firmware version; or leave boot_nic out of the pool")
        return mac

    def set_first_nic(self, mac: str) -> None:
        """
        Put the options of the port before those of other ports; everything else keeps its place.

        Raises:
            BmcError: no boot option is the port's.

        """
        boot = self._boot()
        options = [option for option in self._options.by_reference.values() if option.kind == "pxe"]
        macs = {option.reference: self._options.mac(option) for option in options}
        self._reorder(
            boot,
            lambda option: macs.get(option.reference) == mac,
            f"no boot option is of port {mac}; have: {macs or 'no port'}",
            among=set(macs),
        )

    def _reorder(
        self, boot: Json, wanted: Callable[[Option], bool], missing: str, among: set[str] | None = None
    ) -> None:
        """Put wanted options first (of those in `among`, at their places), and keep the order otherwise."""
        order = [str(entry) for entry in boot.get("BootOrder") or []]
        places = [index for index, entry in enumerate(order) if among is None or reference(entry) in among]
        moved = sorted((order[index] for index in places), key=lambda entry: not self._is(entry, wanted))
        if not moved or not self._is(moved[0], wanted):
            raise BmcError("no-such-boot-source", missing, "the BIOS's boot settings")
        for index, entry in zip(places, moved, strict=True):
            order[index] = entry
        self._change("BootOrder", {"BootOrder": order})

    def _is(self, entry: str, wanted: Callable[[Option], bool]) -> bool:
        option = self._options.get(entry)
        return option is not None and wanted(option)

    # -- override -----------------------------------------------------------------------------------------------
    def override(self) -> str:
        """
        Return the override: `none`, a device, or a device and `once`.

        Where there is no boot order, a lasting override stands for one, and is none.
        """
        boot = self._boot()
        enabled = boot.get(ENABLED)
        if enabled == ONCE:
            return f"{self._source(boot)} once"
        return self._source(boot) if enabled == CONTINUOUS and boot.get("BootOrder") else NONE

    def set_override(self, wanted: str) -> None:
        """
        Set the override, `none` to take it away; its mode stays, and is sent along only where the BMC needs that.

        Raises:
            BmcError: the BMC does not offer the device, or not for so long.

        """
        device, _, once = wanted.partition(" ")
        enabled = DISABLED if device == NONE else ONCE if once else CONTINUOUS
        self._override(self._boot(), device, enabled)

    def mode(self) -> str | None:
        """Return the mode of the override, `uefi` or `bios`, None where the BMC shows none."""
        shown = self._boot().get(MODE)
        return {"UEFI": "uefi", "Legacy": "bios"}.get(str(shown))

    def set_mode(self, mode: str) -> None:
        """Set the mode of the override."""
        self._change(MODE, {MODE: "UEFI" if mode == "uefi" else "Legacy"})

    def _override(self, boot: Json, device: str, enabled: str) -> None:
        allowed = boot.get(f"{ENABLED}{ALLOWED}") or [enabled]
        if enabled not in allowed:
            what = f"the BMC overrides the boot source {' or '.join(allowed)}, not {enabled}"
            raise BmcError("no-such-boot-source", what, "whether this BMC has a boot order")
        change = {ENABLED: enabled}
        if device != NONE:
            change = {TARGET: self._target(boot, device), **change}
        shown = boot.get(MODE)
        if self._wire.habits.override_with_mode:
            change = {TARGET: "None", **change} | ({MODE: shown} if shown else {})
        try:
            self._change(TARGET, change)
        except RefusedError as error:
            if MODE in change or not shown or not error.says(self._wire.habits.mode_missing):
                raise
            self._change(TARGET, change | {MODE: shown})

    def _target(self, boot: Json, device: str) -> str:
        """Return the first source of the device that the BMC lists, its usual one where it lists none."""
        sources = self._wire.habits.sources.get(device, ())
        allowed = boot.get(f"{TARGET}{ALLOWED}") or list(sources)
        found = next((source for source in sources if source in allowed), None)
        if found is None:
            raise BmcError("no-such-boot-source", f"the BMC offers {', '.join(allowed)}", "the BIOS's boot settings")
        return found

    def _source(self, boot: Json) -> str:
        shown = str(boot.get(TARGET))
        if shown == BY_OPTION:
            option = self._options.get(str(boot.get("BootNext")))
            return option.kind if option else "other"
        return NAMES.get(shown, shown.lower())

    # -- where boot settings are read and set --------------------------------------------------------------------
    def _boot(self) -> Json:
        """Return the boot settings as they are at the next boot: those of the settings resource win."""
        system, settings = self._places()
        pending = (settings.body.get("Boot") or {}) if settings else {}
        known = {name: value for name, value in pending.items() if value not in (None, [], "")}
        return {**(system.body.get("Boot") or {}), **known}

    def _places(self) -> tuple[Resource, Resource | None]:
        system = self._wire.get(self._path)
        return system, self._wire.find(system.settings)

    def _change(self, name: str, change: Json) -> None:
        """
        Change boot settings at the settings resource where it has `name`, else at the system.

        Where one says that the property is read-only or elsewhere, the other is tried.
        """
        system, settings = self._places()
        body: Json = {"Boot": change}
        later = body | (ON_RESET if self._wire.habits.boot_apply_time and name == "BootOrder" else {})
        places = [(system, body)] + ([(settings, later)] if settings else [])
        if settings and name in (settings.body.get("Boot") or {}):
            places.reverse()
        try:
            self._wire.patch(*places[0])
        except RefusedError as error:
            if len(places) == 1 or not error.says(self._wire.habits.elsewhere):
                raise
            self._wire.patch(*places[1])
