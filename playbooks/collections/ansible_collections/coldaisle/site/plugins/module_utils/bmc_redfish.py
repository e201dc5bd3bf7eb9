"""A BMC over Redfish, by the sushy library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sushy
import sushy.auth
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, Inventory, Setting
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_bios import BiosSettings
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_boot import BootSettings
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_connector import OnceConnector, connector_of, url_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_inventory import read_inventory
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_limits import Limit, find_limit
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_media import Media
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of, vendor_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Resource, Wire, path_of

VIRTUAL_CD_ONCE = "cd once"

POLICIES = {"AlwaysOn": "always-on", "AlwaysOff": "always-off", "LastState": "last-state"}
"""Values of PowerRestorePolicy (ComputerSystem, since 1.6) and what we call them."""


class RedfishBmc:
    """A BMC over Redfish; basic authentication, since sessions are few and outlive a broken run."""

    def __init__(self, access: Access) -> None:
        """Connect, and find the one system of this BMC, and whose it is."""
        connector = connector_of(access, OnceConnector)
        self._connector = connector
        self._wire = Wire(connector, habits_of(Identity()))
        asked = self._wire.asked
        auth = sushy.auth.BasicAuth(access.username, access.password)
        self._root = asked(lambda: sushy.Sushy(url_of(access), connector=connector, auth=auth))
        systems = asked(lambda: self._root.get_system_collection().members_identities)
        host, self._baseboards = _host_of([str(path) for path in systems], self._wire.habits.not_hosts)
        self._system = asked(lambda: self._root.get_system(host))
        self.identity = identity_of(self._root.json, self._system.json)
        self._wire = Wire(connector, habits_of(self.identity))
        self._boot = BootSettings(self._wire, self._system.path)
        self._media = Media(self._wire, self._system.path)
        registries = path_of(self._root.json.get("Registries"))
        self._bios = BiosSettings(self._wire, self._system.path, registries, self._boot)

    def close(self) -> None:
        """Close the connection."""
        self._connector.close()

    def look_again(self) -> None:
        """Take nothing for known that was read before."""
        self._connector.look_again()

    def machine_uuid(self) -> str:
        """Return the UUID of the machine."""
        return self._own("UUID").lower()

    def power(self) -> str:
        """Return `on` or `off`; a machine on its way is not there yet."""
        return str(self._wire.get(self._system.path).body.get("PowerState") or "unknown").lower()

    def set_power(self, state: str) -> None:
        """Ask for a power state."""
        kind = sushy.ResetType.ON if state == "on" else sushy.ResetType.FORCE_OFF
        self._wire.asked(lambda: self._system.reset_system(kind))

    def power_policy(self) -> str:
        """
        Return what the machine does when its feed comes back.

        Raises:
            BmcError: the BMC does not show it.

        """
        shown = self._wire.get(self._system.path).body.get("PowerRestorePolicy")
        if not shown:
            look = "the firmware's own setting of power recovery, which bios of the pool may name"
            raise BmcError("no-power-policy", "the BMC does not show what follows when its feed comes back", look)
        return POLICIES.get(shown, "unknown")

    def set_power_policy(self, policy: str) -> None:
        """Ask for a policy."""
        wanted = next(name for name, ours in POLICIES.items() if ours == policy)
        system = self._wire.get(self._system.path)
        self._wire.patch(Resource(system.path, {}, system.etag), {"PowerRestorePolicy": wanted})

    def first_boot_device(self) -> str:
        """Return the first of the boot order where the BMC has one, else its lasting override."""
        return self._boot.first_device()

    def set_first_boot_device(self, device: str) -> None:
        """Move the device to the front of the boot order, or override the boot source for good."""
        self._boot.set_first_device(device)

    def power_limit(self) -> str:
        """Return what the chassis is kept under, in watts, or `none`."""
        return self._limit().reading

    def set_power_limit(self, watts: int) -> None:
        """
        Ask for a limit of the chassis.

        Raises:
            BmcError: the BMC has no control for it, or does not take so many watts.

        """
        limit = self._limit()
        limit.check(watts)
        self._wire.patch(Resource(limit.path, {}, limit.etag), limit.change(watts))

    def setting(self, name: str) -> Setting:
        """
        Return a setting: `boot_mode`, `secure_boot`, `boot_nic`, `boot_override`, `virtual_media`, or `bios.NAME`.

        `machine_serial` is read like one.

        Raises:
            BmcError: the BMC does not have it.

        """
        kind, _, attribute = name.partition(".")
        if kind == "bios":
            return self._bios.attribute(attribute)
        readers: dict[str, Callable[[], str | Setting]] = {
            "machine_serial": lambda: self._own("SerialNumber"),
            "boot_mode": self._bios.boot_mode,
            "secure_boot": self._bios.secure_boot,
            "boot_nic": self._boot.first_nic,
            "boot_override": self._override,
            "virtual_media": self._media.image,
        }
        shown = readers[kind]()
        return shown if isinstance(shown, Setting) else Setting(shown)

    def change_settings(self, wanted: Mapping[str, str]) -> None:
        """
        Ask for settings of one kind; BIOS attributes go together, since a second request may be refused until a reset.

        Raises:
            BmcError: the BMC does not take one.

        """
        attributes = {name.partition(".")[2]: value for name, value in wanted.items() if name.startswith("bios.")}
        if attributes:
            self._bios.set_attributes(attributes)
        writers: dict[str, Callable[[str], None]] = {
            "boot_mode": self._bios.set_boot_mode,
            "secure_boot": self._bios.set_secure_boot,
            "boot_nic": self._boot.set_first_nic,
            "boot_override": self._set_override,
            "virtual_media": self._media.set_image,
        }
        for name, value in wanted.items():
            if not name.startswith("bios."):
                writers[name](value)

    def inventory(self) -> Inventory:
        """Return what hardware the BMC shows, and what it does not tell."""
        return read_inventory(self._wire, self._system.path, self._baseboards)

    def _own(self, name: str) -> str:
        """Return a property of the machine itself; BmcError where the BMC does not show it."""
        value = self._system.json.get(name)
        if not value:
            look = "hardware.yaml: take it out there, since this BMC shows none"
            raise BmcError("not-shown", f"the BMC does not show the machine's {name}", look)
        return str(value).strip()

    def _override(self) -> str:
        own = self._media.has_own_boot and self._media.boots_once()
        return VIRTUAL_CD_ONCE if own else self._boot.override()

    def _set_override(self, wanted: str) -> None:
        if wanted == VIRTUAL_CD_ONCE and self._media.has_own_boot:
            self._media.boot_once()
        else:
            self._boot.set_override(wanted)

    def _limit(self) -> Limit:
        return self._wire.asked(lambda: find_limit(self._wire.connector, self._system, self._root))


def _host_of(systems: list[str], not_hosts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """
    Return the path of the one system that is a host, and those of the others.

    Raises:
        BmcError: there is none, or more than one.

    """
    parts = tuple(path for path in systems if path.rstrip("/").rpartition("/")[2].startswith(not_hosts))
    hosts = [path for path in systems if path not in parts]
    if len(hosts) != 1:
        names = ", ".join(hosts or parts) or "none"
        raise BmcError("not-one-system", f"the BMC shows {len(hosts)} systems ({names})", "the BMC's address")
    return hosts[0], parts


def identity_of(root: Json, system: Json) -> Identity:
    """Return whose BMC it is: the system's maker where it is a known one, else who made the Redfish service."""
    oem = " ".join({**(root.get("Oem") or {}), **(system.get("Oem") or {})})
    vendor = vendor_of(system.get("Manufacturer"), root.get("Vendor"), oem)
    return Identity(vendor, str(system.get("Model") or ""))
