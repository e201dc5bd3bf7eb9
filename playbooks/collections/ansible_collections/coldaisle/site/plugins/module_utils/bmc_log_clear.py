"""
Clears logs of a BMC that take no more. What is in one is handed over first, and afterwards it is looked at.

Over IPMI a reservation sees to it that what was logged meanwhile is not lost (IPMI 2.0, 31.4). Redfish has none: an
entry of the moment between reading and clearing is gone there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import (
    Entry,
    RedfishLog,
    ipmi_entry,
    redfish_entry,
    redfish_logs,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log_redfish import is_full, mark_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sel import (
    SOURCE,
    STORAGE,
    SelState,
    event_identity,
    sel_state,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service

if TYPE_CHECKING:
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc

Keep = Callable[[str, list[Entry]], None]
"""Takes the entries of a log, which it names, and keeps them; a log whose entries it does not keep is not cleared."""

RESERVE, CLEAR = 0x42, 0x47
BEGIN, ASK, DONE = 0xAA, 0x00, 1
"""What a clear command does, and what it says when all is erased (31.9)."""

TRIES = 3
"""How often a log is read again in which something was logged while it was read."""

ERASES_S, POLL_S = 60.0, 0.2


def clear_redfish(service: Service, wanted: str | None, keep: Keep) -> list[str]:
    """
    Clear the log of a name (`1/SEL`), else those that are full, and return their names.

    Raises:
        BmcError: there is no such log, the BMC does not clear it, or it has the same entries afterwards.

    """
    logs = list(redfish_logs(service))
    chosen = [log for log in logs if (log.source == wanted if wanted else _is_full(service, log))]
    if wanted and not chosen:
        raise _no_log(wanted, [log.source for log in logs])
    for log in chosen:
        _clear_redfish(service, log, keep)
    return [log.source for log in chosen]


def clear_ipmi(bmc: IpmiBmc, wanted: str | None, keep: Keep) -> list[str]:
    """
    Clear the system event log when it is named (`SEL`) or full, and return its name if so.

    Raises:
        BmcError: as `clear_redfish`; or something is logged each time while it is read.

    """
    if wanted not in {None, SOURCE}:
        raise _no_log(str(wanted), [SOURCE])
    if not (wanted or sel_state(bmc).overflow):
        return []
    for _ in range(TRIES):
        before = sel_state(bmc)
        reservation = bytes(bmc.command(STORAGE, RESERVE, (), "Reserve SEL"))
        events = list(bmc.events())
        keep(SOURCE, [ipmi_entry(event) for event in events])
        if _cleared(bmc, reservation, before):
            _seen_gone(SOURCE, map(event_identity, events), map(event_identity, bmc.events()))
            return [SOURCE]
    raise BmcError("busy", f"something was logged each of {TRIES} times while the log was read", "why it logs so much")


def _is_full(service: Service, log: RedfishLog) -> bool:
    first = service.find(log.entries) or {}
    return is_full(log.service, int(first.get("Members@odata.count") or len(first.get("Members") or [])))


def _clear_redfish(service: Service, log: RedfishLog, keep: Keep) -> None:
    action = (log.service.get("Actions") or {}).get("#LogService.ClearLog") or {}
    if "target" not in action:
        raise BmcError("no-clear", f"the BMC does not let anybody clear {log.source}", "its own page or tool")
    before = list(service.members(log.entries))
    keep(log.source, [redfish_entry(body, log.source) for body in before])
    service.post(action["target"], {})
    _seen_gone(log.source, map(mark_of, before), map(mark_of, service.members(log.entries)))


def _cleared(bmc: IpmiBmc, reservation: bytes, before: SelState) -> bool:
    """Clear the log and wait until all is erased; False where something was logged since it stood as `before`."""
    try:
        bmc.command(STORAGE, CLEAR, [*reservation, *b"CLR", BEGIN], "Clear SEL")
    except BmcError as error:
        if error.kind != "refused" or sel_state(bmc) == before:
            raise
        return False
    deadline = time.monotonic() + ERASES_S
    while bytes(bmc.command(STORAGE, CLEAR, [*reservation, *b"CLR", ASK], "Clear SEL"))[0] & 0x0F != DONE:
        if time.monotonic() > deadline:
            raise BmcError("not-erased", f"the log is not erased after {ERASES_S:g} s", "the BMC's own page")
        time.sleep(POLL_S)
    return True


def _seen_gone(source: str, before: Iterable[Any], after: Iterable[Any]) -> None:
    """Raise where a log has entries that it had before; a new one that says that it was cleared is none."""
    told = list(before)
    if left := [entry for entry in after if entry in told]:
        text = f"the BMC cleared {source} and shows {len(left)} of its {len(told)} entries"
        raise BmcError("not-kept", text, "the privilege of the user, and the BMC's own page")


def _no_log(wanted: str, known: list[str]) -> BmcError:
    return BmcError("no-log", f"the BMC has no log {wanted}; it has {', '.join(known) or 'none'}", "coldaisle bmc log")
