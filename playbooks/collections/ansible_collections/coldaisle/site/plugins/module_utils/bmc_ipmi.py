"""A BMC over IPMI, by pyghmi's session."""

from __future__ import annotations

from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, BusyError
from pyghmi.exceptions import PyghmiException
from pyghmi.ipmi.private.session import Session

DEFAULT_PORT = 623
CHASSIS = 0
"""Network function of the chassis commands (IPMI 2.0, chapter 28)."""

STATUS, CONTROL, SET_BOOT, GET_BOOT = 1, 2, 8, 9
CONTROL_CODES = {"off": 0, "on": 1}

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


RAKP2_HASH_AT = 40
"""Where the BMC's hash begins in its second message of the login (table 13-12)."""

SHA1 = 1
SHA1_BYTES = 20


class _Session(Session):  # type: ignore[misc]  # pyghmi carries no types
    """A session that falls back to cipher suite 3: some BMCs take suite 17 and then answer in suite 3."""

    attemptedhash: int

    def _got_rakp2(self, data: Any) -> Any:  # noqa: ANN401  # pyghmi's bytes and codes
        if self.attemptedhash != SHA1 and len(data) == RAKP2_HASH_AT + SHA1_BYTES:
            self.attemptedhash = SHA1
            self._open_rmcpplus_request()
            return None
        return super()._got_rakp2(data)


class IpmiBmc:
    """A BMC over IPMI 2.0: few commands, since a burst of them silences some BMCs."""

    def __init__(self, access: Access) -> None:
        """Log in with the best cipher suite that works; an address may be HOST:PORT."""
        host, _, port = access.address.partition(":")
        login = {
            "bmc": host,
            "userid": access.username,
            "password": access.password,
            "port": int(port or DEFAULT_PORT),
            "keepalive": False,
        }
        try:
            self._session = _Session(**login)
        except (PyghmiException, OSError) as error:
            raise _login_error(str(error)) from error

    def power(self) -> str:
        """Return `on` or `off`."""
        return "on" if self._command(STATUS)[0] & 1 else "off"

    def set_power(self, state: str) -> None:
        """Ask for a power state."""
        self._command(CONTROL, CONTROL_CODES[state])

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
        try:
            answer = self._session.raw_command(netfn=CHASSIS, command=number, data=data)
        except PyghmiException as error:
            raise _login_error(str(error)) from error
        if "error" not in answer:
            return answer["data"]
        text = f"IPMI chassis command {number}: {answer['error']}"
        if answer.get("code") in BUSY_CODES:
            raise BusyError(text)
        if answer["error"] == "timeout":
            raise _login_error(text)
        raise BmcError("refused", text, "the user's privilege (administrator), and the BMC's event log")


def _no_limit() -> BmcError:
    return BmcError(
        "no-power-limit",
        "no power limit is set over IPMI",
        "bmc_protocol of the node: redfish sets one; or take power_cap from its pool",
    )


def _login_error(text: str) -> BmcError:
    """Return the error class of pyghmi's words; MAAS keeps a table like this one for ipmitool's."""
    lowered = text.lower()
    if any(sign in lowered for sign in ("password", "unauthorized name", "rakp", "invalid name")):
        return BmcError("wrong-credentials", text, "the credentials file, and that the user may use IPMI over LAN")
    if "role" in lowered or "privilege" in lowered:
        return BmcError("no-privilege", text, "the user's privilege level on the LAN channel")
    if "resources" in lowered:
        return BmcError("session-limit", text, "other programs that hold sessions; they end after a minute of silence")
    if "cipher" in lowered or "algorithm" in lowered or "integrity" in lowered:
        return BmcError("cipher", text, "the cipher suites that the BMC allows: suite 3 or 17 is needed")
    if "timeout" in lowered or "no longer connected" in lowered:
        return BmcError("no-answer", text, "its cable and address, and whether IPMI over LAN is switched on")
    return BmcError("no-connection", text, "its address, and whether IPMI over LAN is switched on")
