"""A BMC over IPMI, by the pyghmi library."""

from __future__ import annotations

from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, BusyError
from pyghmi.exceptions import PyghmiException
from pyghmi.ipmi import command

DEFAULT_PORT = 623
CHASSIS = 0
CHASSIS_STATUS, CHASSIS_CONTROL = 1, 2
CONTROL_CODES = {"off": 0, "on": 1}
NAMES = {"network": "pxe", "hd": "disk"}
DEVICES = {"pxe": "network", "disk": "hd"}
BUSY_CODES = {0xC0, 0xC3, 0xD5}
"""Node busy, timeout while processing, not supported in present state (IPMI 2.0, table 5-2)."""


class IpmiBmc:
    """A BMC over IPMI 2.0: few commands, since a burst of them silences some BMCs."""

    def __init__(self, access: Access) -> None:
        """Log in; an address may be HOST:PORT."""
        host, _, port = access.address.partition(":")
        try:
            self._command = command.Command(
                bmc=host,
                userid=access.username,
                password=access.password,
                port=int(port or DEFAULT_PORT),
                keepalive=False,
            )
        except (PyghmiException, OSError) as error:
            raise _login_error(str(error)) from error

    def power(self) -> str:
        """Return `on` or `off`."""
        return "on" if self._raw(CHASSIS_STATUS, ())["data"][0] & 1 else "off"

    def set_power(self, state: str) -> None:
        """Ask for a power state."""
        self._raw(CHASSIS_CONTROL, (CONTROL_CODES[state],))

    def first_boot_device(self) -> str:
        """Return the boot device that was asked for; one that holds for a single boot says so."""
        found = self._asked(self._command.get_bootdev)
        name = NAMES.get(str(found["bootdev"]), str(found["bootdev"]))
        return name if found["persistent"] else f"{name} once"

    def set_first_boot_device(self, device: str) -> None:
        """Ask for a boot device for good."""
        self._asked(lambda: self._command.set_bootdev(DEVICES[device], persist=True))

    def _raw(self, number: int, data: tuple[int, ...]) -> Any:  # noqa: ANN401  # pyghmi's dict
        answer = self._asked(lambda: self._command.raw_command(netfn=CHASSIS, command=number, data=data))
        if "error" in answer:
            text = f"IPMI chassis command {number}: {answer['error']}"
            if answer.get("code") in BUSY_CODES:
                raise BusyError(text)
            raise BmcError("refused", text, "the user's privilege (administrator), and the BMC's event log")
        return answer

    def _asked(self, call: Any) -> Any:  # noqa: ANN401  # whatever pyghmi returns
        try:
            return call()
        except PyghmiException as error:
            raise _login_error(str(error)) from error


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
