"""A BMC over Redfish, by the sushy library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sushy
import sushy.auth
import sushy.connector
import sushy.exceptions
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, BusyError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_limits import Limit, find_limit

NAMES = {"Pxe": "pxe", "UefiHttp": "pxe", "Hdd": "disk"}
"""Redfish's boot sources in the plan's words."""

TARGETS = {"pxe": ("Pxe", "UefiHttp"), "disk": ("Hdd",)}
"""Boot sources to choose from, the first that the BMC allows; a vendor's name says too little (sushy's own notes)."""

BUSY_SIGNS = (
    "InvalidOperationForSystemState",
    "UnableToModifyDuringSystemPOST",
    "SYS518",
    "NoValidSession",
    "currently unable",
    "ServiceTemporarilyUnavailable",
)
"""Words of BMCs that are not ready yet: iLO, Supermicro, iDRAC, and the base registry."""

DROPPED_SIGNS = ("RemoteDisconnected", "Connection reset", "Broken pipe")
"""Words of a BMC that closed a connection which it had kept: the same question on a new one is answered."""

NETWORK_SIGNS = ("pxe", "network", "ipv4", "ipv6", "nic.", "mac(")
"""Signs of a network boot option in its name or UEFI path, for BMCs that give no alias."""


class RedfishBmc:
    """A BMC over Redfish; basic authentication, since sessions are few and outlive a broken run."""

    def __init__(self, access: Access) -> None:
        """Connect, and find the one system of this BMC."""
        url = access.address if "://" in access.address else f"https://{access.address}"
        self._connector = sushy.connector.Connector(
            url,
            verify=access.ca_file or True,
            default_request_timeout=access.timeout_s,
            connect_timeout=access.timeout_s / 2,
            server_side_retries=1,
        )
        root = _asked(
            lambda: sushy.Sushy(
                url, connector=self._connector, auth=sushy.auth.BasicAuth(access.username, access.password)
            )
        )
        members = _asked(lambda: root.get_system_collection().get_members())
        if len(members) != 1:
            names = ", ".join(member.identity for member in members) or "none"
            raise BmcError("not-one-system", f"the BMC shows {len(members)} systems ({names})", "the BMC's address")
        self._system = members[0]
        self._root = root

    def power(self) -> str:
        """Return `on` or `off`; a machine on its way is not there yet."""
        _asked(lambda: self._system.refresh(force=True))
        state = self._system.power_state
        return state.value.lower() if state else "unknown"

    def set_power(self, state: str) -> None:
        """Ask for a power state."""
        kind = sushy.ResetType.ON if state == "on" else sushy.ResetType.FORCE_OFF
        _asked(lambda: self._system.reset_system(kind))

    def first_boot_device(self) -> str:
        """Return the first of the boot order where the BMC has one, else its lasting override."""
        _asked(lambda: self._system.refresh(force=True))
        boot = self._system.json.get("Boot") or {}
        if boot.get("BootSourceOverrideEnabled") == "Continuous":
            source = str(boot.get("BootSourceOverrideTarget"))
            return NAMES.get(source, source.lower())
        order = boot.get("BootOrder") or []
        if order:
            return next((kind for reference, kind in self._options() if reference == order[0]), str(order[0]))
        once = boot.get("BootSourceOverrideEnabled") == "Once"
        return f"{NAMES.get(str(boot.get('BootSourceOverrideTarget')), 'other')} once" if once else "default"

    def set_first_boot_device(self, device: str) -> None:
        """Move the device to the front of the boot order, or override the boot source for good."""
        boot = self._system.json.get("Boot") or {}
        order = list(boot.get("BootOrder") or [])
        if order:
            self._reorder(order, device)
        else:
            self._override(boot, device)

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
        _asked(lambda: self._connector.patch(limit.path, data=limit.change(watts), etag=limit.etag))

    def _limit(self) -> Limit:
        limit: Limit = _asked(lambda: find_limit(self._connector, self._system, self._root))
        return limit

    def _override(self, boot: dict[str, Any], device: str) -> None:
        allowed = boot.get("BootSourceOverrideTarget@Redfish.AllowableValues") or list(TARGETS[device])
        target = next((target for target in TARGETS[device] if target in allowed), None)
        if target is None:
            raise BmcError("no-such-boot-source", f"the BMC offers {', '.join(allowed)}", "the BIOS's boot settings")
        # Supermicro forgets what is not sent with the target; others answer 400 to a mode that nobody asked for.
        supermicro = "supermicro" in str(self._system.manufacturer or "").lower()
        mode = sushy.BootSourceOverrideMode(boot["BootSourceOverrideMode"]) if supermicro else None
        _asked(
            lambda: self._system.set_system_boot_options(
                target=sushy.BootSource(target), enabled=sushy.BootSourceOverrideEnabled.CONTINUOUS, mode=mode
            )
        )

    def _reorder(self, order: list[str], device: str) -> None:
        """Put all options of the device first and keep the order within; by the settings resource where it has it."""
        kinds = dict(self._options())
        fresh = sorted(order, key=lambda reference: kinds.get(reference) != device)
        if kinds.get(fresh[0]) != device:
            raise BmcError("no-such-boot-source", f"no boot option is a {device}: {kinds}", "the BIOS's boot settings")
        path = self._system.path
        settings = (self._system.json.get("@Redfish.Settings") or {}).get("SettingsObject", {}).get("@odata.id")
        if settings and "BootOrder" in (_asked(lambda: self._connector.get(settings).json()).get("Boot") or {}):
            path = settings
        _asked(lambda: self._connector.patch(path, data={"Boot": {"BootOrder": fresh}}))

    def _options(self) -> Iterator[tuple[str, str]]:
        """Yield each boot option's reference and what it boots from; parts may be empty or null (Dell)."""
        boot = self._system.json.get("Boot") or {}
        folder = (boot.get("BootOptions") or {}).get("@odata.id")
        members = _asked(lambda: self._connector.get(folder).json()).get("Members", []) if folder else []
        for member in members:
            option = _asked(lambda path=member["@odata.id"]: self._connector.get(path).json())
            yield str(option.get("BootOptionReference") or option.get("Id")), _kind_of(option)


