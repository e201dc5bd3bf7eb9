"""Accounts of a BMC over Redfish's AccountService."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import Account, Limits
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import (
    ROOT,
    ForbiddenError,
    Service,
    link,
    status_of,
)

ADMINISTRATOR = "Administrator"
RESERVED = "1"
"""The first of iDRAC's fixed places belongs to nobody."""

FIXED_PLACES = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
"""What BMCs answer that have a fixed number of accounts: one of these is filled, and emptied again (iDRAC)."""

SHORTEST, LONGEST = 1, 20
"""Where the BMC names no limits: twenty bytes is what IPMI keeps of a password, which most BMCs share with Redfish."""

MUST_CHANGE = "PasswordChangeRequired"


class RedfishAccounts:
    """
    One login to a BMC's AccountService.

    A BMC that lets its default account do nothing but change its own password (DSP0266, password management) shows that
    account alone.
    """

    def __init__(self, access: Access) -> None:
        """
        Log in.

        Raises:
            BmcError: the BMC does not know the user, cannot be reached, or has no AccountService.

        """
        self._access = access
        self._redfish = Service(access)
        self._own: str | None = None
        self._service: dict[str, Any] = {}
        self._folder = ""
        try:
            self._enter()
        except ForbiddenError as error:
            self._own = _account_to_change(error)
            if self._own is None:
                raise

    def _enter(self) -> None:
        service = self._redfish.find(link(self._redfish.get(ROOT), "AccountService"))
        if service is None:
            raise BmcError("no-accounts", "the BMC has no AccountService", "its firmware version; or rotate over IPMI")
        self._service, self._folder = service, str(link(service, "Accounts"))
        self._redfish.get(self._folder)

    def limits(self) -> Limits:
        """Return the BMC's limits of a password."""
        shortest, longest = (self._service.get(f"{end}PasswordLength") for end in ("Min", "Max"))
        return Limits(int(shortest or SHORTEST), int(longest or LONGEST))

    def only_own(self) -> bool:
        """Tell whether the password of our own account must be changed before anything else."""
        return self._own is not None

    def all(self) -> list[Account]:
        """Return the accounts that have a name."""
        if self._own:
            return [Account(self._own, self._access.username, enabled=True, administrator=True)]
        return [account for account in map(_account, self._redfish.members(self._folder)) if account.name]

    def create(self, name: str, password: str) -> None:
        """Make an enabled administrator: a new account, or a free place where the BMC has a fixed number of them."""
        body = {"UserName": name, "Password": password, "RoleId": ADMINISTRATOR, "Enabled": True}
        try:
            self._redfish.post(self._folder, body)
        except BmcError as error:
            if status_of(error) not in FIXED_PLACES:
                raise
            self._redfish.patch(self._free_place(), **body)

    def set_password(self, account: Account, password: str) -> None:
        """Set the password of an account."""
        self._redfish.patch(account.place, Password=password)

    def enable(self, account: Account) -> None:
        """Make an account an enabled administrator."""
        self._redfish.patch(account.place, Enabled=True, RoleId=ADMINISTRATOR)

    def disable(self, account: Account) -> None:
        """Let nobody in by this account any more."""
        self._redfish.patch(account.place, Enabled=False)

    def remove(self, account: Account) -> None:
        """Delete an account, or empty its place where it is a fixed one."""
        try:
            self._redfish.delete(account.place)
        except BmcError as error:
            if status_of(error) not in FIXED_PLACES:
                raise
            self._redfish.patch(account.place, Enabled=False)
            self._redfish.patch(account.place, UserName="")

    def close(self) -> None:
        """Close the connection."""
        self._redfish.close()

    def _free_place(self) -> str:
        members = self._redfish.members(self._folder)
        free = [it["@odata.id"] for it in members if not it.get("UserName") and str(it.get("Id")) != RESERVED]
        if not free:
            raise BmcError("no-free-account", "all places for accounts are taken", "the accounts that nobody uses")
        return str(free[0])


def _account(body: dict[str, Any]) -> Account:
    # Null is what some BMCs answer for a place that was never used.
    name, administrator = body.get("UserName") or "", body.get("RoleId") == ADMINISTRATOR
    return Account(body["@odata.id"], name, enabled=bool(body.get("Enabled")), administrator=administrator)


def _account_to_change(error: ForbiddenError) -> str | None:
    """Return the account whose password must be changed first, None where the BMC forbids for another reason."""
    for message in error.messages:
        if str(message.get("MessageId", "")).endswith(MUST_CHANGE):
            return str((message.get("MessageArgs") or [""])[0]) or None
    return None
