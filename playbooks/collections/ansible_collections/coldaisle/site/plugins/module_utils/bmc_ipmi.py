"""A BMC over IPMI, by pyghmi's session."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, BusyError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi_session import login_error, open_session, split
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sel import SelReader
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import cache_folder
from pyghmi.exceptions import PyghmiException
from pyghmi.ipmi.command import Command

CHASSIS = 0
"""Network function of the chassis commands (IPMI 2.0, chapter 28)."""

APPLICATION, GET_SYSTEM_GUID = 6, 0x37
"""Network function of the application commands, and the one for the machine's UUID (chapter 22.14)."""

STATUS, CONTROL, SET_POLICY, SET_BOOT, GET_BOOT = 1, 2, 6, 8, 9
CONTROL_CODES = {"off": 0, "on": 1}

POLICIES = ("always-off", "last-state", "always-on", "unknown")
"""Power restore policies by their number (table 28-8, and bits 6:5 of the chassis status, table 28-3)."""

BOOT_FLAGS = 5
"""Boot option parameter that holds the boot device (table 28-14)."""

VALID, PERSISTENT, LOCKED = 0x80, 0x40, 0x80
DEVICE_MASK = 0x3C
DEVICES = {"pxe": 0x04, "disk": 0x08}
NAMES = {0x00: "default", 0x04: "pxe", 0x08: "disk", 0x14: "cd", 0x18: "setup"}
NO_TIMER = (3, 0x08)
"""Keep boot flags when the machine is turned on later than 60 s from now (table 28-14, parameter 3)."""

BUSY_CODES = {0xC0, 0xC3, 0xD5}
"""Node busy, timeout while processing, not supported in present state (table 5-2)."""


class IpmiBmc:
    """A BMC over IPMI 2.0: few commands, since a burst of them silences some BMCs."""

    def __init__(self, access: Access, vendor: str = "any") -> None:
        """Log in with the cipher suite and privilege that work; an address may be HOST:PORT."""
        self._session = open_session(access, vendor)
        self._access = access

    def close(self) -> None:
        """End the session: a BMC holds few, and keeps one that is left behind for a minute."""
        self._session.logout()

    def look_again(self) -> None:
        """Do nothing: every question goes to the BMC."""

    def sensors(self) -> Iterator[Any]:
        """Yield pyghmi's readings of all sensors that the BMC describes."""
        yield from self._told(lambda: list(self._library().get_sensor_data()))

    def events(self, first: int = 0) -> Iterator[Any]:
        """Yield pyghmi's events of the system event log, the oldest first, or from a record on."""
        yield from self._told(lambda: SelReader(self._library()).read(first))

    def _library(self) -> Command:
        """
        Return pyghmi's commands over this session, which it finds by what we are logged in with.

        What the BMC says of its sensors is some hundred commands; it is kept until the BMC says that it has changed.
        """
        host, port = split(self._access.address)
        login = {"userid": self._access.username.encode(), "password": self._access.password.encode()}
        library = Command(bmc=host, port=port, keepalive=False, **login)
        library.set_sdr_cachedir(str(cache_folder("sensors", self._access.address)))
        return library

    def _told(self, call: Callable[[], list[Any]]) -> list[Any]:
        try:
            return call()
        except (PyghmiException, NotImplementedError) as error:
            told = login_error(str(error))
            if told.kind != "no-connection":
                raise told from error
            raise BmcError("refused", str(error), "whether the BMC has sensors and an event log over IPMI") from error

    def machine_uuid(self) -> str:
        """Return the UUID of the machine, which most BMCs give in the byte order of SMBIOS."""
        data = bytes(self.command(APPLICATION, GET_SYSTEM_GUID, (), "Get System GUID"))
        return str(uuid.UUID(bytes_le=data[:16].ljust(16, b"\0")))

    def power(self) -> str:
        """Return `on` or `off`."""
        return "on" if self._command(STATUS)[0] & 1 else "off"

    def set_power(self, state: str) -> None:
        """Ask for a power state."""
        self._command(CONTROL, CONTROL_CODES[state])

    def power_policy(self) -> str:
        """Return what the machine does when its feed comes back."""
        return POLICIES[self._command(STATUS)[0] >> 5 & 3]

    def set_power_policy(self, policy: str) -> None:
        """Ask for a policy."""
        self._command(SET_POLICY, POLICIES.index(policy))

    def first_boot_device(self) -> str:
        """Return the boot device that was asked for; one that holds for a single boot says so."""
        _version, parameter, flags, device, *_rest = self._command(GET_BOOT, BOOT_FLAGS, 0, 0)
        if parameter & LOCKED or not flags & VALID:
            return "default"
        code = device & DEVICE_MASK
        name = NAMES.get(code, f"device {code >> 2}")
        return name if flags & PERSISTENT else f"{name} once"

    def set_first_boot_device(self, device: str) -> None:
        """Ask for a boot device for good."""
        self._command(SET_BOOT, *NO_TIMER)
        self._command(SET_BOOT, BOOT_FLAGS, VALID | PERSISTENT, DEVICES[device], 0, 0, 0)

    def power_limit(self) -> str:
        """
        Refuse: IPMI itself has no power limit, and what DCMI adds many BMCs lack.

        Raises:
            BmcError: always.

        """
        raise _no_limit()

    def set_power_limit(self, watts: int) -> None:
        """
        Refuse, as `power_limit` does.

        Raises:
            BmcError: always.

        """
        del watts
        raise _no_limit()

    def _command(self, number: int, *data: int) -> Any:  # noqa: ANN401  # bytes of pyghmi's answer
        """Send a chassis command and return the data of its answer."""
        return self.command(CHASSIS, number, data, f"chassis command {number}")

    def command(self, function: int, number: int, data: Sequence[int], what: str) -> Any:  # noqa: ANN401  # bytes
        """
        Send a command of a network function and return the data of its answer.

        Raises:
            BusyError: the BMC cannot do it now.
            BmcError: it refuses, or does not answer any more; `what` names the command to people.

        """
        try:
            answer = self._session.raw_command(netfn=function, command=number, data=data)
        except PyghmiException as error:
            raise login_error(str(error)) from error
        if "error" not in answer and not answer.get("code"):
            return answer["data"]
        text = f"IPMI {what}: {answer.get('error') or hex(answer['code'])}"
        if answer.get("code") in BUSY_CODES:
            raise BusyError(text)
        if answer.get("error") == "timeout":
            raise login_error(text)
        raise BmcError("refused", text, "the user's privilege (administrator), and the BMC's event log")


def _no_limit() -> BmcError:
    return BmcError(
        "no-power-limit",
        "no power limit is set over IPMI",
        "bmc_protocol of the node: redfish sets one; or take power_cap from its pool",
    )