def _kind_of(option: dict[str, Any]) -> str:
    alias = option.get("Alias")
    if alias in NAMES:
        return NAMES[alias]
    words = f"{option.get('DisplayName') or ''} {option.get('UefiDevicePath') or ''}".lower()
    return "pxe" if any(sign in words for sign in NETWORK_SIGNS) else "disk"


def _asked(call: Any) -> Any:  # noqa: ANN401  # whatever sushy returns
    """Return what `call` returns; errors of the library become ours."""
    try:
        return call()
    except sushy.exceptions.AccessError as error:
        raise BmcError("wrong-credentials", "the BMC refuses user or password", "the credentials file") from error
    except sushy.exceptions.ConnectionError as error:
        if any(sign in str(error) for sign in DROPPED_SIGNS):
            raise BusyError(str(error)) from error
        raise _connection_error(str(error)) from error
    except sushy.exceptions.HTTPError as error:
        text = f"{error.code}: {error.detail or error}"
        if error.status_code in {409, 503} or any(sign in f"{text} {error.extended_info}" for sign in BUSY_SIGNS):
            raise BusyError(text) from error
        raise BmcError("refused", text, "the BMC's event log and its firmware version") from error
    except sushy.exceptions.SushyError as error:
        raise BmcError("unexpected-answer", str(error), "the BMC's firmware version") from error


def _connection_error(text: str) -> BmcError:
    lowered = text.lower()
    if "certificate" in lowered or "ssl" in lowered:
        return BmcError("tls", "the BMC's certificate is not one that we trust", "bmc_ca_file, and the clock of both")
    if "timed out" in lowered or "timeout" in lowered:
        return BmcError("no-answer", "the BMC did not answer in time", "its cable, address, and whether it hangs")
    return BmcError("no-connection", text[-200:], "its address, and whether Redfish is switched on")
