"""An answer over IPMI that comes before anybody says that it waits."""

from __future__ import annotations

import threading

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi_wait import Waiters
from pyghmi.ipmi.private import session

from tests.unit.playbooks.ipmi_bmcs import Start


def test_pyghmi_uses_it(start: Start) -> None:
    """Logging in is enough; answers that are late are waited for as before."""
    assert start(power="on").power() == "on"
    assert isinstance(session.ioqueue, Waiters)


def test_who_waits_for_an_answer_that_has_come_is_woken_at_once(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the address of the BMC, and by any where none is named; another BMC's answer wakes nobody."""
    ours = start()._session  # noqa: SLF001 - what pyghmi knows of a BMC
    monkeypatch.setattr(session, "sessionqueue", [])
    waiters = Waiters()

    def woken(address: object) -> bool:
        event = threading.Event()
        waiters.append((0.0, event, address))
        return event.is_set()

    assert not woken(ours.sockaddr)
    assert not woken(None)
    ours.pktqueue.append("a packet")
    session.sessionqueue.append(ours)
    assert woken(ours.sockaddr)
    assert woken(None)
    assert not woken(("192.0.2.1", 623))
    ours.pktqueue.clear()
    assert len(waiters) == 5
