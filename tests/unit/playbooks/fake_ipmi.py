"""
A BMC that speaks IPMI on the loopback, as a program: `fake_ipmi.py PORT STATE`, with STATE as JSON.

It is a process of its own, since pyghmi has one loop for all clients and servers of a process. pyghmi's server takes
cipher suite 17 and answers in suite 3, as some real BMCs do.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from pyghmi.ipmi.bmc import Bmc
from pyghmi.ipmi.private import serversession

USER, PASSWORD = "admin", "correct-horse"  # of a BMC that lives for one test
BOOT_FLAGS = 5
NOT_NOW = 0xD5


NO_SUITE, NO_PRIVILEGE = 0x11, 0x0A
"""Status codes of the login (IPMI 2.0, table 13-15)."""
OPEN_REQUEST, RAKP2 = 16, 0x13
AUTHENTICATION_AT, SHA256 = 12, 3


class FakeSession(serversession.ServerSession):  # type: ignore[misc]  # pyghmi carries no types
    """A login with the habits that `suite_17` and `max_privilege` of the BMC name."""

    def create_open_session_response(self, request: bytes) -> bytearray:
        """Refuse suite 17, take no notice of it, or take it."""
        response: bytearray = super().create_open_session_response(request)
        newer = request[AUTHENTICATION_AT] == SHA256
        self.bmc.note(f"suite {17 if newer else 3}")
        if newer and self.bmc.suite_17 == "refused":
            return bytearray([response[0], NO_SUITE, 0, 0]) + response[4:8]
        return response

    def _got_rakp1(self, data: Any) -> None:  # noqa: ANN401  # pyghmi's bytes
        if data[24] & 0x0F > self.bmc.max_privilege:
            self.send_payload(bytearray([data[0], NO_PRIVILEGE, 0, 0]) + self.clientsessionid, RAKP2, retry=False)
            return
        super()._got_rakp1(data)


class FakeBmc(Bmc):  # type: ignore[misc]  # pyghmi carries no types
    """A machine's BMC; `lag` answers still show the old power, and `refusals` power commands are refused."""

    def __init__(self, port: int, state: dict[str, Any]) -> None:
        """Listen on the loopback."""
        super().__init__({USER: PASSWORD}, port=port, address="127.0.0.1")
        self._power: str = state.get("power", "off")
        self._shown = self._power
        self._flags: list[int] = state.get("flags", [0, 0])
        self._lag: int = state.get("lag", 0)
        self._refusals: int = state.get("refusals", 0)
        self._deaf: bool = state.get("deaf", False)
        self._awake_at = time.monotonic() + state.get("asleep_s", 0.0)
        self.suite_17: str = state.get("suite_17", "taken")
        self.max_privilege: int = state.get("max_privilege", 4)
        self._notes: str | None = state.get("notes")

    def note(self, text: str) -> None:
        """Write down what a test counts."""
        if self._notes:
            with Path(self._notes).open("a", encoding="utf-8") as opened:
                opened.write(text + "\n")

    def sessionless_data(self, data: bytes, sockaddr: Any) -> None:  # noqa: ANN401  # pyghmi's address
        """Take a login by a session of ours; one in a suite that the BMC is silent in gets no answer."""
        raw = bytearray(data)
        if time.monotonic() < self._awake_at:
            return
        if len(raw) < 32 or raw[4] != 6 or raw[5] != OPEN_REQUEST:
            super().sessionless_data(data, sockaddr)
            return
        if self.suite_17 == "silent" and raw[16 + AUTHENTICATION_AT] == SHA256:
            self.note("suite 17")
            return
        FakeSession(self.authdata, self.kg, sockaddr, self.serversocket, raw[16:], self.uuid, bmc=self)

    def get_system_guid(self) -> UUID:
        """Return the UUID of the machine."""
        return UUID("4c4c4544-0043-3510-8052-b4c04f4a5930")

    def get_power_state(self) -> str:
        """Return the power as the BMC tells it."""
        if self._shown != self._power:
            self._lag -= 1
            if self._lag < 0:
                self._shown = self._power
        return str(self._shown)

    def power_on(self) -> int:
        """Turn on, refuse, or take the command and do nothing."""
        if self._refusals:
            self._refusals -= 1
            return NOT_NOW
        if not self._deaf:
            self._power = "on"
        return 0

    def get_system_boot_options(self, _request: Any, session: Any) -> None:  # noqa: ANN401  # pyghmi's objects
        """Answer with the boot flags as they were set."""
        session.send_ipmi_response(data=[1, BOOT_FLAGS, *self._flags, 0, 0, 0])

    def set_system_boot_options(self, request: Any, session: Any) -> None:  # noqa: ANN401  # pyghmi's objects
        """Keep the boot flags."""
        if request["data"][0] == BOOT_FLAGS and not self._deaf:
            self._flags = list(request["data"][1:3])
        session.send_ipmi_response()


if __name__ == "__main__":
    bmc = FakeBmc(int(sys.argv[1]), json.loads(sys.argv[2]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    bmc.listen()
