"""
A BMC that speaks IPMI on the loopback, as a program: `fake_ipmi.py PORT STATE`, with STATE as JSON.

It is a process of its own, since pyghmi has one loop for all clients and servers of a process. pyghmi's server takes
cipher suite 17 and answers in suite 3, as some real BMCs do.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyghmi.ipmi.bmc import Bmc

USER, PASSWORD = "admin", "correct-horse"  # of a BMC that lives for one test
BOOT_FLAGS = 5
NOT_NOW = 0xD5


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
