"""
IPMI over LAN for the simulated BMCs: pyghmi's server, with boot settings that can be read back.

pyghmi serves all BMCs in one loop and knows no address of its own, so each BMC listens on the loopback, and a front
at the BMC's address forwards to it. The front is also where an answer is late or never comes.
"""

from __future__ import annotations

import asyncio
import socket
import uuid
from contextlib import suppress
from typing import Any, cast

from pyghmi.ipmi.bmc import Bmc
from pyghmi.ipmi.private import session as pyghmi_session

from sim.bmc.board import DISK, NETWORK, POLICIES, Board, Enabled
from sim.bmc.ipmi_log import STORAGE, storage_command
from sim.bmc.ipmi_users import BoardSession, user_command

PORT = 623

BOOT_CODES = {"None": 0x00, NETWORK: 0x04, DISK: 0x08, "Cd": 0x14, "BiosSetup": 0x18}
"""Boot device selectors of boot flags, byte 2 (IPMI 2.0, table 28-14)."""

APPLICATION, CHASSIS = 6, 0
STATUS, SET_POLICY = 1, 6
"""Chassis commands (IPMI 2.0, chapter 28) that pyghmi answers without a power restore policy, or not at all."""

RMCPP, OPEN_REQUEST, LOGIN_BYTES = 6, 16, 32
"""Authentication type, payload type and least length of an open session request (IPMI 2.0, table 13-8)."""

VALID, PERSISTENT = 0x80, 0x40
"""Bits of boot flags, byte 1."""

BOOT_FLAGS = 5
"""Parameter number of the boot flags."""


def _send(ours: socket.socket, packet: bytes, address: Any) -> None:  # noqa: ANN401 - pyghmi's address
    """
    Send as pyghmi does, and leave the socket as it is.

    pyghmi itself makes it block. Its reading thread, which may be about to look there, then waits for this one BMC, and
    is deaf for all others of the process until somebody asks it again: one answer in 20,000.
    """
    with suppress(OSError):  # whoever misses it asks again
        ours.sendto(packet, address)


pyghmi_session._io_sendto = _send  # noqa: SLF001 - it has no setting for it


