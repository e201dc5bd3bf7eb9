"""
One owner of a node's power: who wants it on and who wants it off do not meet (NVIDIA infra-controller, issue 1958).

A run holds a node's power by a lock while it lives; a killed run holds nothing. Maintenance holds it by a record with
an end, over any number of processes, until the end has come or it is given back. Who finds a node held is refused, with
the holder's name, reason and times. Readers need no lease.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import (
    held,
    read_record,
    record_path,
    write_record,
)
from ansible_collections.coldaisle.site.plugins.module_utils.steady import jumped_s, moment, passed_s, stamp, stamped

RUN_S = 4 * 3600.0
"""What a run says as its end where it names none; its lock goes with it, so this is for people who read the record."""

SET_S = 1.0
"""A clock that differs by more was set; by less it was slewed, or the two counts were not read at one moment."""


@dataclass(frozen=True)
class Lease:
    """
    Who holds a node's power and why, from when to when, in seconds since 1970. `pid` is None for maintenance.

    `boot` and `since_boot_s` are the kernel's count at `since`: a clock that is set does not end a lease.
    """

    owner: str
    why: str
    since: float
    until: float
    pid: int | None = None
    boot: str = ""
    since_boot_s: float = 0.0

    @property
    def text(self) -> str:
        """Return the lease in words."""
        begin, end = (time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at)) for at in (self.since, self.until))
        process = f", process {self.pid}" if self.pid else ""
        return f"{self.owner} ({self.why}{process}) since {begin}, until {end}"


class HeldError(BmcError):
    """Somebody else holds the power of the node."""

    def __init__(self, address: str, lease: Lease) -> None:
        """Name the holder and how to end it."""
        look = f"that run; or `coldaisle bmc release {address}`" if lease.pid is None else "that run, until it ends"
        super().__init__("held", f"the power of {address} is held by {lease.text}", look)
        self.lease = lease


def myself() -> str:
    """Return who we are to others: user and machine."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


@contextlib.contextmanager
def power_of(address: str, why: str, owner: str | None = None) -> Iterator[None]:
    """
    Hold a node's power as long as this lasts; the maintenance of the same owner is no obstacle.

    Raises:
        HeldError: somebody else holds it.

    """
    lease = _lease_from_now(owner, why, RUN_S, os.getpid())
    place = record_path("lease", address)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held([place.with_suffix(".power")], timeout_s=0))
        except BmcError as error:
            raise HeldError(address, _running(place) or _unknown(lease)) from error
        kept = maintenance_of(address)
        if kept is not None and kept.owner != lease.owner:
            raise HeldError(address, kept)
        write_record(_running_path(place), asdict(lease))
        try:
            yield
        finally:
            _running_path(place).unlink(missing_ok=True)


def maintain(address: str, why: str, lasts_s: float, owner: str | None = None) -> Lease:
    """
    Hold a node's power for some time, over the end of this process; the owner may make it longer or shorter.

    Raises:
        HeldError: somebody else holds it.

    """
    wanted = _lease_from_now(owner, why, lasts_s, None)
    with power_of(address, why, owner):
        write_record(record_path("lease", address), asdict(wanted))
    return wanted


def release(address: str, owner: str | None = None, *, force: bool = False) -> Lease | None:
    """
    End a node's maintenance and return what it was, None where there was none.

    Raises:
        HeldError: it is somebody else's, and not taken by force.

    """
    place = record_path("lease", address)
    with held([place.with_suffix(".lock")], timeout_s=30):
        kept = maintenance_of(address)
        if kept is not None and kept.owner != (owner or myself()) and not force:
            raise HeldError(address, kept)
        place.unlink(missing_ok=True)
        return kept


def maintenance_of(address: str) -> Lease | None:
    """Return the maintenance of a node that has not come to its end."""
    lease = _lease(record_path("lease", address))
    if lease is None:
        return None
    now, begun = moment(), stamped({**asdict(lease), "at": lease.since})
    if passed_s(begun, now) >= lease.until - lease.since:
        return None
    set_s = jumped_s(begun, now)
    if abs(set_s) < SET_S:
        return lease
    return replace(lease, since=lease.since + set_s, until=lease.until + set_s)  # told by the clock as it is now


def holder(address: str) -> Lease | None:
    """Return who holds a node's power now: a run that lives, else a maintenance, else nobody."""
    place = record_path("lease", address)
    try:
        with held([place.with_suffix(".power")], timeout_s=0):
            return maintenance_of(address)
    except BmcError:
        return _running(place) or maintenance_of(address)


def _lease_from_now(owner: str | None, why: str, lasts_s: float, pid: int | None) -> Lease:
    at = stamp(moment())
    since = at.pop("at")
    return Lease(owner or myself(), why, since, since + lasts_s, pid, **at)


def _running_path(place: Path) -> Path:
    return place.with_suffix(".run.json")


def _running(place: Path) -> Lease | None:
    return _lease(_running_path(place))


def _lease(place: Path) -> Lease | None:
    record = read_record(place)
    try:
        return Lease(**record) if record else None
    except TypeError:
        return None  # of another version of ours; it says nothing that we understand


def _unknown(mine: Lease) -> Lease:
    """Return what is said of a holder that has the lock and no record yet: it is just beginning, or just ending."""
    return Lease("a run", "it is just beginning or ending", mine.since, mine.until, None)
