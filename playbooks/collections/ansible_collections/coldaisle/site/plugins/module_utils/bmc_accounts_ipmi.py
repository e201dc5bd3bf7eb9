"""Accounts of a BMC over IPMI's user commands (IPMI 2.0, chapter 22.26 to 22.31)."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, retried
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import Account, Limits
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc

APPLICATION = 6
SET_ACCESS, GET_ACCESS, SET_NAME, GET_NAME, SET_PASSWORD = 0x43, 0x44, 0x45, 0x46, 0x47
THIS_CHANNEL = 0x0E
CHANGE_BITS, MESSAGING = 0x80, 0x10
"""Bits of Set User Access: the byte's bits count, and the user may send commands."""

ADMINISTRATOR, NO_ACCESS = 4, 15
PRIVILEGE_MASK, COUNT_MASK = 0x0F, 0x3F
DISABLED = 2
"""What the two highest bits of Get User Access' second byte say of a user; older BMCs leave them zero."""

NAME_BYTES, PASSWORD_BYTES = 16, 20
TWENTY = 0x80
"""Bit of the user's number that asks for passwords of twenty bytes, IPMI 2.0's, instead of sixteen."""

DISABLE, ENABLE, SET, TEST = range(4)
"""Operations of Set User Password."""

FIRST_OWN = 2
"""User 1 has no name by the standard."""


class IpmiAccounts:
    """One login to a BMC's users."""

    def __init__(self, access: Access) -> None:
        """
        Log in.

        Raises:
            BmcError: as IpmiBmc.

        """
        self._bmc = IpmiBmc(access)

    def limits(self) -> Limits:
        """Return what IPMI keeps of a password."""
        return Limits(1, PASSWORD_BYTES)

    def only_own(self) -> bool:
        """Return that there is no such state: IPMI knows no default password that must be changed."""
        return False

    def all(self) -> list[Account]:
        """Return the users that have a name."""
        return [account for number in self._numbers() if (account := self._account(number)).name]

    def create(self, name: str, password: str) -> None:
        """Give a user without a name this one."""
        if len(name.encode()) > NAME_BYTES:
            raise BmcError("user-name", f"{name} is longer than IPMI's {NAME_BYTES} bytes", "the managed credentials")
        number = next((number for number in self._numbers() if not self._name(number)), None)
        if number is None:
            raise BmcError("no-free-account", "all users of the BMC have names", "the users that nobody needs")
        self._set_name(number, name)
        self._set_password(number, password)
        self._allow(number)

    def set_password(self, account: Account, password: str) -> None:
        """Set the password of a user, and see that the BMC kept all of it."""
        self._set_password(int(account.place), password)

    def enable(self, account: Account) -> None:
        """Make a user an enabled administrator."""
        self._allow(int(account.place))

    def disable(self, account: Account) -> None:
        """Let nobody in by this user any more, and show it: not every BMC tells whether a user is disabled."""
        number = int(account.place)
        self._password_command(number, DISABLE, "", "disable user")
        self._command(SET_ACCESS, [CHANGE_BITS | THIS_CHANNEL, number, NO_ACCESS], "set user access")

    def remove(self, account: Account) -> None:
        """Disable a user and take its name."""
        self.disable(account)
        self._set_name(int(account.place), "")

    def close(self) -> None:
        """End the session."""
        self._bmc.close()

    def _numbers(self) -> range:
        return range(FIRST_OWN, (self._access(1)[0] & COUNT_MASK) + 1)

    def _access(self, number: int) -> bytes:
        return bytes(self._command(GET_ACCESS, [THIS_CHANNEL, number], "get user access"))

    def _name(self, number: int) -> str:
        try:
            raw = bytes(self._command(GET_NAME, [number], "get user name"))
        except BmcError as error:
            if error.kind != "refused":
                raise
            return ""  # what several BMCs say of a user that was never used
        return raw.rstrip(b"\0").decode(errors="replace")

    def _account(self, number: int) -> Account:
        name = self._name(number)
        if not name:
            return Account(str(number), "", enabled=False, administrator=False)
        _count, status, _fixed, access = self._access(number)[:4]
        privilege = access & PRIVILEGE_MASK
        enabled = status >> 6 != DISABLED and privilege != NO_ACCESS
        return Account(str(number), name, enabled=enabled, administrator=privilege == ADMINISTRATOR)

    def _allow(self, number: int) -> None:
        self._command(SET_ACCESS, [CHANGE_BITS | MESSAGING | THIS_CHANNEL, number, ADMINISTRATOR], "set user access")
        self._password_command(number, ENABLE, "", "enable user")

    def _set_name(self, number: int, name: str) -> None:
        self._command(SET_NAME, [number, *name.encode().ljust(NAME_BYTES, b"\0")], "set user name")

    def _set_password(self, number: int, password: str) -> None:
        self._password_command(number, SET, password, "set user password")
        self._password_command(number, TEST, password, "test user password")

    def _password_command(self, number: int, operation: int, password: str, what: str) -> None:
        field = password.encode().ljust(PASSWORD_BYTES, b"\0")
        self._command(SET_PASSWORD, [number | TWENTY, operation, *field], what)

    def _command(self, number: int, data: list[int], what: str) -> bytes:
        answer: bytes = retried(lambda: self._bmc.command(APPLICATION, number, data, what))
        return answer
