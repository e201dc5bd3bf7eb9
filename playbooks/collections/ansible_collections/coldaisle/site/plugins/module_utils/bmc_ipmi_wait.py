"""
pyghmi's waiting for answers, without the gap in it.

A thread of pyghmi's takes packets from the socket and wakes who has said that it waits. An answer that comes between
the request and these words wakes nobody: who asked then sleeps until it is time to ask again, half a second to a second
later, with the answer in its hands. That is one command in ten on a quick network or a busy machine.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from pyghmi.ipmi.private import session


class Waiters(deque[tuple[float, Any, Any]]):
    """Those who wait, each with its deadline, its event, and the address that it waits for, None for any."""

    def append(self, waiter: tuple[float, Any, Any]) -> None:
        """Let somebody wait, who is woken at once where a packet has come already."""
        super().append(waiter)
        _deadline, event, address = waiter
        if _has_come(address):
            event.set()


def _has_come(address: Any) -> bool:  # noqa: ANN401  # pyghmi's address
    if address is None:
        return bool(session.sessionqueue)
    return any(known.pktqueue for known in session.Session.bmc_handlers.get(address, {}).values())


def close_the_gap() -> None:
    """Let pyghmi use it; those who wait already go on."""
    if not isinstance(session.ioqueue, Waiters):
        session.ioqueue = Waiters(session.ioqueue)