class BoardIpmi(Bmc):  # type: ignore[misc]  # pyghmi has no types
    """The IPMI side of one board."""

    def __init__(self, board: Board, port: int) -> None:
        """Listen on the loopback at `port`."""
        self._board = board
        super().__init__(_Passwords(board), port=port, address="127.0.0.1", bmcuuid=uuid.UUID(board.machine.uuid))

    def sessionless_data(self, data: bytes, sockaddr: Any) -> None:  # noqa: ANN401 - pyghmi's address
        """Take a login by a session of ours, and the rest as pyghmi does."""
        raw = bytearray(data)
        if len(raw) >= LOGIN_BYTES and raw[4] == RMCPP and raw[5] == OPEN_REQUEST:
            BoardSession(self.authdata, self.kg, sockaddr, self.serversocket, raw[16:], self.uuid, bmc=self)
        else:
            super().sessionless_data(data, sockaddr)

    def count_login(self, user: str, *, right: bool) -> None:
        """Note how a login ended."""
        self._board.accounts.count(user, right=right)

    def handle_raw_request(self, request: dict[str, Any], session: Any) -> None:  # noqa: ANN401 - pyghmi's session
        """Answer the commands of users, and pyghmi's."""
        if request["netfn"] == APPLICATION:
            answer = user_command(self._board.accounts, request["command"], list(request["data"]))
            if answer is not None:
                session.send_ipmi_response(code=answer[0], data=answer[1])
                return
        if request["netfn"] == STORAGE:
            code, data = storage_command(self._board.log, request["command"], bytes(request["data"]))
            session.send_ipmi_response(code=code, data=data)
            return
        if request["netfn"] == CHASSIS and request["command"] in {STATUS, SET_POLICY}:
            session.send_ipmi_response(data=self._policy(list(request["data"]), request["command"]))
            return
        super().handle_raw_request(request, session)

    def _policy(self, data: list[int], command: int) -> list[int]:
        """Answer with the chassis' status, or take a power restore policy (3 asks which there are)."""
        if command == SET_POLICY:
            if data[0] < len(POLICIES):
                self._board.set_power_policy(POLICIES[data[0]])
            return [0b111]
        return [int(self._board.is_on()) | POLICIES.index(self._board.power_policy) << 5, 0, 0]

    def get_system_guid(self) -> uuid.UUID:
        """Return the UUID of the system."""
        return uuid.UUID(self._board.uuid)

    def get_power_state(self) -> str:
        """Return "on" or "off", as the machine is."""
        return "on" if self._board.is_on() else "off"

    def is_active(self) -> bool:
        """Tell whether the machine runs."""
        return self._board.is_on()

    def power_on(self) -> None:
        """Turn the machine on."""
        self._board.turn_on()

    def power_off(self) -> None:
        """Cut the power."""
        self._board.turn_off()

    def power_cycle(self) -> int:
        """Cut the power and turn the machine on; a machine that is off refuses with 0xd5, as the standard says."""
        if not self._board.is_on():
            return 0xD5
        self._board.cycle()
        return 0

    def power_reset(self) -> int:
        """Do what the reset button does; a machine that is off refuses."""
        return self.power_cycle()

    def power_shutdown(self) -> None:
        """Press the power button."""
        self._board.shut_down()

    def cold_reset(self) -> int:
        """Restart the BMC: it has nothing to lose, so it is done at once."""
        return 0

    def get_system_boot_options(self, request: dict[str, Any], session: Any) -> None:  # noqa: ANN401 - pyghmi's session
        """Answer with the boot flags; other parameters are not supported (0x80)."""
        if request["data"][0] != BOOT_FLAGS:
            session.send_ipmi_response(code=0x80)
            return
        device, enabled = self._board.boot_override
        flags = 0 if enabled == "Disabled" else VALID | (PERSISTENT if enabled == "Continuous" else 0)
        session.send_ipmi_response(data=[1, BOOT_FLAGS, flags, BOOT_CODES.get(device, 0), 0, 0, 0])

    def set_system_boot_options(self, request: dict[str, Any], session: Any) -> None:  # noqa: ANN401 - pyghmi's session
        """Set the boot flags; what only clears or locks other parameters is accepted."""
        data = request["data"]
        if data[0] == BOOT_FLAGS:
            device = {code: name for name, code in BOOT_CODES.items()}.get(data[2] & 0x3C)
            if device is None:
                session.send_ipmi_response(code=0xCC)
                return
            self._board.set_boot_override(device, _enabled(data[1], device))
        session.send_ipmi_response()


def _enabled(flags: int, device: str) -> Enabled:
    """Return how long an override holds, from the first byte of the boot flags."""
    if not flags & VALID or device == "None":
        return "Disabled"
    return "Continuous" if flags & PERSISTENT else "Once"


class _Passwords:
    """What pyghmi looks passwords up in."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def get(self, user: str) -> str | None:
        """Return the password of a user, or None."""
        return self._board.password(user)


class Front(asyncio.DatagramProtocol):
    """Forwards datagrams between the clients of one BMC and its server on the loopback, with the BMC's faults."""

    def __init__(self, board: Board, port: int) -> None:
        """Forward to `port` on the loopback."""
        self._board = board
        self._server = ("127.0.0.1", port)
        self._backs: dict[Any, asyncio.DatagramTransport] = {}
        self._transport: asyncio.DatagramTransport | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket that clients talk to."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ANN401 - asyncio's address
        """Take a request: drop it, or forward it now or later."""
        if self._board.hangs() or self._board.firmware.away():
            return
        task = asyncio.get_running_loop().create_task(self._forward(data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, data: bytes, client: Any) -> None:  # noqa: ANN401 - asyncio's address
        await asyncio.sleep(self._board.next_delay_s())
        if client not in self._backs:
            loop = asyncio.get_running_loop()
            back, _ = await loop.create_datagram_endpoint(lambda: _Back(self, client), remote_addr=self._server)
            self._backs[client] = back
        self._backs[client].sendto(data)

    def answer(self, data: bytes, client: Any) -> None:  # noqa: ANN401 - asyncio's address
        """Send an answer of the server to a client."""
        if self._transport is not None:
            self._transport.sendto(data, client)


class _Back(asyncio.DatagramProtocol):
    """The socket towards the server that stands for one client."""

    def __init__(self, front: Front, client: Any) -> None:  # noqa: ANN401 - asyncio's address
        self._front = front
        self._client = client

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ANN401, ARG002 - asyncio's signature
        """Pass an answer on."""
        self._front.answer(data, self._client)
