"""
The accounts of a simulated BMC, which both of its protocols share, with the lockout that real ones have.

They are kept in a file beside the board's, since a BMC remembers them over its own restart. A BMC begins with one
administrator, the site's; the other places are free, and the first belongs to nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sim.state import read_json, write_json

PLACES = 10
FIRST = 2
"""User 1 has no name (IPMI 2.0, chapter 22.26), and Redfish of many BMCs shows the same places."""

LOCKOUT_THRESHOLD = 3
LOCKOUT_S = 60.0
SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One place; `failed` logins in a row lock it until `locked_until` (seconds since 1970)."""

    place: int
    name: str = ""
    password: str = ""
    enabled: bool = False
    administrator: bool = False
    must_change: bool = False
    failed: int = 0
    locked_until: float = 0.0


class Accounts:
    """The places of one BMC."""

    def __init__(self, path: Path, first: Mapping[str, str], clock: Callable[[], float] = time.time) -> None:
        """Keep them at `path`; a BMC that has none yet gets an administrator with these credentials."""
        self._path = path
        self._clock = clock
        self._lock = threading.RLock()
        if not path.exists():
            path.touch(mode=0o600)
            administrator = Account(
                place=FIRST, name=first["username"], password=first["password"], enabled=True, administrator=True
            )
            self._write({administrator.place: administrator})

    def all(self) -> dict[int, Account]:
        """Return every place by its number, free ones too."""
        kept = {int(place): Account(**record) for place, record in read_json(self._path).items()}
        return {place: kept.get(place, Account(place=place)) for place in range(1, PLACES + 1)}

    def named(self, name: str) -> Account | None:
        """Return the account of a user."""
        return next((account for account in self.all().values() if name and account.name == name), None)

    def change(self, place: int, **values: Any) -> Account:  # noqa: ANN401 - fields of an account
        """
        Change a place; a new password ends a lockout.

        Raises:
            KeyError: there is no such place.
        """
        with self._lock:
            accounts = self.all()
            if "password" in values:
                values = {"failed": 0, "locked_until": 0.0, "must_change": False, **values}
            accounts[place] = replace(accounts[place], **values)
            self._write(accounts)
            return accounts[place]

    def free(self, place: int) -> None:
        """Empty a place."""
        with self._lock:
            self._write(self.all() | {place: Account(place=place)})

    def may_try(self, name: str) -> Account | None:
        """Return the account of a user who may log in now: known, enabled, not locked."""
        account = self.named(name)
        return account if account and account.enabled and account.locked_until <= self._clock() else None

    def lets_in(self, name: str, password: str) -> bool:
        """Check a login, and count it."""
        account = self.may_try(name)
        right = account is not None and account.password == password
        self.count(name, right=right)
        return right

    def count(self, name: str, *, right: bool) -> None:
        """Note how a login ended: the threshold of wrong ones in a row locks the account for a time."""
        with self._lock:
            account = self.named(name)
            if account is None or (right and not account.failed):
                return
            failed = 0 if right else account.failed + 1
            locked = failed >= LOCKOUT_THRESHOLD
            self.change(
                account.place, failed=0 if locked else failed, locked_until=self._clock() + LOCKOUT_S if locked else 0.0
            )

    def _write(self, accounts: Mapping[int, Account]) -> None:
        write_json(self._path, {str(place): asdict(account) for place, account in accounts.items() if account.name})
        self._path.chmod(0o600)
