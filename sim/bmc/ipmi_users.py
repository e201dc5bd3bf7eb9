"""IPMI's logins and user commands of the simulated BMCs, on the accounts of the board; pyghmi's server has neither."""

from __future__ import annotations

from typing import Any

from pyghmi.ipmi.private.serversession import ServerSession

from sim.bmc.accounts import PLACES, Account, Accounts

GET_ACCESS, GET_NAME, SET_ACCESS, SET_NAME, SET_PASSWORD = 0x44, 0x46, 0x43, 0x45, 0x47
ADMINISTRATOR, NO_ACCESS, MESSAGING = 4, 15, 0x10
OUT_OF_RANGE, WRONG_PASSWORD, WRONG_SIZE = 0xC9, 0x80, 0x81
DISABLE, ENABLE, SET, TEST = range(4)

NO_SUITE, NO_SUCH_NAME = 0x11, 0x0D
"""Status codes of a login (IPMI 2.0, table 13-15)."""

RAKP2 = 0x13
ALGORITHM_AT, SHA1 = 12, 1


class BoardSession(ServerSession):  # type: ignore[misc]  # pyghmi has no types
    """A login to one board: cipher suite 3 only, unknown users are told so, and wrong passwords are counted."""

    bmc: Any

    def create_open_session_response(self, request: bytes) -> bytearray:
        """Take suite 3, and refuse others."""
        response: bytearray = super().create_open_session_response(request)
        if request[ALGORITHM_AT] != SHA1:
            return bytearray([response[0], NO_SUITE, 0, 0]) + response[4:8]
        return response

    def _got_rakp1(self, data: Any) -> None:  # noqa: ANN401 - pyghmi's bytes
        name = bytes(data[28 : 28 + data[27]]).decode(errors="replace")
        if self.authdata.get(name) is None:
            self.send_payload(bytearray([data[0], NO_SUCH_NAME, 0, 0]) + self.clientsessionid, RAKP2, retry=False)
            return
        super()._got_rakp1(data)

    def _got_rakp3(self, data: Any) -> None:  # noqa: ANN401 - pyghmi's bytes
        before = self.sessionid
        super()._got_rakp3(data)
        self.bmc.count_login(bytes(self.username).decode(errors="replace"), right=self.sessionid != before)


def user_command(accounts: Accounts, command: int, data: list[int]) -> tuple[int, bytes] | None:
    """Return completion code and data of a user command, None where it is none."""
    commands = {
        GET_ACCESS: _get_access,
        SET_ACCESS: _set_access,
        GET_NAME: _get_name,
        SET_NAME: _set_name,
        SET_PASSWORD: _set_password,
    }
    if command not in commands:
        return None
    place = data[1 if command in {GET_ACCESS, SET_ACCESS} else 0] & 0x3F
    if not 1 <= place <= PLACES:
        return OUT_OF_RANGE, b""
    return commands[command](accounts, accounts.all()[place], data)


def _get_access(accounts: Accounts, account: Account, _data: list[int]) -> tuple[int, bytes]:
    enabled = sum(each.enabled for each in accounts.all().values())
    status = (1 if account.enabled else 2) << 6 | enabled
    access = MESSAGING | (ADMINISTRATOR if account.administrator else NO_ACCESS)
    return 0, bytes([PLACES, status, 1, access])


def _set_access(accounts: Accounts, account: Account, data: list[int]) -> tuple[int, bytes]:
    accounts.change(account.place, administrator=data[2] & 0x0F == ADMINISTRATOR)
    return 0, b""


def _get_name(_accounts: Accounts, account: Account, _data: list[int]) -> tuple[int, bytes]:
    return 0, account.name.encode().ljust(16, b"\0")


def _set_name(accounts: Accounts, account: Account, data: list[int]) -> tuple[int, bytes]:
    name = bytes(data[1:17]).rstrip(b"\0").decode()
    if name:
        accounts.change(account.place, name=name)
    else:
        accounts.free(account.place)
    return 0, b""


def _set_password(accounts: Accounts, account: Account, data: list[int]) -> tuple[int, bytes]:
    operation = data[1] & 3
    password = bytes(data[2:]).rstrip(b"\0").decode()
    if operation == TEST:
        return 0 if password == account.password else WRONG_PASSWORD, b""
    accounts.change(account.place, **({"password": password} if operation == SET else {"enabled": operation == ENABLE}))
    return 0, b""
