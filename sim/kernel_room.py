"""
Room that a large simulated network needs in the kernel, whose limits all namespaces share.

Where the table of neighbours is full, a connection fails now and then, with `No route to host` or `No buffer space
available`, and nothing but the kernel's log says why. Where a broadcast becomes more packets than the queue of a CPU
takes, the rest of them is dropped: ARP finds nobody, and only /proc/net/softnet_stat says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sim.errors import SimError
from sim.shell import find, run

NEIGHBOURS = tuple(f"net.ipv4.neigh.default.gc_thresh{number}" for number in (1, 2, 3))
"""Entries from which the kernel begins to look for old ones, wants fewer, and takes no more (ip-sysctl)."""

QUEUE = "net.core.netdev_max_backlog"
"""Packets that wait for a CPU at most, of all virtual cables together."""

BROADCASTS, BROADCASTS_IN_A_RUSH = 2, 100
"""Broadcasts for whose packets a queue must have room, and for which it is given room: many hosts are asked at once."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a network needs: entries in the table of `neighbours`, and packets of a broadcast, one a port of `ports`."""

    neighbours: int
    ports: int = 0

    def limits(self) -> dict[str, int]:
        """Return limits that it never comes near."""
        entries = (self.neighbours // 2, self.neighbours, 2 * self.neighbours)
        return dict(zip(NEIGHBOURS, entries, strict=True)) | {QUEUE: BROADCASTS_IN_A_RUSH * self.ports}

    def lacking(self, limits: Mapping[str, int]) -> dict[str, int]:
        """Return which limits are too low, and what is needed of each."""
        least = {NEIGHBOURS[-1]: self.neighbours, QUEUE: BROADCASTS * self.ports}
        return {name: needed for name, needed in least.items() if needed > limits[name]}


def require_room(need: Need, otherwise: str, limits: Mapping[str, int] | None = None) -> None:
    """
    Raise SimError where the kernel has no room for a network; `otherwise` says how to need less.

    `limits` are the machine's own where they are None.
    """
    limits = limits or _limits()
    lacking = need.lacking(limits)
    if lacking:
        what = "the kernel's limits, which all namespaces share, are too low for this network"
        have = ", ".join(f"{name} is {limits[name]}, and {needed} are needed" for name, needed in lacking.items())
        wanted = {name: value for name, value in need.limits().items() if value > limits[name]}
        raise SimError("this machine", what, have, f"sysctl -w {_words(wanted)}, or {otherwise}")


@contextmanager
def room(need: Need) -> Iterator[None]:
    """Give a network its room, and the machine its own limits back at the end."""
    before = _limits()
    if not need.lacking(before):
        yield
        return
    _set({name: max(value, before[name]) for name, value in need.limits().items()})
    try:
        yield
    finally:
        _set(before)


def _limits() -> dict[str, int]:
    names = (*NEIGHBOURS, QUEUE)
    said = run([find("sysctl", "procps"), "-n", *names]).stdout.split()
    return dict(zip(names, map(int, said), strict=True))


def _set(limits: Mapping[str, int]) -> None:
    run([find("sysctl", "procps"), "-qw", *_words(limits).split()])


def _words(limits: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in limits.items())
