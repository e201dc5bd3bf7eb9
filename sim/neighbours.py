"""
Room in the kernel's table of neighbours, which all namespaces share.

Where it is full, a connection fails now and then, with `No route to host` or `No buffer space available`, and nothing
but the kernel's log says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sim.errors import SimError
from sim.shell import find, run

LIMITS = tuple(f"net.ipv4.neigh.default.gc_thresh{number}" for number in (1, 2, 3))
"""Entries from which the kernel begins to look for old ones, wants fewer, and takes no more (ip-sysctl)."""


def require_room(needed: int, otherwise: str, limit: int | None = None) -> None:
    """
    Raise SimError where the table has no room for `needed` entries; `otherwise` says how to need fewer.

    `limit` is the machine's own where it is None.
    """
    limit = _limits()[-1] if limit is None else limit
    if needed > limit:
        fix = f"sysctl -w {LIMITS[-1]}={2 * needed} (and gc_thresh2), or {otherwise}"
        what = "the kernel's table of neighbours, which all namespaces share, is too small"
        raise SimError("this machine", what, f"room for {limit}, and {needed} are needed", fix)


@contextmanager
def room(needed: int) -> Iterator[None]:
    """Give the table room for `needed` entries, and the machine its own limits back at the end."""
    before = _limits()
    if needed <= before[-1]:
        yield
        return
    _set([needed // 2, needed, 2 * needed])
    try:
        yield
    finally:
        _set(before)


def _limits() -> list[int]:
    return [int(word) for word in run([find("sysctl", "procps"), "-n", *LIMITS]).stdout.split()]


def _set(values: list[int]) -> None:
    run([find("sysctl", "procps"), "-qw", *(f"{name}={value}" for name, value in zip(LIMITS, values, strict=True))])
