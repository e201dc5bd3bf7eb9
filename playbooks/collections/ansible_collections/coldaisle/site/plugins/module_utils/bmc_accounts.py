"""
From a BMC's default account to a managed one without ever standing outside.

The order is: set the managed password (on a new account, or by way of a rescue account where the name stays), prove it
by a login on a new connection, and only then disable the old account. Whoever comes back after a crash looks which of
the few possible logins works, and goes on from there. Failed logins are counted by account, so that none is locked.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, retried
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import change_record, read_record, record_path
from ansible_collections.coldaisle.site.plugins.module_utils.steady import age_s, moment, stamp

RESCUE = "coldaisle-tmp"
"""The account that lets us in while the password of the only other one changes; IPMI takes 16 characters."""

FAILED_LOGINS = 2
"""Failed logins an account in a row, one less than the lowest lockout threshold that BMCs come with (3)."""

FAILED_FOR_S = 3600.0
"""After so long a BMC has forgotten failed logins; the longest lockout that they come with is shorter."""


@dataclass(frozen=True)
class Account:
    """An account of a BMC, by its place there."""

    place: str
    name: str
    enabled: bool
    administrator: bool


@dataclass(frozen=True)
class Limits:
    """How long a password may be, in bytes."""

    shortest: int
    longest: int


class Accounts(Protocol):
    """What a rotation asks of a BMC, over one login."""

    def limits(self) -> Limits:
        """Return what passwords must keep."""

    def only_own(self) -> bool:
        """Tell whether the BMC lets us do nothing before the password of our own account is changed."""

    def all(self) -> list[Account]:
        """Return the accounts that have a name."""

    def create(self, name: str, password: str) -> None:
        """Make an enabled administrator."""

    def set_password(self, account: Account, password: str) -> None:
        """Set the password of an account."""

    def enable(self, account: Account) -> None:
        """Make an account an enabled administrator."""

    def disable(self, account: Account) -> None:
        """Let nobody in by this account any more."""

    def remove(self, account: Account) -> None:
        """Take an account away."""

    def close(self) -> None:
        """End the login."""


Login = Callable[[Access], Accounts]


def rotate(login: Login, old: Access, managed: Access, *, check: bool = False) -> list[str]:
    """
    Let in the managed account and lock out the old one; return what was done, in words.

    Raises:
        BmcError: nobody is let in, an account would be locked by another try, or the BMC refuses or forgets a change.

    """
    door = _Door(login, old, managed)
    entered, accounts = door.enter()
    with contextlib.closing(accounts):
        steps = _settle_managed(door, accounts, entered, check=check)
    if check and steps:
        return [*steps, *_retired_names(old, managed)]
    with contextlib.closing(door.prove(managed)) as accounts:
        return steps + _retire(accounts, old, managed, check=check)


def _settle_managed(door: _Door, accounts: Accounts, entered: Access, *, check: bool) -> list[str]:
    """Make the managed login work, over a login that works already."""
    old, managed = door.old, door.managed
    if entered == managed:
        return []
    step = f"set the password of {managed.username}"
    if check:
        return [step]
    _check_length(accounts, managed)
    if accounts.only_own():
        # A default password that must be changed before anything else: its account gets the managed one meanwhile.
        own = replace(managed, username=entered.username)
        _give(door, accounts, own)
        with contextlib.closing(door.prove(own)) as more:
            return [step] if own == managed else _settle_managed(door, more, own, check=check)
    if old.username == managed.username == entered.username:
        # The only way in is about to change: another one, with the password to come, is proved first.
        rescue = replace(managed, username=RESCUE)
        _give(door, accounts, rescue)
        door.prove(rescue).close()
    _give(door, accounts, managed)
    door.prove(managed).close()
    return [step]


def _give(door: _Door, accounts: Accounts, access: Access) -> None:
    """Make an account of this name with this password, or give the one that there is the password."""
    there = _named(accounts, access.username)
    door.expect(access)
    if there is None:
        accounts.create(access.username, access.password)
        return
    accounts.set_password(there, access.password)
    if not (there.enabled and there.administrator):
        accounts.enable(there)


def _retired_names(old: Access, managed: Access) -> list[str]:
    return [] if old.username == managed.username else [f"disable {old.username}"]


def _retire(accounts: Accounts, old: Access, managed: Access, *, check: bool) -> list[str]:
    """Disable the old account and remove the rescue, over the managed login, and see that both are so."""
    steps = []
    for account in accounts.all():
        if account.name == old.username != managed.username and account.enabled:
            steps.append(f"disable {account.name}")
            if not check:
                accounts.disable(account)
        elif account.name == RESCUE and managed.username != RESCUE:
            steps.append(f"remove {account.name}")
            if not check:
                accounts.remove(account)
    if steps and not check:
        _see_retired(accounts.all(), old, managed)
    return steps


def _see_retired(accounts: list[Account], old: Access, managed: Access) -> None:
    left = {account.name for account in accounts if account.enabled} & ({old.username, RESCUE} - {managed.username})
    if left:
        text = f"the BMC took it that {', '.join(sorted(left))} is disabled, and shows it enabled"
        raise BmcError("not-kept", text, "whether this BMC lets its default account be disabled at all")


def _named(accounts: Accounts, name: str) -> Account | None:
    return next((account for account in accounts.all() if account.name == name), None)


def _check_length(accounts: Accounts, managed: Access) -> None:
    """A password that the BMC would cut off lets nobody in."""
    limits, length = accounts.limits(), len(managed.password.encode())
    if not limits.shortest <= length <= limits.longest:
        text = f"the managed password has {length} bytes, and this BMC takes {limits.shortest} to {limits.longest}"
        raise BmcError("password-length", text, "the managed secret; the same one may serve BMCs with other limits")


class _Door:
    """Logs in, and counts what fails: by account, over runs."""

    def __init__(self, login: Login, old: Access, managed: Access) -> None:
        self.old, self.managed = old, managed
        self._login = login
        self._place = record_path("accounts", managed.address)
        self._logins = {
            "old": old,
            "managed": managed,
            "between": replace(managed, username=old.username),
            "rescue": replace(managed, username=RESCUE),
        }

    def enter(self) -> tuple[Access, Accounts]:
        """Return the first login that works, beginning with the one that did the last time."""
        refused: dict[str, None] = {}
        for name in self._order():
            access = self._logins[name]
            try:
                accounts = self._try(access)
            except BmcError as error:
                if error.kind != "wrong-credentials":
                    raise
                refused[access.username] = None
            else:
                change_record(self._place, entered=name)
                return access, accounts
        text = f"the BMC lets in none of {', '.join(refused)}, by the old credentials or the managed ones"
        raise BmcError("wrong-credentials", text, "both references; the BMC may have had its default reset")

    def expect(self, access: Access) -> None:
        """Remember that a login is about to be made, so that a run after a crash begins with it."""
        name = next(name for name, each in self._logins.items() if each == access)
        if name != "rescue":  # beside it the one before still works
            change_record(self._place, entered=name)

    def prove(self, access: Access) -> Accounts:
        """
        Log in on a new connection and see that this is an administrator.

        Raises:
            BmcError: it is not; what was before is left as it was.

        """
        accounts = self._try(access)
        own = _named(accounts, access.username)
        if own is None or not (own.enabled and own.administrator):
            accounts.close()
            shown = "not among the accounts" if own is None else "no enabled administrator"
            look = "the account on the BMC, by hand; the old one still lets in"
            raise BmcError("not-proved", f"{access.username} logs in and is {shown}", look)
        return accounts

    def _order(self) -> list[str]:
        """Return the names of the logins that a run of ours may have left working, the last known one first."""
        entered = read_record(self._place).get("entered")
        # Before a run of ours there are two; the others would be failed logins for nothing.
        names = sorted(self._logins, key=lambda name: name != entered) if entered else ["old", "managed"]
        first = {self._logins[name]: name for name in reversed(names)}
        return [name for name in names if first[self._logins[name]] == name]

    def _try(self, access: Access) -> Accounts:
        now = moment()
        failed = [at for at in self._failed().get(access.username, []) if age_s(at, now) < FAILED_FOR_S]
        if len(failed) >= FAILED_LOGINS:
            until = time.strftime("%H:%M:%S", time.localtime(now.wall + FAILED_FOR_S - age_s(failed[0], now)))
            text = f"{len(failed)} logins of {access.username} failed; another one may lock the account"
            raise BmcError("held-back", text, f"the credentials; then wait until {until}, or remove {self._place}")
        # Written down first: a run that is killed while it waits for the answer has used a login too.
        self._note(access.username, [*failed, stamp(now)])
        try:
            accounts = retried(lambda: self._login(access))
        except BmcError as error:
            if error.kind != "wrong-credentials":
                self._note(access.username, failed)
            raise
        self._note(access.username, [])
        return accounts

    def _failed(self) -> dict[str, list[dict[str, Any]]]:
        """Return when logins failed, by user; records of earlier releases have the wall clock's time only."""
        failed: dict[str, list[Any]] = read_record(self._place).get("failed", {})
        return {user: [at if isinstance(at, dict) else {"at": at} for at in found] for user, found in failed.items()}

    def _note(self, user: str, failed: list[dict[str, Any]]) -> None:
        change_record(self._place, failed={**self._failed(), user: failed})
